"""The lane and the plain path give the same answers, over real sockets.

Two servers share backend and secret; only one has the lane. Each scenario runs on both, each in
its own room, and every answer must be the same: status, headers, body. Values that must differ
(tickets, passes, times, jitter) are replaced by their kind before the comparison.
"""

from __future__ import annotations

import asyncio
import json
import re
import secrets
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.support.clients import Reply, Wire, ask, metric, request, scrape
from tests.support.servers import Server as Backend
from tests.support.serving import ADMIN_KEY, SECRET, Serving, await_ready, end, launch
from waitroom.models import Mode, Policy
from waitroom.server.app import App
from waitroom.server.http.connection import Connection
from waitroom.server.http.connections import Connections
from waitroom.server.visitor.lane import EVENTS, ROUTES
from waitroom.settings import Settings

BROWSER = {"Sec-Fetch-Mode": "cors"}
APP, OTHER_APP = "https://app.example", "https://other.example"
_VARIES = [
    (re.compile(r"eyJ[\w-]+\.[\w-]+\.[\w-]+"), "PASS"),
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"), "MOMENT"),
    (re.compile(r'("poll_after_ms":)\d{4,5}\b'), r"\1MS"),
    # An estimate moves with the clock, so only its presence is compared.
    (re.compile(r'("eta_s":)\{"low":\d+,"likely":\d+,"high":\d+\}'), r"\1ETA"),
    (re.compile(r'("code":")\w{3}-\w{3}"'), r'\1CODE"'),
    (re.compile(r'("request_id":")[0-9a-f]{32}"'), r'\1ID"'),
    (re.compile(r'("(?:keyPrefix|keySignature|nonce|salt|signature)":")[0-9a-f]+"'), r'\1HEX"'),
    (re.compile(r'("expiresAt":)\d+'), r"\1S"),
    (re.compile(r'("for":")[\w-]{12}"'), r'\1ADDRESS"'),
    (re.compile(r"(Max-Age=)[1-9]\d*"), r"\1S"),
    (re.compile(r"\bt-[0-9a-f]{12}\b"), "ROOM"),
    (re.compile(r"[\w-]{74,170}"), "TICKET"),
    (re.compile(r'"short_code":"\w{3}-\w{3}"'), '"short_code":"CODE"'),
]
_WAITS = re.compile(r'"(?:low|likely|high)":(\d+)')


@dataclass(slots=True)
class Caller:
    """Sends to one of the two servers, and keeps every answer."""

    port: int
    room: str = ""
    seen: list[tuple[Any, ...]] = field(default_factory=list)
    waits: list[int] = field(default_factory=list)
    sent: int = 0

    def send(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        headers: Mapping[str, str | bytes] | None = None,
        **more: str | bytes,
    ) -> Reply:
        """Send a request; a path without a leading slash is under the room."""
        whole = path if path.startswith("/") else f"/v1/rooms/{self.room}{path and '/'}{path}"
        given = {**(headers or {}), **{name.replace("_", "-"): more[name] for name in more}}
        return self.note(ask(self.port, request(method, whole, given, body)), method, path)

    def note(self, reply: Reply, *about: str) -> Reply:
        """Keep an answer for the comparison."""
        self.sent += 1
        # A length depends on what was replaced; only its presence must match.
        headers = sorted(
            (name, "N" if name == "content-length" else plain(value))
            for name, value in reply.headers
            # The lane gives ids only to some requests: test_request_ids.py compares those.
            if name not in ("date", "x-request-id")
        )
        what = plain(" ".join(about))
        self.waits += [int(seconds) for seconds in _WAITS.findall(reply.body.decode())]
        self.seen.append((what, reply.status, headers, plain(reply.body.decode())))
        return reply

    def make(self, **policy: Any) -> str:
        """Make a room for the next steps, without recording it."""
        self.room = f"t-{secrets.token_hex(6)}"
        self.operate("", name=self.room, policy=policy)
        return self.room

    def operate(self, path: str, **body: Any) -> None:
        """Do what an operator does, without recording it."""
        headers = {"Authorization": f"Bearer {ADMIN_KEY}"}
        data = json.dumps(body).encode()
        headers["Content-Type"] = "application/json"
        reply = ask(self.port, request("POST", f"/v1/admin/rooms{path}", headers, data))
        assert reply.status in (200, 201), reply

    def ticket(
        self, headers: Mapping[str, str | bytes] | None = None, body: bytes | None = None
    ) -> str:
        """Join, and return the ticket."""
        return str(self.send("POST", "tickets", body, headers).json()["ticket"])


def plain(text: str) -> str:
    """Replace values that differ between two runs by their kind."""
    for pattern, kind in _VARIES:
        text = pattern.sub(kind, text)
    return text


