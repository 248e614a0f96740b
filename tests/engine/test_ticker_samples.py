"""The ticker samples the rooms it visits: rarely, up to the last change, without harm."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from tests.support.clock import Clock, crowd, open_engine
from tests.support.servers import start_server
from waitroom import ticker
from waitroom.engine import Engine, keys
from waitroom.engine.scripts import Verb
from waitroom.models import Mode, Policy, State
from waitroom.ticker import Ticker

PAUSED = Policy(mode=Mode.PAUSED, presence_s=None)


@pytest.fixture
async def engine(tmp_path: Path, clock: Clock) -> AsyncIterator[Engine]:
    """Connect to a server without other tests' rooms, which a ticker would visit too."""
    with start_server("valkey", tmp_path / "s") as server:
        async with open_engine(server.url, clock) as engine:
            yield engine


async def until(true: Callable[[], Awaitable[bool]]) -> None:
    """Wait until something is true."""
    async with asyncio.timeout(60):
        while not await true():  # noqa: ASYNC110 - it is true at the server
            await asyncio.sleep(0.01)


def counted(engine: Engine) -> Counter[Verb]:
    """Count the script calls of an engine from now on."""
    calls: Counter[Verb] = Counter()
    engine.on_script(lambda verb, _seconds, _items: calls.update([verb]))
    return calls


async def test_a_visited_room_is_sampled(
    engine: Engine, room: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A busy room is sampled once, however often the ticker visits it meanwhile."""
    monkeypatch.setattr(ticker, "SAMPLE_S", 600.0)  # all of the test, however slow the machine is
    await engine.create(room, PAUSED)
    calls = counted(engine)
    async with Ticker(engine) as ticking:
        await engine.join(room)
        await until(lambda: _sampled(engine, room, 1))
        for wanted in (2, 3):
            ticking.touch(room)
            await until(lambda: _advanced(calls, wanted))  # noqa: B023 - awaited here
        assert 1 == calls[Verb.SAMPLE]


async def test_a_ticker_gives_back_what_it_hears(
    engine: Engine, room: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stopped ticker is told of no more changes; one that never started can stop."""
    heard: list[str] = []
    monkeypatch.setattr(Ticker, "touch", lambda _, changed: heard.append(changed))
    async with Ticker(engine):
        await engine.create(room, PAUSED)
    before = len(heard)
    assert room in heard
    await engine.join(room)
    assert before == len(heard)
    await Ticker(engine).stop()


async def test_the_last_change_is_seen(
    engine: Engine, clock: Clock, room: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A change between two samples is in the next one, and an idle room then costs nothing."""
    monkeypatch.setattr(ticker, "SAMPLE_S", 0.3)
    await engine.create(room, PAUSED)
    calls = counted(engine)
    async with Ticker(engine):
        person = await engine.join(room)
        await until(lambda: _sampled(engine, room, 1))
        clock.step(6)
        await engine.leave(room, person.ticket)
        await until(lambda: _sampled(engine, room, 2))
        assert [1, 0] == [sample.waiting for sample in await engine.series(room)]
        await until(lambda: _asked(calls, 2))
        before = Counter(calls)
        await asyncio.sleep(0.8)
        assert before == calls


async def test_samples_that_fail_do_no_harm(engine: Engine, room: str) -> None:
    """A room whose samples cannot be written continues: people are called."""
    await engine.create(room, Policy(capacity=1))
    first, second = await crowd(engine, room, 2)
    await engine.backend.client.set(keys.room_key(room, "series"), "x")
    async with Ticker(engine) as ticking:
        calls = counted(engine)
        ticking.touch(room)
        await until(lambda: _advanced(calls, 1))
        await engine.backend.client.zrem(keys.room_key(room, "called"), first.id)
        ticking.touch(room)
        await until(lambda: _called(engine, room, second.ticket))
        assert {} == ticking._failures


async def test_new_rooms_are_not_sampled(engine: Engine, room: str) -> None:
    """A room that was created but not visited has no samples, so nothing needs tidying."""
    calls = counted(engine)
    async with Ticker(engine):
        await engine.create(room, PAUSED)
        await until(lambda: _asked(calls, 1))
        assert not await engine.backend.client.exists(keys.room_key(room, "series"))


async def test_history_is_written(
    engine: Engine, clock: Clock, room: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When a span is over it is written, even in a room that is empty by now."""
    monkeypatch.setattr(ticker, "SAMPLE_S", 0.3)
    monkeypatch.setattr(ticker, "HISTORY_SPREAD_S", (0.0, 0.05))
    await engine.create(room, PAUSED)
    person = await engine.join(room)
    await engine.leave(room, person.ticket)
    clock.step(599.7)
    async with Ticker(engine) as ticking:
        ticking.touch(room)
        await until(lambda: _sampled(engine, room, 1))
        clock.step(0.4)
        await until(lambda: _kept(engine, room, "tens", 1))
        assert await _kept(engine, room, "minutes", 1)
        assert await _sampled(engine, room, 1)


async def test_what_was_left_behind_is_written(engine: Engine, clock: Clock, room: str) -> None:
    """A starting process writes the spans of one that ended before they were over."""
    await engine.create(room, PAUSED)
    person = await engine.join(room)
    await engine.leave(room, person.ticket)
    assert await engine.sample(room)
    clock.step(600)
    async with Ticker(engine):
        await until(lambda: _kept(engine, room, "tens", 1))


async def test_what_newcomers_are_told(engine: Engine, room: str) -> None:
    """A sample has the server's estimate, and is also taken without one."""
    await engine.create(room, PAUSED)
    asked: list[tuple[str, int]] = []

    async def told(name: str, waiting: int) -> int:
        asked.append((name, waiting))
        return 240

    async def fails(name: str, waiting: int) -> int:
        raise ArithmeticError(name, waiting)

    for newcomer_wait, expected in ((told, 240), (fails, None)):
        other = f"{room}-{expected}"
        await engine.create(other, PAUSED)
        await engine.join(other)
        async with Ticker(engine, newcomer_wait=newcomer_wait) as ticking:
            ticking.touch(other)
            await until(lambda: _sampled(engine, other, 1))  # noqa: B023 - awaited here
        (sample,) = await engine.series(other)
        assert expected == sample.told_s
    assert (f"{room}-240", 1) in asked


async def _kept(engine: Engine, room: str, name: str, spans: int) -> bool:
    return bool(spans == await engine.backend.client.xlen(keys.room_key(room, name)))


async def _sampled(engine: Engine, room: str, times: int) -> bool:
    return times == len(await engine.series(room))


async def _advanced(calls: Counter[Verb], times: int) -> bool:
    return calls[Verb.ADVANCE] >= times


async def _asked(calls: Counter[Verb], times: int) -> bool:
    return calls[Verb.SAMPLE] >= times


async def _called(engine: Engine, room: str, ticket: str) -> bool:
    return (await engine.poll(room, ticket)).state is State.CALLED
