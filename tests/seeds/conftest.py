"""What the tests of several documents share: a real Cluster, started once."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.servers import Cluster, start_cluster


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Run three Valkey primaries that share the slots."""
    with start_cluster(tmp_path_factory.mktemp("cluster")) as cluster:
        yield cluster