@pytest.fixture(scope="module")
def pair(
    valkey: Backend, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Serving, Serving]]:
    """Run two servers on one backend: with the lane, and without."""
    folder = tmp_path_factory.mktemp("lane")
    common = {"redis_url": valkey.url, "proxies": "127.0.0.0/8"}
    common |= {"cors_origins": f"{APP}, {OTHER_APP}", "origins": OTHER_APP}
    both = [launch(folder, lane=lane, **common) for lane in ("true", "false")]
    try:
        for server in both:
            await_ready(server)
        yield both[0], both[1]
    finally:
        for server in both:
            end(server)


# Scenarios -----------------------------------------------------------------------------------


def life(call: Caller) -> None:
    """From join to finish, with repeats, and every request after the end."""
    call.make(capacity=1, session_s=60, renewable=True)
    key = {"Idempotency-Key": "k" * 20}
    ticket = call.ticket(key)
    assert ticket[24:40] == call.ticket(key)[24:40]
    call.send("GET", "")
    call.send("GET", f"tickets/{ticket}")
    call.send("GET", "tickets/me", authorization=f"Bearer {ticket}")
    call.send("POST", f"tickets/{ticket}/enter")
    inside = call.send("POST", f"tickets/{ticket}/enter", b"").json()
    call.send("POST", f"tickets/{ticket}/renew")
    call.send("GET", f"tickets/{ticket}")
    for query in ("", f"?room={call.room}", "?room=other", f"?x=1&room={call.room}", "?room="):
        call.send("GET", f"/v1/check{query}", authorization=f"Bearer {inside['pass']}")
    call.send("GET", "/v1/check", authorization=f"Bearer {inside['pass'][:-4]}AAAA")
    call.send("GET", "/v1/check")
    cookie = f"waitroom-pass-{call.room}={inside['pass']}"
    call.send("GET", f"/v1/check?room={call.room}", cookie=cookie)
    call.send("POST", f"tickets/{ticket}/finish")
    after(call, ticket)
    call.send("GET", "/v1/check", authorization=f"Bearer {inside['pass']}")


def after(call: Caller, ticket: str) -> None:
    """Send every request with a ticket that is no longer valid."""
    for verb in ("enter", "renew", "finish"):
        call.send("POST", f"tickets/{ticket}/{verb}")
    call.send("POST", f"tickets/{ticket}/defer", b'{"places": 1}')
    call.send("GET", f"tickets/{ticket}")
    call.send("DELETE", f"tickets/{ticket}")


def browser(call: Caller) -> None:
    """With cookies, behind a proxy that speaks https or not."""
    for proto in ("http", "https"):
        call.make(capacity=1, session_s=60)
        headers = BROWSER | {"X-Forwarded-Proto": proto}
        ticket = call.ticket(headers)
        mine = headers | {"Cookie": f"a=1; waitroom-ticket-{call.room}={ticket}"}
        call.ticket(mine)
        call.send("GET", "tickets/me", headers=mine)
        inside = call.send("POST", "tickets/me/enter", headers=mine)
        assert [proto == "https"] * 2 == ["Secure" in cookie for cookie in inside.all("set-cookie")]
        call.send("GET", "tickets/me", headers=mine)
        if proto == "http":
            call.send("DELETE", "tickets/me", headers=mine)
        else:
            call.send("POST", "tickets/me/finish", headers=mine)
        call.ticket(mine)
        call.ticket(headers | {"Cookie": f"waitroom-ticket-{call.room}={ticket[:-1]}!"})


def waiting(call: Caller) -> None:
    """A line of three: go back, too often, leave, be kicked."""
    call.make(mode="paused", max_defers=1)
    first, second, third = (call.ticket() for _ in range(3))
    key = {"Idempotency-Key": "d" * 20}
    for _ in range(2):
        moved = call.send("POST", f"tickets/{first}/defer", b'{"places": 1}', key).json()
    call.send("POST", f"tickets/{moved['ticket']}/defer", b'{"places": 1}')
    call.send("POST", f"tickets/{second}/defer", b'{"places": 1}', Idempotency_Key="short")
    for body in (b"", b"{}", b'{"places": 0}', b'{"places": "1"}', b'{"places": 1.5}', b"[1]"):
        call.send("POST", f"tickets/{second}/defer", body)
    call.send("POST", f"tickets/{second}/enter")
    call.send("POST", f"tickets/{second}/renew")
    call.send("POST", f"tickets/{second}/finish")
    call.send("DELETE", f"tickets/{second}")
    after(call, second)
    call.operate(f"/{call.room}/kick", ticket_ids=[third[24:40]])
    after(call, third)


