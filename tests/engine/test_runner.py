"""The runner: how long it retries, that an answer can be promised in time, and whom it tells."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.support.clock import SECRET, crowd
from tests.support.servers import Server, fault_proxy, start_server
from waitroom.engine import Engine
from waitroom.engine.crowd import SINGLES_AT_ONCE
from waitroom.engine.runner import RETRY_AFTER_S
from waitroom.engine.scripts import Verb
from waitroom.errors import BackendUnavailable, Slow, UnknownRoom
from waitroom.models import Mode, Policy, State, Stats
from waitroom.tickets import KeyRing

TIMEOUT_S = 0.25


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Server]:
    """Run a server that the test may stop."""
    with start_server("valkey", tmp_path / "s") as server:
        yield server


@contextmanager
def hung(server: Server) -> Iterator[None]:
    """Run a server that accepts connections and answers nothing."""
    os.kill(server.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(server.pid, signal.SIGCONT)


@asynccontextmanager
async def connected(url: str, **options: Any) -> AsyncIterator[Engine]:
    """Connect an engine."""
    async with await Engine.connect(url, Path("/nowhere"), KeyRing([SECRET]), **options) as engine:
        yield engine


async def under_way() -> None:
    """Let calls get under way: many turns of the loop, not a time that may pass in one of them."""
    for _ in range(10):
        await asyncio.sleep(0.005)


async def make(server: Server, room: str) -> None:
    """Make a room, with more patience than the engine under test has."""
    async with connected(server.url) as engine:
        await engine.create(room, Policy())


async def until_answered(engine: Engine, room: str) -> Stats:
    """Return the first answer: an engine without patience may fail on a machine that stalls."""
    async with asyncio.timeout(60):
        while True:
            with suppress(BackendUnavailable):
                return await engine.stats(room)


async def _fails_after(engine: Engine, room: str) -> float:
    began = time.monotonic()
    with pytest.raises(BackendUnavailable):
        await engine.stats(room)
    return time.monotonic() - began


async def test_a_hung_server_fails_in_time(own: Server, room: str) -> None:
    """With a patience of one timeout a call is tried once, on new connections and on old ones."""
    await make(own, room)
    async with connected(own.url, timeout_s=TIMEOUT_S, patience_s=TIMEOUT_S) as engine:
        await until_answered(engine, room)
        with hung(own):
            took = [await _fails_after(engine, room) for _ in range(3)]
        # A second attempt would take twice as long every time; a stalling machine stalls only once.
        assert TIMEOUT_S * 0.9 <= min(took) < 2 * TIMEOUT_S
        assert 0 == (await until_answered(engine, room)).waiting


async def test_without_patience(own: Server, room: str) -> None:
    """Without a patience setting a call is tried four times."""
    await make(own, room)
    async with connected(own.url, timeout_s=TIMEOUT_S) as engine:
        with hung(own):
            took = await _fails_after(engine, room)
        assert 4 * TIMEOUT_S + sum(RETRY_AFTER_S) <= took


async def test_a_lost_connection_is_still_tried_again(own: Server, room: str) -> None:
    """A reset arrives at once, so there is time for one or two more attempts."""
    async with (
        fault_proxy(own) as proxy,
        connected(proxy.url, timeout_s=30, patience_s=30) as engine,
    ):
        await engine.create(room, Policy())
        for _ in range(5):
            proxy.drop_next_reply(b"EVALSHA")
            assert 0 == (await engine.stats(room)).waiting
        assert 5 == proxy.dropped


async def test_nobody_listens(own: Server, room: str) -> None:
    """Attempts end with the patience: only those at 10 and 50 ms still start."""
    await make(own, room)
    async with connected(own.url, timeout_s=TIMEOUT_S, patience_s=TIMEOUT_S) as engine:
        own.kill()
        took = [await _fails_after(engine, room) for _ in range(3)]
        assert sum(RETRY_AFTER_S[:2]) <= min(took) < TIMEOUT_S


async def test_patience_outlasts_a_restart(own: Server, room: str) -> None:
    """A call with patience is retried until the server is back, long after the first pauses."""
    async with connected(own.url, patience_s=60) as engine:
        await engine.create(room, Policy(mode=Mode.PAUSED))
        own.kill()
        call = asyncio.ensure_future(engine.join(room))
        await asyncio.sleep(2 * sum(RETRY_AFTER_S))
        assert not call.done()
        await asyncio.to_thread(own.restart)
        assert 1 == (await call).waiting


async def test_the_first_connection_may_take_longer(own: Server, room: str) -> None:
    """A server that is slow at our start is waited for, two seconds unless told otherwise."""
    await make(own, room)
    with hung(own), pytest.raises(BackendUnavailable, match="in time"):
        await Engine.connect(
            own.url, Path("/nowhere"), KeyRing([SECRET]), timeout_s=0.1, connect_timeout_s=0.2
        )
    os.kill(own.pid, signal.SIGSTOP)
    asyncio.get_running_loop().call_later(0.5, os.kill, own.pid, signal.SIGCONT)
    async with connected(own.url, timeout_s=TIMEOUT_S, patience_s=TIMEOUT_S) as engine:
        with hung(own):
            took = [await _fails_after(engine, room) for _ in range(3)]
        assert min(took) < 2 * TIMEOUT_S


async def test_waiters_can_be_failed_now(own: Server, room: str) -> None:
    """While the server hangs, everybody who waits can be answered at once; then it continues."""
    async with connected(own.url) as engine:
        await engine.create(room, Policy(mode=Mode.PAUSED))
        person, *_ = await crowd(engine, room, 3)
        with hung(own):
            waiting = [
                asyncio.ensure_future(call)
                for call in (
                    engine.poll(room, person.ticket),
                    engine.join(room),
                    engine.check(room, person.id, 5),
                    engine.renew(room, person.ticket),
                    engine.leave(room, person.ticket),
                )
            ]
            await under_way()
            engine.fail_waiting(Slow(), longer_than_s=60)
            engine.fail_waiting(Slow(), concerns=lambda name: name != room)
            assert not any(call.done() for call in waiting), "too early, or another room"
            engine.fail_waiting(BackendUnavailable("away"))
            results = await asyncio.wait_for(asyncio.gather(*waiting, return_exceptions=True), 60)
            assert ["away"] * 5 == [str(error) for error in results]
        await engine._crowd.drain()
        assert 3 == (await engine.stats(room)).waiting, "what was under way went on: +1 and -1"


class AsksAgain:
    """Asks about another room as soon as it gets an answer, as a pipelining client does."""

    def __init__(self, engine: Engine, room: str, ticket: str) -> None:
        self.told: list[object] = []
        self._again = engine, room, ticket

    def done(self) -> bool:
        """Tell whether it got an answer."""
        return bool(self.told)

    def set_result(self, result: object, /) -> None:
        """Take an answer."""
        self.told.append(result)
        engine, room, ticket = self._again
        engine.poll_for(asyncio.get_running_loop().create_future(), room, ticket)

    set_exception = set_result

    def cancel(self) -> None:
        """Do nothing."""


@pytest.mark.parametrize("told", ["failed", "stale"])
async def test_who_is_told_may_ask_again_at_once(own: Server, room: str, told: str) -> None:
    """This also works for a room that nobody has asked for yet, while others get answers."""
    async with connected(own.url) as engine:
        for name in (room, f"{room}-2", f"{room}-3"):
            await engine.create(name, Policy(mode=Mode.PAUSED))
        views = [await engine.join(name) for name in (room, f"{room}-2", f"{room}-3")]
        new = views.pop()
        with hung(own):
            waiters = [AsksAgain(engine, new.room, new.ticket) for _ in views]
            for waiter, view in zip(waiters, views, strict=True):
                assert engine.poll_for(waiter, view.room, view.ticket)
            await under_way()
            if told == "failed":
                engine.fail_waiting(Slow())
            else:
                assert 2 == engine.repeat_told(0.0, lambda *_: 60.0)
            assert [1, 1] == [len(waiter.told) for waiter in waiters]
        await engine._crowd.drain()


async def test_told_again(own: Server, room: str) -> None:
    """While the server hangs, a poll repeats the last answer, marked; not for called people."""
    async with connected(own.url) as engine:
        await engine.create(room, Policy(mode=Mode.MANUAL))
        first, second, third, fourth = await crowd(engine, room, 4)
        assert 2 == (await engine.poll(room, second.ticket)).position
        assert 1 == await engine.admit(room, 1)
        assert State.CALLED == (await engine.poll(room, first.ticket)).state
        await engine.leave(room, fourth.ticket)
        with hung(own):
            polls = [
                asyncio.ensure_future(engine.poll(room, view.ticket))
                for view in (first, second, third, fourth)
            ]
            await under_way()
            assert 0 == engine.repeat_told(60, lambda *_: 60.0), "nobody waits so long"
            assert 0 == engine.repeat_told(0.0, lambda *_: -1.0), "too long ago"
            assert 2 == engine.repeat_told(0.0, lambda *_: 60.0)
            views = await asyncio.gather(*polls[1:3])
            assert [(2, True), (3, True)] == [(view.position, view.stale) for view in views]
            assert [State.WAITING] * 2 == [view.state for view in views]
            assert not polls[0].done(), "called once, never told to wait again"
            assert not polls[3].done(), "it gave up its place"
        view = await polls[0]
        assert (State.CALLED, False) == (view.state, view.stale)
        assert State.GONE == (await polls[3]).state
        assert 1 == (await engine.poll(room, second.ticket)).position


async def test_hundreds_renew_one_ticket(own: Server, room: str) -> None:
    """The same call on many connections is made once per turn, and each gets its answer."""
    async with connected(own.url) as engine:
        await engine.create(room, Policy(capacity=1, renewable=True))
        inside = await engine.join(room, enter=True)
        scripts: list[Verb] = []
        engine.on_script(lambda verb, *_: scripts.append(verb))
        renewals = [asyncio.ensure_future(engine.renew(room, inside.ticket)) for _ in range(400)]
        views = await asyncio.gather(*renewals)
        assert {State.INSIDE} == {view.state for view in views}
        assert 400 / SINGLES_AT_ONCE == len(scripts)


async def test_calls_are_told(engine: Engine, room: str) -> None:
    """Observers learn of each script call, its length and how many shared it, failed or not."""
    await engine.create(room, Policy(mode=Mode.PAUSED))
    calls: list[tuple[Verb, float, int]] = []
    engine.on_script(lambda *call: calls.append(call))
    people = await crowd(engine, room, 7)
    await asyncio.gather(*(engine.poll(room, person.ticket) for person in people))
    await asyncio.gather(*(engine.check(room, person.id, 1) for person in people[:3]))
    await engine.stats(room)
    with pytest.raises(UnknownRoom):
        await engine.stats(f"{room}-none")
    expected = [(Verb.JOIN, 7), (Verb.POLL, 7), (Verb.CHECK, 3), (Verb.STATS, 1), (Verb.STATS, 1)]
    assert expected == [(verb, items) for verb, _, items in calls]
    assert all(0 < seconds < 60 for _, seconds, _ in calls)
