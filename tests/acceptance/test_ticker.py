"""The ticker sleeps until something is due, backs off, and stops cleanly; any process will do."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.tools import Log, Notes, read_notes, workers
from tests.support.clock import open_engine
from tests.support.figures import say
from tests.support.servers import LONGEST_S, start_server
from waitroom import ticker as ticker_module
from waitroom.engine import Engine
from waitroom.errors import Unavailable
from waitroom.models import Policy, State, TicketView
from waitroom.ticker import Ticker

ROOM = "ticked"
NEVER_S = 3600.0


async def tick(url: str, lap_s: float, notes: Path) -> None:
    """Act as a process that only ticks, until it is killed."""
    async with open_engine(url) as engine, Ticker(engine, lap_s=lap_s):
        Notes(notes).add(op="ready")
        await asyncio.sleep(600)


async def _ready(folder: Path, workers: int) -> None:
    for _ in range(12_000):
        if len(read_notes(folder)) >= workers:
            return
        await asyncio.sleep(0.01)
    raise AssertionError("the workers did not start")


async def _calls(engine: Engine) -> int:
    """Return how many scripts the server has run."""
    client: Any = engine.backend.client
    commands = await client.info("commandstats")
    return sum(
        int(commands.get(f"cmdstat_{name}", {}).get("calls", 0)) for name in ("eval", "evalsha")
    )


async def _until_true(true: Callable[[], bool]) -> None:
    """Wait until something in this process is so; nothing else says it."""
    async with asyncio.timeout(LONGEST_S):
        while not true():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def _asleep(engine: Engine, for_s: float) -> int:
    """Wait until no script has run for a while; return how many have run. A busy machine may be
    late with a step that was asked for, but not with one after another.
    """
    calls = await _calls(engine)
    for _ in range(4):
        await asyncio.sleep(for_s)
        before, calls = calls, await _calls(engine)
        if before == calls:
            return calls
    raise AssertionError("it does not sleep")


async def _until(engine: Engine, view: TicketView, state: State) -> float:
    """Wait until a ticket is in a state; return how long that took."""
    began = time.monotonic()
    while time.monotonic() < began + LONGEST_S:
        try:
            if (await engine.poll(ROOM, view.ticket)).state is state:
                return time.monotonic() - began
        except Unavailable:
            pass
        await asyncio.sleep(0.01)
    raise AssertionError(f"not {state} within {LONGEST_S} s")


async def test_it_sleeps_until_something_is_due(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A room with one session costs a handful of calls until the session ends, and then none."""
    # Samples, history after each minute, and laps cost calls of their own.
    monkeypatch.setattr(ticker_module, "SAMPLE_S", NEVER_S)
    monkeypatch.setattr(ticker_module, "HISTORY_SPREAD_S", (NEVER_S, NEVER_S))
    with start_server("valkey", tmp_path / "s") as server:
        async with open_engine(server.url) as engine, open_engine(server.url) as other:
            await engine.create(ROOM, Policy(capacity=1, session_s=5))
            async with Ticker(engine, lap_s=NEVER_S):
                await engine.join(ROOM, enter=True)
                before = await _asleep(other, 0.8)
                async with asyncio.timeout(LONGEST_S):
                    while await _calls(other) == before:  # noqa: ASYNC110 - a server has no event
                        await asyncio.sleep(0.05)
                ended = await _asleep(other, 0.5) - before
                assert 1 <= ended <= 3
                assert 1 == (await other.stats(ROOM)).counters["expired"]
            say(f"{ended} calls for one session's end, 0 before and after")


async def test_it_stops_cleanly(tmp_path: Path) -> None:
    """After `stop()` nothing is left running, in the process or on the server."""
    with start_server("valkey", tmp_path / "s") as server:
        async with open_engine(server.url) as engine, open_engine(server.url) as other:
            # A call every 50 ms: the line is still long when all have joined, on any machine.
            await engine.create(ROOM, Policy(batch=1, every_s=0.05, presence_s=None))
            tasks = len(asyncio.all_tasks())
            ticker = Ticker(engine, lap_s=0.05)
            ticker.start()
            views = [await engine.join(ROOM) for _ in range(200)]
            busy = await _calls(other)
            while await _calls(other) < busy + 20:  # noqa: ASYNC110 - a server has no event
                await asyncio.sleep(0.02)
            await ticker.stop()
            assert tasks == len(asyncio.all_tasks())
            await engine.poll(ROOM, views[-1].ticket)
            before = await _calls(other)
            await engine.poll(ROOM, views[-1].ticket)
            await asyncio.sleep(0.3)
            assert 1 == await _calls(other) - before
            await ticker.stop()  # a second stop does no harm


async def test_it_stops_when_a_change_comes_in_the_same_moment(tmp_path: Path) -> None:
    """A verb asks for a step at the very moment of `stop()`: it still stops."""
    with start_server("valkey", tmp_path / "s") as server:
        async with open_engine(server.url) as engine:
            await engine.create(ROOM, Policy(capacity=1))
            for _ in range(3):
                ticker = Ticker(engine)
                ticker.start()
                await asyncio.sleep(0.05)  # it is asleep now
                ticker.touch(ROOM)
                stopping = asyncio.create_task(ticker.stop())
                done, _ = await asyncio.wait({stopping}, timeout=LONGEST_S)
                for task in ticker._loops:
                    task.cancel()
                assert done, "stop() hangs"