def forged(call: Caller) -> None:
    """Invalid tickets: changed, foreign, too long, empty, with odd characters."""
    call.make()
    ticket, first = call.ticket(), call.room
    call.make()
    other = call.ticket()
    changed = other[:30] + ("A" if other[30] != "A" else "B") + other[31:]
    for bad in (ticket, changed, "x", "x" * 3_000, "me", "%00", "%ff%fe", "%0d%0aX:1", "a%2fb"):
        after(call, bad)
        call.send("GET", f"tickets/{bad}/events")
    call.send("GET", f"/v1/rooms/{first}/tickets/{other}")
    for name in ("nowhere", "no%20name", "%00", "x" * 65, "%e2%80%ae", "..", "%2e%2e"):
        call.send("GET", f"/v1/rooms/{name}")
        call.send("POST", f"/v1/rooms/{name}/tickets")
        call.send("GET", f"/v1/rooms/{name}/tickets/{ticket}")
        call.send("GET", f"/v1/rooms/{name}/tickets/me")
        call.send("POST", f"/v1/rooms/{name}/tickets/{ticket}/enter")
        call.send("GET", f"/v1/check?room={name}", authorization="Bearer x.y.z")


def bodies(call: Caller) -> None:
    """Bodies that cannot be read, or are too long."""
    call.make(capacity=1)
    long = b'{"enter": false}' + b" " * 20_000
    bad = (b"{", b"\xff", b"[]", b"null", b"1", b'"x"', b'{"enter": 1}', b'{"x": 1}', long)
    for body in (*bad, b'{"visitor": ""}', b'{"visitor": 7}', b'{"enter": true, "enter": 1}'):
        call.send("POST", "tickets", body)
    ticket = call.ticket(body=b"{}")
    for verb in ("enter", "renew", "finish", "defer"):
        for body in (b"\x00", long):
            call.send("POST", f"tickets/{ticket}/{verb}", body)
    chunked = b'4\r\n{"en\r\nb\r\nter": true}\r\n0\r\n\r\n'
    headers = {"Transfer-Encoding": "chunked"}
    data = request("POST", f"/v1/rooms/{call.room}/tickets", headers) + chunked
    call.note(ask(call.port, data), "chunked")
    call.send("POST", "tickets", b'{"visitor": "x"}')
    call.send("POST", "tickets", b'{"visitor": "x"}', authorization="Bearer wr_nobody")
    for _ in range(2):
        call.send("POST", "tickets", b'{"visitor": "x"}', authorization=f"Bearer {ADMIN_KEY}")


def odd(call: Caller) -> None:
    """Methods and paths that do not exist."""
    call.make()
    ticket = call.ticket()
    paths = ["", "tickets", f"tickets/{ticket}", f"tickets/{ticket}/enter", "nothing"]
    paths += [f"tickets/{ticket}/nothing", f"tickets/{ticket}/enter/more", "tickets/", "tickets//"]
    paths += ["/v1/rooms", "/v1/rooms/", "/v1/rooms//tickets", "/v1/check/", "/v1/", "/v1"]
    paths += [f"tickets/{ticket}/events", f"tickets/{ticket}/", f"tickets//{ticket}"]
    for path in paths:
        for method in ("PUT", "PATCH", "HEAD", "OPTIONS", "FOO", "GET", "POST", "DELETE"):
            if (method, path) != ("GET", f"tickets/{ticket}/events"):
                call.send(method, path)


def refusals(call: Caller) -> None:
    """Rooms that accept nobody, and tickets that are too old."""
    call.make(mode="closed")
    call.send("POST", "tickets")
    call.send("GET", "")
    call.make(mode="paused", queue_limit=1)
    call.ticket()
    call.send("POST", "tickets")
    call.make(opens_at="2090-01-01T00:00:00Z", before_open="refuse")
    call.send("POST", "tickets")
    for key in ("short", "x" * 129, b"\xe9" * 20, "x" * 16):
        call.make()
        call.send("POST", "tickets", Idempotency_Key=key)


def priced(call: Caller) -> None:
    """Newcomers who show no solution, a wrong one, or ask for a challenge."""
    call.make(mode="paused", challenge="work")
    call.send("GET", "")
    for solution in (None, "?", "nonsense", "eyJhIjoxfQ==", "ripe.", "x" * 5_000):
        body = None if solution is None else json.dumps({"solution": solution}).encode()
        call.send("POST", "tickets", body)
    call.send("POST", "tickets", b"{}", BROWSER | {"Origin": APP, "Sec-Fetch-Site": "same-site"})
    call.make(mode="paused", challenge="observe_work")
    call.send("POST", "tickets")
    call.send("POST", "tickets", b'{"solution": "?"}')


