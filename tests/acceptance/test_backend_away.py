"""The backend is killed, hangs or is slow: everybody gets an answer at once, as the room wants it.

Two servers share it: one reaches it directly, the other over a link that can be slow. While
the backend is away visitors poll, join, enter, look at the room and listen, and an operator looks.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack
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
from tests.support.serving import ADMIN, AS_PROMISED_S, Serving, await_ready, end, launch

ANSWER_S = AS_PROMISED_S
BACK_S = 60.0
MOST_GROWN = 16_000_000
PAUSE_S = 0.02


@dataclass(slots=True)
class Site:
    """The backend, the link, and a server on each side of the link."""

    backend: Backend
    link: Link
    direct: Serving
    behind: Serving

    def fault(self, name: str) -> tuple[Serving, Callable[[], None], Callable[[], None]]:
        """Return which server a fault hits, how it begins and how it ends."""
        if name == "killed":
            return self.direct, self.backend.kill, lambda: self.backend.restart()
        if name == "hung":
            pid = self.backend.pid
            return (
                self.direct,
                lambda: os.kill(pid, signal.SIGSTOP),
                lambda: os.kill(pid, signal.SIGCONT),
            )
        return self.behind, lambda: self._slow(0.5), lambda: self._slow(0.0)

    def _slow(self, delay_s: float) -> None:
        self.link.delay_s = delay_s


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Run them all; the backend keeps its data on disk, so that a kill loses nothing."""
    folder = tmp_path_factory.mktemp("away")
    with (
        start_server("valkey", folder / "store", aof=True, appendfsync="always") as backend,
        linked(backend.port) as link,
    ):
        urls = (backend.url, f"redis://127.0.0.1:{link.port}")
        both = [launch(folder, redis_url=url, answer_within_s=ANSWER_S) for url in urls]
        try:
            for server in both:
                await_ready(server)
            yield Site(backend, link, *both)
        finally:
            for server in both:
                end(server)


@dataclass(slots=True)
class Seen:
    """What clients saw: for each kind of call the statuses with codes, and the slowest answer."""

    words: dict[str, Counter[str]] = field(default_factory=dict)
    slowest: dict[str, float] = field(default_factory=dict)

    def note(self, kind: str, reply: Reply) -> None:
        """Keep an answer."""
        word = str(reply.status)
        if reply.header("content-type") == "application/problem+json":
            word += f" {reply.code}"
            if reply.status == 503:
                assert int(reply.header("retry-after") or 0) >= 1, reply
        elif reply.status == 200 and "state" in reply.json():
            word += f" {reply.json()['state']}"
        self.words.setdefault(kind, Counter())[word] += 1
        self.slowest[kind] = max(self.slowest.get(kind, 0.0), reply.took_s)


class Crowd:
    """Visitors of one room and an operator, each asking again and again."""

    def __init__(self, server: Serving, room: str) -> None:
        self.server = server
        self.room = room
        self.seen = Seen()
        self.lag_s = 0.0
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
                self.seen.note(kind, await wire.ask(method, path, headers))
                await asyncio.sleep(PAUSE_S)

    async def _watch(self) -> None:
        """Measure how late this very process is: that is not the server's fault."""
        while True:
            began = time.monotonic()
            await asyncio.sleep(PAUSE_S)
            self.lag_s = max(self.lag_s, time.monotonic() - began - PAUSE_S)

    async def __aenter__(self) -> Crowd:
        self._tasks = [asyncio.create_task(self._ask(*call)) for call in self.calls]
        self._tasks.append(asyncio.create_task(self._watch()))
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
    "join": {"200 waiting", "200"},
    "enter": {"409 not_your_turn"},
    "room": {"200"},
    "operator": {"200"},
    "forged": {"404 invalid_ticket"},
}
UNAVAILABLE = "503 backend_unavailable"
CLOSED = WAITING | {key: {UNAVAILABLE} for key in ("status", "join", "enter", "operator")}
OPEN = CLOSED | {key: {"200 inside"} for key in ("status", "join", "enter")}


@pytest.mark.parametrize("fault", ["killed", "hung", "slow"])
async def test_an_answer_within_300_ms(site: Site, fault: str) -> None:
    """Each answer comes in time and as the policy says; all is as before by itself."""
    server, begin, heal = site.fault(fault)
    shut = server.new_room(mode="paused")
    wide = server.new_room(capacity=1, when_away="open")
    (worker,) = server.workers
    async with AsyncExitStack() as stack:
        crowds = [await stack.enter_async_context(Crowd(server, room)) for room in (shut, wide)]
        streams = [
            await stack.enter_async_context(
                live(server.port, f"/v1/rooms/{crowd.room}/tickets/{crowd.ticket}/events")
            )
            for crowd in crowds
        ]
        for stream in streams:
            await stream.until("ticket")
        await asyncio.sleep(0.5)
        before = rss_bytes(worker)
        for crowd in crowds:
            crowd.seen, crowd.lag_s = Seen(), 0.0
        try:
            begin()
            await _while_away(server, crowds, streams, count("away_seconds"))
        finally:
            heal()
        took_s = await _until_back(server, crowds, streams)
        grown = rss_bytes(worker) - before
    assert grown < MOST_GROWN, f"{grown} bytes"
    say(f"{fault}: normal after {took_s:.2f} s; memory {grown / 1e6:+.1f} MB")


