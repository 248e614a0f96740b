"""The backend is killed, hangs, stalls or is slow: only a real outage counts as one.

Two servers share it: one connects directly, the other over a link that can be slow. Meanwhile
visitors poll, join, enter, view the room and listen for events, and an operator watches.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import secrets
import signal
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest

from tests.support.clients import (
    Live,
    Reply,
    Wire,
    ask,
    live,
    request,
    rss_bytes,
)
from tests.support.counts import count
from tests.support.figures import say
from tests.support.links import Link, linked
from tests.support.servers import Server as Backend
from tests.support.servers import start_server
from tests.support.serving import ADMIN, Serving, await_ready, end, launch

AS_PROMISED = {"poll_within_s": 0.3, "answer_within_s": 5, "away_after_s": 3}
"""The defaults."""

BACK_S = 60.0
MOST_GROWN = 16_000_000
PAUSE_S = 0.02
STALL_S = 1.0
SLOW_S = 0.4


@dataclass(slots=True)
class Site:
    """The backend, the link, and a server on each side of the link."""

    backend: Backend
    link: Link
    direct: Serving
    behind: Serving

    def fault(self, name: str) -> tuple[Serving, Callable[[], None], Callable[[], None]]:
        """Return which server a fault hits, how it starts and how it ends."""
        if name == "killed":
            return self.direct, self.backend.kill, lambda: self.backend.restart()
        if name == "hung":
            pid = self.backend.pid
            return (
                self.direct,
                lambda: os.kill(pid, signal.SIGSTOP),
                lambda: os.kill(pid, signal.SIGCONT),
            )
        return self.behind, lambda: self._slow(SLOW_S), lambda: self._slow(0.0)

    def _slow(self, delay_s: float) -> None:
        self.link.delay_s = delay_s


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Run them all; the backend keeps its data on disk, so a kill loses nothing."""
    folder = tmp_path_factory.mktemp("away")
    with (
        start_server("valkey", folder / "store", aof=True, appendfsync="always") as backend,
        linked(backend.port) as link,
    ):
        urls = (backend.url, f"redis://127.0.0.1:{link.port}")
        both = [launch(folder, redis_url=url, **AS_PROMISED) for url in urls]
        try:
            for server in both:
                await_ready(server)
            yield Site(backend, link, *both)
        finally:
            for server in both:
                end(server)


@dataclass(slots=True)
class Seen:
    """What clients saw: the statuses and codes of each kind of request, and how many were stale."""

    words: dict[str, Counter[str]] = field(default_factory=dict)
    stale: int = 0
    rises: int = 0
    _positions: dict[str, int] = field(default_factory=dict)

    def note(self, kind: str, path: str, reply: Reply) -> None:
        """Record an answer."""
        word = str(reply.status)
        if reply.header("content-type") == "application/problem+json":
            word += f" {reply.code}"
            if reply.status == 503:
                assert int(reply.header("retry-after") or 0) >= 1, reply
        elif reply.status == 200 and "state" in reply.json():
            body = reply.json()
            word += f" {body['state']}"
            if kind == "status" and body["state"] == "waiting":
                self.rises += body["position"] > self._positions.get(path, body["position"])
                self._positions[path] = body["position"]
            if body.get("stale"):
                self.stale += 1
                assert body["state"] == "waiting"
                assert body["poll_after_ms"] <= 3_000
        self.words.setdefault(kind, Counter())[word] += 1


class Crowd:
    """The visitors of one room and an operator, all of them asking repeatedly."""

    def __init__(self, server: Serving, room: str) -> None:
        self.server = server
        self.room = room
        self.seen = Seen()
        self._tasks: list[asyncio.Task[None]] = []
        path = f"/v1/rooms/{room}"
        tickets = [_joined(server, room) for _ in range(3)]
        self.ticket = tickets[-1]
        self.calls: list[tuple[str, str, str, dict[str, str]]] = [
            ("status", "GET", f"{path}/tickets/{tickets[1]}", {}),
            ("status", "GET", f"{path}/tickets/me", {"Authorization": f"Bearer {tickets[2]}"}),
            ("join", "POST", f"{path}/tickets", {"Idempotency-Key": secrets.token_hex(8)}),
            ("enter", "POST", f"{path}/tickets/{tickets[1]}/enter", {}),
            ("room", "GET", path, {}),
            ("operator", "GET", f"/v1/admin/rooms/{room}", ADMIN),
            ("forged", "GET", f"{path}/tickets/{tickets[1][:-1]}!", {}),
        ]

    async def _ask(self, kind: str, method: str, path: str, headers: dict[str, str]) -> None:
        async with Wire(self.server.port) as wire:
            while True:
                self.seen.note(kind, path, await wire.ask(method, path, headers))
                await asyncio.sleep(PAUSE_S)

    async def __aenter__(self) -> Crowd:
        self._tasks = [asyncio.create_task(self._ask(*call)) for call in self.calls]
        return self

    async def __aexit__(self, *exc: object) -> None:
        for task in self._tasks:
            task.cancel()
        done = await asyncio.gather(*self._tasks, return_exceptions=True)
        for result in done:
            if not isinstance(result, asyncio.CancelledError):
                raise AssertionError("a client failed") from result