def streams(call: Caller) -> None:
    """An event stream of a ticket that is gone: its head, its one event, its end."""
    call.make(mode="paused")
    ticket = call.ticket()
    call.send("DELETE", f"tickets/{ticket}")
    call.send("GET", f"tickets/{ticket}/events")
    call.send("GET", "tickets/me/events", authorization=f"Bearer {ticket}")


def elsewhere(call: Caller) -> None:
    """Pages of listed origins, with and without cookies, and of others; each with a preflight."""
    call.make(capacity=1, session_s=60)
    for origin in (APP, OTHER_APP, "https://evil.example", "null"):
        page = BROWSER | {"Origin": origin, "Sec-Fetch-Site": "same-site"}
        wish = page | {"Access-Control-Request-Method": "POST"}
        for path in (
            "",
            "tickets",
            "tickets/me/enter",
            "tickets/me/events",
            "nothing",
            "/v1/check",
        ):
            call.send("OPTIONS", path, headers=wish)
            call.send("OPTIONS", path, headers=page)
        ticket = call.ticket(page)
        mine = page | {"Authorization": f"Bearer {ticket}"}
        call.send("GET", "tickets/me", headers=mine)
        call.send("POST", "tickets/me/renew", headers=mine)
        call.send("DELETE", "tickets/me", headers=mine)
        call.send("GET", "tickets/me/events", headers=mine)
        call.send("GET", "", headers=page)
        call.send("GET", "/v1/check", headers=mine)


SCENARIOS = [life, browser, waiting, forged, bodies, odd, refusals, priced, streams, elsewhere]


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.__name__)
def test_both_answer_the_same(
    pair: tuple[Serving, Serving], scenario: Callable[[Caller], None]
) -> None:
    """Every answer of a scenario is the same with and without the lane."""
    callers = [Caller(server.port) for server in pair]
    for caller in callers:
        scenario(caller)
    for with_lane, without in zip(callers[0].seen, callers[1].seen, strict=True):
        assert without == with_lane
    assert len(callers[0].seen) > 2
    # The seconds of an estimate depend on the moment, because boards are renewed once a second.
    first, second = (len(caller.waits) for caller in callers)
    assert first == second


def test_the_lane_handled_the_first_alone(pair: tuple[Serving, Serving]) -> None:
    """The lane counts each of its requests: all of them on one server, none on the other."""
    before = [metric(scrape(server.port), "waitroom_lane_requests_total") for server in pair]
    callers = [Caller(server.port) for server in pair]
    for caller in callers:
        life(caller)
    counted = [
        metric(scrape(server.port), "waitroom_lane_requests_total") - old
        for server, old in zip(pair, before, strict=True)
    ]
    assert [callers[0].sent, 0] == counted


def test_every_call_has_its_route(pair: tuple[Serving, Serving]) -> None:
    """The lane knows exactly the visitor routes of the OpenAPI document, no more and no less."""
    paths = ask(pair[0].port, request("GET", "/openapi.json"), 20).json()["paths"]
    documented = {
        f"{method.upper()} {path}"
        for path, methods in paths.items()
        for method in methods
        if path.startswith("/v1/rooms/")
    }
    # A browser does these once, to go elsewhere or to get notifications: the framework does that.
    ticket = "/v1/rooms/{room}/tickets/{ticket}"
    documented -= {f"POST {ticket}/handoff", f"POST {ticket}/push", f"DELETE {ticket}/push"}
    assert documented == {route.name for route in ROUTES.values()} | {EVENTS}


@pytest.mark.parametrize("broken", ["poll_for", "wait"])
async def test_an_error_of_ours_is_answered_and_counted_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    """A poll that fails in our own code gets a 500, and does not stay under way for ever."""
    app = App(Settings(data_dir=tmp_path, secret=SECRET))
    async with app.life():
        room = await app.server.engine.create("hall", Policy(mode=Mode.PAUSED))
        ticket = (await app.server.engine.join(room.name)).ticket
        board = await app.server.boards.get(room.name)

        def fail(*_: object) -> None:
            raise RuntimeError("broken")

        monkeypatch.setattr(board if broken == "wait" else app.server.engine, broken, fail)
        connections = Connections(app, app.lane)
        listener = await asyncio.get_running_loop().create_server(
            lambda: Connection(connections), "127.0.0.1", 0
        )
        async with listener, Wire(listener.sockets[0].getsockname()[1]) as wire:
            reply = await wire.ask("GET", f"/v1/rooms/{room.name}/tickets/{ticket}")
        assert 500 == reply.status
        assert 0 == app.server.under_way.count