async def test_it_backs_off_while_the_server_is_away(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The server is killed: few attempts, few log lines, and it recovers by itself."""
    caplog.set_level(logging.WARNING, "waitroom.ticker")
    with start_server("valkey", tmp_path / "s", aof=True) as server:
        async with open_engine(server.url) as engine:
            await engine.create(ROOM, Policy(capacity=1, session_s=2.5))
            async with Ticker(engine, lap_s=0.5) as ticker:
                await engine.join(ROOM, enter=True)
                next_one = await engine.join(ROOM)
                await asyncio.sleep(0.1)
                server.kill()
                await asyncio.sleep(2)
                await _until_true(lambda: ROOM in ticker._failures)
                failures = ticker._failures[ROOM]
                assert failures <= 8, "it does not back off"
                server.restart()
                took = await _until(engine, next_one, State.CALLED)
            words = [record for record in caplog.records if ROOM in record.getMessage()]
            assert 1 == len(words), "it repeats itself"
            say(f"1 kill, {failures} failed steps in 2 s; next one called {took:.1f} s later")


async def test_another_process_hands_over(tmp_path: Path) -> None:
    """A session ends; the ticker of an uninvolved process calls the next person."""
    late_ms: list[int] = []
    with start_server("valkey", tmp_path / "s") as server:
        async with open_engine(server.url) as engine:
            await engine.create(ROOM, Policy(capacity=1, session_s=0.6))
            log = Log(engine.backend.client, ROOM)
            with workers(tick, (server.url, 0.2, tmp_path / "a.notes")):
                await _ready(tmp_path, 1)
                inside = await engine.join(ROOM, enter=True)
                for _ in range(3):
                    next_one = await engine.join(ROOM)
                    ends = inside.session_ends_at_ms
                    assert ends is not None
                    await _until(engine, next_one, State.CALLED)
                    await log.catch_up()
                    (called,) = [e for e in log.events if e.ids == (next_one.id,)]
                    late_ms.append(called.at_ms - ends)
                    inside = await engine.enter(ROOM, next_one.ticket)
    say(f"called {late_ms} ms after the end of a session")
    assert all(late >= 0 for late in late_ms)


async def test_a_killed_process_is_replaced_by_anothers_lap(tmp_path: Path) -> None:
    """The only process that knew of a deadline is killed; another one's lap finds the room."""
    with start_server("valkey", tmp_path / "s") as server:
        async with open_engine(server.url) as engine:
            await engine.create(ROOM, Policy(capacity=1, session_s=6))
            first, second = (tmp_path / f"{name}.notes" for name in "ab")
            with workers(tick, (server.url, 0.1, first), (server.url, 1.0, second)) as running:
                await _ready(tmp_path, 2)
                await engine.join(ROOM, enter=True)
                next_one = await engine.join(ROOM)
                await asyncio.sleep(0.3)
                running[0].kill()
                running[0].join()
                assert State.WAITING == (await engine.poll(ROOM, next_one.ticket)).state
                took = await _until(engine, next_one, State.CALLED)
    say(f"1 kill of the process that knew; called by the other one {took:.1f} s later")


async def test_rooms_that_nobody_visits_come_back_after_a_loss(tmp_path: Path) -> None:
    """FLUSHALL of empty rooms: the ticker restores those it remembers, except a dropped one."""
    with start_server("valkey", tmp_path) as server:
        async with open_engine(server.url) as other:
            await other.create("kept", Policy(capacity=7))
            await other.create("dropped", Policy())
            async with open_engine(server.url) as engine, Ticker(engine, lap_s=0.1):
                await _until_true(lambda: engine.remembered() >= {"kept", "dropped"})
                await other.drop("dropped")
                await _until_true(lambda: "dropped" not in engine.remembered())
                server.command("FLUSHALL")
                async with asyncio.timeout(LONGEST_S):
                    while not await engine.rooms():  # noqa: ASYNC110 - a server has no event
                        await asyncio.sleep(0.01)
                assert ("kept",) == await engine.rooms()
                async with open_engine(server.url) as fresh:
                    assert 7 == (await fresh.room("kept")).policy.capacity


async def test_it_stops_in_the_middle_of_a_lap(tmp_path: Path) -> None:
    """Whatever the lap is asking the server, stopping ends it."""
    with start_server("valkey", tmp_path) as server:
        async with open_engine(server.url) as engine:
            for number in range(300):
                await engine.create(f"room-{number}", Policy())
        for number in range(20):
            async with open_engine(server.url) as engine:
                ticker = Ticker(engine, lap_s=0.01)
                ticker.start()
                await asyncio.sleep(0.004 * number)
                async with asyncio.timeout(LONGEST_S):
                    await ticker.stop()