async def _while_away(
    server: Serving, crowds: list[Crowd], streams: list[Live], seconds: int
) -> None:
    for stream in streams:
        assert 503 == (await stream.until("away", within_s=60)).data["status"]
    # Until here some answers were still those of a backend that was there.
    first = [(crowd.seen, crowd.lag_s) for crowd in crowds]
    for crowd in crowds:
        crowd.seen, crowd.lag_s = Seen(), 0.0
    await asyncio.sleep(seconds)
    for crowd, wanted in zip(crowds, (CLOSED, OPEN), strict=True):
        assert wanted == {kind: set(words) for kind, words in crowd.seen.words.items()}
    for seen, lag_s in [*first, *((crowd.seen, crowd.lag_s) for crowd in crowds)]:
        # Who shows a forged ticket is answered without the backend: what that takes on this
        # machine in this moment is not the backend's fault, nor ours.
        # The slowest of hundreds beside other tests is given three times the promise: without
        # our limit it would be the seconds of the connection's own time-out.
        limit_s = 3 * ANSWER_S + lag_s + 2 * seen.slowest["forged"]
        assert {} == {kind: s for kind, s in seen.slowest.items() if s > limit_s}, limit_s
    assert [200, 200] == [
        ask(server.port, request("GET", path)).status for path in ("/readyz", "/healthz")
    ], "it has an answer for visitors, so no balancer must take it out"
    passed = ask(server.port, request("GET", f"/v1/rooms/{crowds[1].room}/tickets/" + _one(crowds)))
    check = {"Authorization": f"Bearer {passed.json()['pass']}"}
    assert 204 == ask(server.port, request("GET", "/v1/check", check)).status, "offline"


def backend_of(server: Serving) -> str:
    """Return what the server says of its backend."""
    return str(ask(server.port, request("GET", "/healthz")).json()["backend"])


def _one(crowds: list[Crowd]) -> str:
    return crowds[1].ticket


async def _until_back(server: Serving, crowds: list[Crowd], streams: list[Live]) -> float:
    """Return how long it took until each kind of call was answered as before."""
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
    for crowd in crowds:
        crowd.seen = Seen()
    await asyncio.sleep(0.5)
    for kind, word in wanted.items():
        assert {word} == set(crowds[0].seen.words[kind]), kind
    return took_s


async def test_a_pass_given_meanwhile_holds_for_a_minute(site: Site) -> None:
    """A pass of the open room, given while the backend was away, is short, and good to its end."""
    server, begin, heal = site.fault("hung")
    room = server.new_room(mode="open", capacity=1, when_away="open")
    closed = server.new_room(mode="closed", when_away="open")
    later = server.new_room(opens_at_ms=4_000_000_000_000, when_away="open")
    tickets = f"/v1/rooms/{room}/tickets"
    browser = {"Origin": "http://waitroom.test"}
    for name in (room, closed, later):  # known here, as it is after the first visitor
        assert 200 == ask(server.port, request("GET", f"/v1/rooms/{name}")).status
    begin()
    try:
        joined = ask(server.port, request("POST", tickets, browser))
        assert (200, "inside") == (joined.status, joined.json()["state"])
        check = {"Cookie": joined.all("set-cookie")[0].partition(";")[0]}
        async with asyncio.timeout(60):
            while backend_of(server) != "away":  # noqa: ASYNC110
                await asyncio.sleep(PAUSE_S)
        path = f"/v1/check?room={room}"
        assert 204 == ask(server.port, request("GET", path, check)).status
        for name in (closed, later):
            reply = ask(server.port, request("POST", f"/v1/rooms/{name}/tickets"))
            assert UNAVAILABLE == f"{reply.status} {reply.code}", "nobody would be let in anyway"
    finally:
        heal()
    async with asyncio.timeout(60):
        while backend_of(server) != "up":  # noqa: ASYNC110
            await asyncio.sleep(PAUSE_S)
    assert 204 == ask(server.port, request("GET", path, check)).status
    ends_at = datetime.fromisoformat(joined.json()["session_ends_at"])
    assert ends_at - datetime.now(UTC) <= timedelta(seconds=60)