def _joined(server: Serving, room: str) -> str:
    reply = ask(server.port, request("POST", f"/v1/rooms/{room}/tickets"))
    return str(reply.json()["ticket"])


WAITING = {
    "status": {"200 waiting"},
    "join": {"200 waiting"},
    "enter": {"409 not_your_turn"},
    "room": {"200"},
    "operator": {"200"},
    "forged": {"404 invalid_ticket"},
}
UNAVAILABLE = "503 backend_unavailable"
CLOSED = WAITING | {key: {UNAVAILABLE} for key in ("status", "join", "enter", "operator")}
OPEN = CLOSED | {key: {"200 inside"} for key in ("status", "join", "enter")}


@asynccontextmanager
async def crowded(server: Serving) -> AsyncIterator[tuple[list[Crowd], list[Live]]]:
    """Bring crowds to a paused room, and to one that is open while the backend is away."""
    # The first, who is called and never comes, keeps the turn even on a slow machine.
    open_room = server.new_room(capacity=1, enter_within_s=600, when_away="open")
    rooms = (server.new_room(mode="paused"), open_room)
    async with AsyncExitStack() as stack:
        crowds = [await stack.enter_async_context(Crowd(server, room)) for room in rooms]
        streams = [
            await stack.enter_async_context(
                live(server.port, f"/v1/rooms/{crowd.room}/tickets/{crowd.ticket}/events")
            )
            for crowd in crowds
        ]
        for stream in streams:
            await stream.until("ticket")
        await _answered(crowds)  # the first join of each is another word
        for crowd in crowds:
            crowd.seen = Seen()
        yield crowds, streams


async def _answered(crowds: list[Crowd], times: int = 1) -> None:
    """Wait until each kind of request was answered so often."""
    async with asyncio.timeout(BACK_S):
        for crowd, kind in itertools.product(crowds, WAITING):
            while crowd.seen.words.get(kind, Counter()).total() < times:  # noqa: ASYNC110
                await asyncio.sleep(PAUSE_S)


@pytest.mark.parametrize("fault", ["killed", "hung"])
async def test_an_outage_is_answered_as_the_policy_says(site: Site, fault: str) -> None:
    """While the backend is away every answer follows the policy; afterwards everything recovers."""
    server, begin, heal = site.fault(fault)
    (worker,) = server.workers
    async with crowded(server) as (crowds, streams):
        before = rss_bytes(worker)
        try:
            begin()
            await _while_away(server, crowds, streams, count("away_seconds"))
        finally:
            heal()
        took_s = await _until_back(server, crowds, streams)
        grown = rss_bytes(worker) - before
    assert grown < MOST_GROWN, f"{grown} bytes"
    say(f"{fault}: normal after {took_s:.2f} s; memory {grown / 1e6:+.1f} MB")


@pytest.mark.parametrize("fault", ["hung", "slow"])
async def test_a_stall_is_no_outage(site: Site, fault: str) -> None:
    """A backend that stalls for a second, or is slow, causes no errors and opens nothing."""
    server, begin, heal = site.fault(fault)
    outages = _outages(server)
    async with crowded(server) as (crowds, _):
        for _ in range(count("stalls")):
            begin()
            await asyncio.sleep(STALL_S)
            heal()
            await asyncio.sleep(STALL_S)
    for crowd in crowds:
        seen = crowd.seen
        assert {kind: set(words) for kind, words in seen.words.items()} == WAITING, crowd.room
        assert seen.stale > 0, "polls had to wait"
        assert seen.rises == 0
    assert outages == _outages(server)


async def test_who_was_called_is_not_told_to_wait(site: Site) -> None:
    """A stale answer repeats only `waiting`; anybody who was called waits for the true answer."""
    server, begin, heal = site.fault("hung")
    room = server.new_room(mode="manual")
    path = f"/v1/rooms/{room}/tickets/"
    first, second = (path + _joined(server, room) for _ in range(2))
    with server.operator() as operator:
        operator.post(f"/v1/admin/rooms/{room}/admit", json={"count": 1}).raise_for_status()
    async with Wire(server.port) as called, Wire(server.port) as waiting:
        assert "called" == (await called.ask("GET", first)).json()["state"]
        assert "waiting" == (await waiting.ask("GET", second)).json()["state"]
        begin()
        try:
            answer = asyncio.create_task(called.ask("GET", first))
            stale = (await waiting.ask("GET", second)).json()
            assert (True, "waiting", 1) == (stale["stale"], stale["state"], stale["position"])
            assert not answer.done()
        finally:
            heal()
        body = (await answer).json()
        assert ("called", None) == (body["state"], body.get("stale"))


