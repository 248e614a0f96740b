"""Servers that an acceptance test may flush, fill or break, separate from the session's servers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.servers import Server, start_server


@pytest.fixture(scope="module", params=["valkey", "redis"])
def apart(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    """Run a server of each kind, for this module only."""
    with start_server(request.param, Path(tmp_path_factory.mktemp("apart"))) as server:
        yield server
