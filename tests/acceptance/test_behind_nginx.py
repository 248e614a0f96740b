"""What must not get through a real nginx, with the file from deploy/, to the server behind it."""

from __future__ import annotations

import contextlib
import re
import socket
from collections.abc import Iterator

import pytest

from tests.stacks.tools import GATES_ONLY, deployed_nginx, spellings
from tests.support.clients import HOST, ask, metric, request, scrape
from tests.support.odd_requests import HIDDEN, MALFORMED, ODD
from tests.support.serving import Serving

pytestmark = pytest.mark.attack

ADDRESS = "x-address-of-test"
OPERATORS_ONLY = ("/admin", "/admin/rooms", "/v1/admin/rooms")
NUMBERS = ("/metrics", "/healthz", "/readyz")
PRIVATE = ("10.0.0.7", "172.17.0.2", "192.168.1.20", "100.64.0.9", "fd00::7", "127.0.0.2")
CLAIMS = ("x-forwarded-for", "x-real-ip", "forwarded", "client-ip", "x-client-ip")


def from_elsewhere(text: str) -> str:
    """Let a test say which address a connection comes from; the rest of the file is unchanged."""
    trust = f"    set_real_ip_from {HOST};\n    real_ip_header {ADDRESS};\n"
    return text.replace("http {\n", f"http {{\n{trust}", 1)


@pytest.fixture(scope="module")
def outside(served: Serving, tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """Run nginx in front of the server; return its port."""
    folder = tmp_path_factory.mktemp("nginx")
    with deployed_nginx(folder, [served.port], from_elsewhere) as port:
        yield port


@pytest.mark.attack
@pytest.mark.parametrize("address", [*PRIVATE, "203.0.113.9"])
@pytest.mark.parametrize("path", [*OPERATORS_ONLY, *NUMBERS])
def test_a_private_address_opens_nothing(outside: int, path: str, address: str) -> None:
    """Neighbours, containers and VPN guests get no operator page, even with a loopback claim."""
    claims = dict.fromkeys(CLAIMS, HOST)
    assert 403 == ask(outside, request("GET", path, claims | {ADDRESS: address})).status


def test_operators_come_from_this_machine(outside: int) -> None:
    """Through an SSH tunnel you see the sign-in page, and the API asks for its key."""
    assert 200 == ask(outside, request("GET", "/admin/sign-in")).status
    assert 401 == ask(outside, request("GET", "/v1/admin/rooms")).status


@pytest.mark.attack(14)
@pytest.mark.parametrize("path", GATES_ONLY)
def test_only_gates_reach_their_calls(outside: int, path: str) -> None:
    """Nobody outside reaches a gate's route, however they spell it, not even from this machine."""
    head = {"content-type": "application/json", "authorization": "Bearer x"}
    statuses = {
        (spelling, method): ask(outside, request(method, spelling, head, b"{}")).status
        for spelling in spellings(path)
        for method in ("GET", "POST")
    }
    assert {} == {tried: status for tried, status in statuses.items() if status != 403}


def test_gates_reach_their_calls_inside(served: Serving) -> None:
    """On the inner address, Waitroom itself answers each of them."""
    head = {"content-type": "application/json", "authorization": "Bearer x"}
    for path in GATES_ONLY:
        method = "GET" if path == "/v1/check" else "POST"
        reply = ask(served.port, request(method, path, head, b"{}"))
        assert reply.status in (401, 410, 422), (path, reply)


def test_visitors_get_through(outside: int, served: Serving) -> None:
    """The waiting page, the room's API and the keys for passes are available to everybody."""
    room = served.new_room()
    visitor = {ADDRESS: "203.0.113.9"}
    paths = (f"/rooms/{room}", f"/v1/rooms/{room}", "/.well-known/jwks.json", "/waitroom.js")
    for path in paths:
        assert 200 == ask(outside, request("GET", path, visitor)).status, path
    join = request("POST", f"/v1/rooms/{room}/tickets", visitor, b"")
    assert 201 == ask(outside, join).status


def reached(served: Serving) -> tuple[int, int]:
    """Return how many requests have reached the app, and how many of these were hidden ones."""
    text, name = scrape(served.port), "waitroom_requests_total"
    scrapes = metric(text, name, route="GET /metrics")
    hidden = metric(text, name, route="GET /v1/rooms/{room}")
    return int(metric(text, name) - scrapes), int(hidden)


def statuses_of(port: int, data: bytes) -> list[int]:
    """Send raw bytes, and return the statuses of all answers until the connection ends.

    The first request asks to close the connection. So nginx itself ignores whatever follows, and
    anything that is still answered was smuggled past it.
    """
    data = data.replace(b"HTTP/1.1\r\n", b"HTTP/1.1\r\nConnection: close\r\n", 1)
    got = b""
    with socket.create_connection((HOST, port), 60) as connection:
        with contextlib.suppress(ConnectionError):  # it may refuse before everything is sent
            connection.sendall(data)
        with contextlib.suppress(ConnectionError):
            while more := connection.recv(65_536):
                if not got:
                    connection.shutdown(socket.SHUT_WR)  # otherwise nginx waits for seconds
                got += more
    return [int(status) for status in re.findall(rb"HTTP/1\.[01] (\d+)", got)]


def test_hidden_requests_would_be_seen(outside: int, served: Serving) -> None:
    """The counting of the next tests works: a request that is not hidden is counted."""
    all_before, hidden_before = reached(served)
    assert [404] == statuses_of(outside, request("GET", HIDDEN))
    assert (all_before + 1, hidden_before + 1) == reached(served)


REQUESTS = {name: data for name, (data, _) in MALFORMED.items()} | ODD


@pytest.mark.parametrize("name", REQUESTS)
def test_odd_requests_end_at_nginx_or_are_one(outside: int, served: Serving, name: str) -> None:
    """They are refused or the connection is closed; a request hidden in them reaches nobody."""
    all_before, hidden_before = reached(served)
    statuses = [status for status in statuses_of(outside, REQUESTS[name]) if status != 100]
    assert len(statuses) <= 1
    assert all(400 <= status < 500 or status in (501, 505) for status in statuses), statuses
    all_after, hidden_after = reached(served)
    assert all_after - all_before <= 1
    assert hidden_before == hidden_after


def test_the_table_has_every_kind() -> None:
    """At least 33 kinds remain in the table."""
    assert 33 <= len(REQUESTS)
