"""Hostile input anywhere gives a 4xx in our format, and injects no header and no log line.

Bytes go over a plain socket, so that no client library makes them harmless on the way.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from urllib.parse import quote

import pytest

from tests.support.attacks import tried
from tests.support.clients import HOST, Reply, ask, request
from tests.support.serving import ADMIN, Serving

pytestmark = pytest.mark.attack

LONG = 65_536
PAYLOADS = {
    "line ends": b"a\r\nX-Injected: 1\r\n\r\n",
    "line feed": b"a\nX-Injected: 1",
    "null": b"a\x00b",
    "escape": b"\x1b[31mred\x1b]0;title\x07",
    "64 kB": b"A" * LONG,
    "no UTF-8": b"\xff\xfe\xc0\x80",
    "overlong slash": b"\xc0\xaf..\xc0\xaf",
    "direction": "\u202eevil\u2066".encode(),
    "line separator": "a\u2028b\x85c".encode(),
    "half a pair": b"\xed\xa0\x80",
    "dots": b"../../v1/admin/rooms",
    "markup": b"<script>alert(1)</script>",
    "template": b"{{7*7}}${7*7}%s%n{0}",
    "quotes": b"'\"`;|&$(id)",
}
SPELLED = {
    "twice": b"%252e%252e%252f",
    "no hex": b"%zz%",
    "cut": b"%2",
    "null": b"%00",
    "line ends": b"%0d%0aX-Injected:%201",
    "overlong": b"%c0%ae%c0%af",
    "unicode": b"%u0041",
    "slash": b"a%2f..%2fb",
    "parameters": b"a;b=c",
}
# Requests that the HTTP library refuses before we see them get no body.
UNREAD = {400, 414, 431}


@pytest.fixture(scope="module")
def room(served: Serving) -> str:
    """Make a room."""
    return served.new_room()


class Probe:
    """Sends input, and checks every answer and the log against the rules."""

    def __init__(self, served: Serving) -> None:
        self._served = served
        self._lines = len(served.said().splitlines())
        self.sent = 0

    def refused(self, data: bytes, what: str) -> Reply:
        """Send input that must be refused."""
        reply = self.harmless(data, what)
        assert 400 <= reply.status < 500, f"{what}: {reply}"
        if reply.body:
            assert reply.code, what
        else:
            assert reply.status in UNREAD, f"{what}: {reply}"
        return reply

    def harmless(self, data: bytes, what: str) -> Reply:
        """Send input that may also be ignored."""
        self.sent += 1
        tried(1)
        reply = ask(self._served.port, data)
        assert reply.status < 500, f"{what}: {reply}"
        assert reply.took_s < 30, f"{what} took {reply.took_s:.1f} s"
        assert reply.header("x-injected") is None, what
        assert not any(byte < 32 or byte == 127 for byte in reply.body if byte not in b"\n\r\t"), (
            what
        )
        assert len(reply.body) < 4_096 or reply.status == 200, "the input is not sent back whole"
        return reply

    def done(self) -> None:
        """Check the log: at most one line per input, each complete, without control characters."""
        lines = self._served.said().splitlines()[self._lines :]
        assert len(lines) <= self.sent
        for line in lines:
            assert {"time", "level", "message"} <= set(json.loads(line))
            assert line.isprintable(), repr(line)


@pytest.fixture
def probe(served: Serving) -> Iterator[Probe]:
    """Send input, and check the log at the end."""
    made = Probe(served)
    yield made
    made.done()


def in_path() -> Iterator[tuple[str, bytes]]:
    """Yield every payload as it may appear in a path: raw, quoted, and with spelling tricks."""
    for name, payload in PAYLOADS.items():
        yield f"{name}, raw", payload
        yield f"{name}, quoted", quote(payload, safe="").encode()
    for name, payload in SPELLED.items():
        yield f"spelled: {name}", payload


def test_room_names(probe: Probe) -> None:
    """In every route that names a room."""
    for name, payload in in_path():
        for method, after in (("GET", b""), ("POST", b"/tickets"), ("GET", b"/tickets/me")):
            path = b"/v1/rooms/" + payload + after
            probe.refused(request(method, path), f"{method} {name}")


def test_tickets(probe: Probe, room: str) -> None:
    """In every route that names a ticket."""
    calls = [("GET", b""), ("DELETE", b""), ("GET", b"/events"), ("POST", b"/enter")]
    for name, payload in in_path():
        if name.startswith("dots"):
            continue  # unquoted, it is another path
        for method, after in calls:
            path = f"/v1/rooms/{room}/tickets/".encode() + payload + after
            probe.refused(request(method, path), f"{method} {name}")


@pytest.mark.parametrize("prefix", [b"", b"Bearer ", b"Bearer wr_"])
def test_authorization(probe: Probe, room: str, prefix: bytes) -> None:
    """As a ticket, as a pass, and as an operator's key."""
    paths = (f"/v1/rooms/{room}/tickets/me", "/v1/check", "/v1/admin/rooms")
    for name, payload in PAYLOADS.items():
        for path in paths:
            headers = {"Authorization": prefix + payload}
            probe.refused(request("GET", path, headers), f"{path} {name}")


def test_cookies(probe: Probe, room: str) -> None:
    """As the cookie of a ticket or a pass, and as its name."""
    for name, payload in PAYLOADS.items():
        for cookie in (f"waitroom-ticket-{room}=", f"waitroom-pass-{room}=", ""):
            headers = {"Cookie": cookie.encode() + payload}
            path = f"/v1/rooms/{room}/tickets/me"
            probe.refused(request("GET", path, headers), f"{cookie} {name}")
            probe.refused(request("GET", f"/v1/check?room={room}", headers), f"{cookie} {name}")


