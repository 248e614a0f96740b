"""A server behind a real nginx with the file of deploy/: what must not get through to it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.stacks.tools import ANNOUNCE_PATHS, deployed_nginx
from tests.support.clients import ask, request
from tests.support.serving import Serving


@pytest.fixture(scope="module")
def outside(served: Serving, tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """Run nginx before the server; return its port."""
    with deployed_nginx(tmp_path_factory.mktemp("nginx"), [served.port]) as port:
        yield port


@pytest.mark.parametrize("path", ANNOUNCE_PATHS)
def test_only_gates_announce_passes(outside: int, served: Serving, path: str) -> None:
    """Nobody outside reaches that call, however they spell it; by the inner address it works."""
    sent = request("POST", path, {"content-type": "application/json"}, b'{"passes": ["x"]}')
    assert 403 == ask(outside, sent).status
    if path == ANNOUNCE_PATHS[0]:
        assert {"inside": 0} == ask(served.port, sent).json()
