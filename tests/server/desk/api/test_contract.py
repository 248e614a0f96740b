"""The server keeps what the OpenAPI document promises about the desk."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.test_schemathesis import run
from tests.server.desk.conftest import TYPES
from tests.support.counts import count
from tests.support.serving import ADMIN, Serving, serving

PHASES = "--phases=coverage,fuzzing" if count("api_coverage") else "--phases=fuzzing"
# The desk checks ranges itself, because it explains better than a schema what is allowed.
WITHOUT = "--exclude-checks=positive_data_acceptance,ignored_auth"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """Run a server with the store that the document gives as an example."""
    with serving(tmp_path_factory.mktemp("api"), desk=True) as server:
        body = {"id": "noodle-bar", "title": "Noodle Bar", "types": TYPES}
        with server.operator() as operator:
            operator.post("/v1/stores", json=body).raise_for_status()
        yield server


def test_the_desks_calls(served: Serving, tmp_path: Path) -> None:
    """No 5xx, no status or body that is not documented, nothing invalid accepted."""
    key = f"--header=Authorization: {ADMIN['authorization']}"
    paths = ("--include-path-regex=^/v1/stores", "--exclude-path-regex=events")
    run(served, tmp_path, PHASES, WITHOUT, key, *paths)
    assert '"level": "error"' not in served.said()