def test_idempotency_keys(probe: Probe, room: str) -> None:
    """A key is printable ASCII of limited length, or it is refused."""
    for name, payload in PAYLOADS.items():
        key = {"Idempotency-Key": payload}
        answer = probe.harmless(request("POST", f"/v1/rooms/{room}/tickets", key), name)
        fits = 16 <= len(payload) <= 128 and payload.isascii() and payload.decode().isprintable()
        assert (201 if fits else 4) == (answer.status if fits else answer.status // 100), name


@pytest.mark.parametrize(
    "header",
    ["X-Forwarded-For", "X-Forwarded-Proto", "Accept-Language", "Accept", "Origin", "Referer",
     "User-Agent", "Last-Event-ID", "If-Match", "Content-Type", "Host"],
)  # fmt: skip
def test_headers_that_are_mere_hints(probe: Probe, room: str, header: str) -> None:
    """Refused or ignored, in the API and on the page; never believed, never an internal error."""
    for name, payload in PAYLOADS.items():
        for method, path in (("POST", f"/v1/rooms/{room}/tickets"), ("GET", f"/rooms/{room}")):
            data = request(method, path, {header: payload})
            if header == "Host":
                data = data.replace(b"Host: waitroom.test\r\n", b"", 1)
            probe.harmless(data, f"{header} {name}")


def test_a_body_that_breaks_off(probe: Probe, served: Serving, room: str) -> None:
    """A client that goes away mid-body causes no internal error, and no line in the log."""
    data = request("POST", f"/v1/rooms/{room}/tickets", {"Content-Length": "100"}) + b"{"
    for _ in range(5):
        with socket.create_connection((HOST, served.port)) as client:
            client.sendall(data)
    probe.harmless(request("GET", "/healthz"), "afterwards")
    assert "Traceback" not in served.said()


@pytest.mark.parametrize("field", ["visitor", "enter", "places", "unknown"])
def test_bodies(probe: Probe, room: str, field: str) -> None:
    """In each field of a body: as a JSON string, as raw bytes, and as the name of a field."""
    verb = "tickets/me/defer" if field == "places" else "tickets"
    for name, payload in PAYLOADS.items():
        text = json.dumps(payload.decode("latin-1")).encode()
        bodies = [
            b'{"%s": %s}' % (field.encode(), text),
            b'{"%s": "%s"}' % (field.encode(), payload),
        ]
        bodies += [b"{%s: 1}" % text, payload]
        for body in bodies:
            what = f"{field} {name}"
            probe.refused(request("POST", f"/v1/rooms/{room}/{verb}", None, body), what)


def test_an_identity_may_be_any_text(probe: Probe, room: str) -> None:
    """With a key, `visitor` accepts any Unicode text that is not too long; it is only hashed."""
    key = ADMIN
    for name, payload in PAYLOADS.items():
        body = b'{"visitor": %s}' % json.dumps(payload.decode("latin-1")).encode()
        reply = probe.harmless(request("POST", f"/v1/rooms/{room}/tickets", key, body), name)
        assert (422 if name == "64 kB" else 201) == reply.status or reply.status == 413, name
    half = b'{"visitor": "\\ud800"}'
    probe.refused(request("POST", f"/v1/rooms/{room}/tickets", key, half), "half a pair")


def test_queries(probe: Probe) -> None:
    """In the query of a check, raw and quoted."""
    for name, payload in in_path():
        path = b"/v1/check?room=" + payload
        probe.refused(request("GET", path, {"Authorization": "Bearer x.y.z"}), name)
        probe.refused(request("GET", b"/v1/check?" + payload), name)


def test_operators_input(probe: Probe) -> None:
    """A key changes nothing: names and texts of rooms follow the same rules."""
    key = ADMIN | {"Content-Type": "application/json"}
    for name, payload in PAYLOADS.items():
        text = payload.decode("latin-1")
        body = json.dumps({"name": text}).encode()
        probe.refused(request("POST", "/v1/admin/rooms", key, body), name)
        made = json.dumps({"name": "x", "policy": {"mode": text}}).encode()
        probe.refused(request("POST", "/v1/admin/rooms", key, made), name)
    for name, payload in in_path():
        path = b"/v1/admin/rooms/" + payload + b"/stats"
        probe.refused(request("GET", path, key), name)


def test_requests_that_are_none(probe: Probe, room: str) -> None:
    """Two lengths, wrong ones, wrong chunks, no version, rubbish: refused."""
    path = f"/v1/rooms/{room}/tickets".encode()
    head = b"POST " + path + b" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
    smuggled = b"GET /v1/admin/rooms HTTP/1.1\r\nHost: x\r\n\r\n"
    bad = [
        head + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
        head + b"Content-Length: -1\r\n\r\n{}",
        head + b"Content-Length: 1e1\r\n\r\n{}",
        head + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n",
        head + b"Transfer-Encoding: x\r\n\r\n" + smuggled,
        head + b"Bad Header: 1\r\n\r\n",
        head + b": 1\r\n\r\n",
        b"POST " + path + b" HTTP/9.9\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\0" * 64 + b"\r\n\r\n",
        b"GET  HTTP/1.1\r\n\r\n",
    ]
    for data in bad:
        probe.refused(data, repr(data[-60:]))