def _outages(server: Serving) -> str:
    text = ask(server.port, request("GET", "/metrics", ADMIN)).body.decode()
    (line,) = [row for row in text.splitlines() if row.startswith("waitroom_backend_errors_total ")]
    return line


async def _while_away(
    server: Serving, crowds: list[Crowd], streams: list[Live], seconds: int
) -> None:
    for stream in streams:
        assert 503 == (await stream.until("away", within_s=60)).data["status"]
    # Up to here some answers still came from a backend that was there, or only slow.
    for crowd in crowds:
        assert crowd.seen.rises == 0
        crowd.seen = Seen()
    await asyncio.sleep(seconds)
    async with asyncio.timeout(60):  # an operator's request from before takes a while
        while any("operator" not in crowd.seen.words for crowd in crowds):  # noqa: ASYNC110
            await asyncio.sleep(PAUSE_S)
    for crowd, wanted in zip(crowds, (CLOSED, OPEN), strict=True):
        assert wanted == {kind: set(words) for kind, words in crowd.seen.words.items()}
    assert [200, 200] == [
        ask(server.port, request("GET", path)).status for path in ("/readyz", "/healthz")
    ], "it has an answer for visitors, so no balancer must take it out"
    path = f"/v1/rooms/{crowds[1].room}/tickets/{crowds[1].ticket}"
    passed = ask(server.port, request("GET", path))
    check = {"Authorization": f"Bearer {passed.json()['pass']}"}
    assert 204 == ask(server.port, request("GET", "/v1/check", check)).status, "offline"


def backend_of(server: Serving) -> str:
    """Return what the server reports about its backend."""
    return str(ask(server.port, request("GET", "/healthz")).json()["backend"])


async def _until_back(server: Serving, crowds: list[Crowd], streams: list[Live]) -> float:
    """Return how long each kind of request took until it was answered as before."""
    began = time.monotonic()
    wanted = {"status": "200 waiting", "enter": "409 not_your_turn", "operator": "200"}
    path = f"/v1/rooms/{crowds[0].room}/tickets/{crowds[0].ticket}"
    async with Wire(server.port) as wire:
        while (await wire.ask("GET", path)).status != 200:
            assert time.monotonic() - began < BACK_S, "not normal again"
            await asyncio.sleep(PAUSE_S)
    took_s = time.monotonic() - began
    for stream in streams:
        await stream.until("ticket")
    words: dict[str, set[str]] = {}
    while words != {kind: {word} for kind, word in wanted.items()}:
        # What was asked before the return may still be answered as while it was away.
        assert time.monotonic() - began < BACK_S, f"not normal again: {words}"
        crowds[0].seen = Seen()
        await _answered(crowds[:1], 5)
        words = {kind: set(crowds[0].seen.words[kind]) for kind in wanted}
    return took_s


async def test_a_pass_given_meanwhile_holds_for_a_minute(site: Site) -> None:
    """The open room's pass, issued while the backend was away, is short, and valid to its end."""
    server, begin, heal = site.fault("hung")
    room = server.new_room(mode="open", capacity=1, when_away="open")
    closed = server.new_room(mode="closed", when_away="open")
    later = server.new_room(opens_at="2090-01-01T00:00:00Z", when_away="open")
    over = server.new_room(ends_at="2020-01-01T00:00:00Z", when_away="open")
    tickets = f"/v1/rooms/{room}/tickets"
    browser = {"Origin": "http://waitroom.test"}
    for name in (room, closed, later, over):  # this server knows it, as after a first visitor
        assert 200 == ask(server.port, request("GET", f"/v1/rooms/{name}")).status
    begin()
    try:
        joined = ask(server.port, request("POST", tickets, browser), timeout_s=60)
        assert (200, "inside") == (joined.status, joined.json()["state"])
        check = {"Cookie": joined.all("set-cookie")[0].partition(";")[0]}
        async with asyncio.timeout(60):
            while backend_of(server) != "away":  # noqa: ASYNC110
                await asyncio.sleep(PAUSE_S)
        path = f"/v1/check?room={room}"
        assert 204 == ask(server.port, request("GET", path, check)).status
        for name in (closed, later, over):
            reply = ask(server.port, request("POST", f"/v1/rooms/{name}/tickets"), timeout_s=60)
            assert UNAVAILABLE == f"{reply.status} {reply.code}", "nobody would be let in anyway"
    finally:
        heal()
    async with asyncio.timeout(60):
        while backend_of(server) != "up":  # noqa: ASYNC110
            await asyncio.sleep(PAUSE_S)
    assert 204 == ask(server.port, request("GET", path, check)).status
    ends_at = datetime.fromisoformat(joined.json()["session_ends_at"])
    assert ends_at - datetime.now(UTC) <= timedelta(seconds=60)
