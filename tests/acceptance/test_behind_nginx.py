"""A server behind a real nginx with the file of deploy/: what must not get through to it."""

from __future__ import annotations

import contextlib
import re
import socket
from collections.abc import Iterator

import pytest

from tests.stacks.tools import ANNOUNCE_PATHS, deployed_nginx
from tests.support.clients import HOST, ask, metric, request, scrape
from tests.support.odd_requests import HIDDEN, MALFORMED, ODD
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


def reached(served: Serving) -> tuple[int, int]:
    """Return how many requests have reached the app, and how many of them were hidden ones."""
    text, name = scrape(served.port), "waitroom_requests_total"
    scrapes = metric(text, name, route="GET /metrics")
    hidden = metric(text, name, route="GET /v1/rooms/{room}")
    return int(metric(text, name) - scrapes), int(hidden)


def statuses_of(port: int, data: bytes) -> list[int]:
    """Send bytes as they are, and return the statuses of all answers until the connection ends.

    The first request asks for that end. So nginx itself looks at nothing behind it, and what is
    answered nevertheless was smuggled past it.
    """
    data = data.replace(b"HTTP/1.1\r\n", b"HTTP/1.1\r\nConnection: close\r\n", 1)
    got = b""
    with socket.create_connection((HOST, port), 60) as connection:
        with contextlib.suppress(ConnectionError):  # it may refuse before all is sent
            connection.sendall(data)
        with contextlib.suppress(ConnectionError):
            while more := connection.recv(65_536):
                if not got:
                    connection.shutdown(socket.SHUT_WR)  # or nginx listens for seconds
                got += more
    return [int(status) for status in re.findall(rb"HTTP/1\.[01] (\d+)", got)]


def test_hidden_requests_would_be_seen(outside: int, served: Serving) -> None:
    """What the next tests count is counted: a request that is not hidden is there."""
    all_before, hidden_before = reached(served)
    assert [404] == statuses_of(outside, request("GET", HIDDEN))
    assert (all_before + 1, hidden_before + 1) == reached(served)


REQUESTS = {name: data for name, (data, _) in MALFORMED.items()} | ODD


@pytest.mark.parametrize("name", REQUESTS)
def test_odd_requests_end_at_nginx_or_are_one(outside: int, served: Serving, name: str) -> None:
    """They are refused or the connection is closed; what is hidden in them reaches nobody."""
    all_before, hidden_before = reached(served)
    statuses = [status for status in statuses_of(outside, REQUESTS[name]) if status != 100]
    assert len(statuses) <= 1
    assert all(400 <= status < 500 or status in (501, 505) for status in statuses), statuses
    all_after, hidden_after = reached(served)
    assert all_after - all_before <= 1
    assert hidden_before == hidden_after


def test_the_table_has_every_kind() -> None:
    """At least 33 kinds, or somebody has thinned it out."""
    assert 33 <= len(REQUESTS)
