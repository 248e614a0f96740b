"""A room that is over, by its mode or by `ends_at`: nobody new, nobody called, no place lost."""

from __future__ import annotations

import pytest

from tests.support.clock import Clock, crowd
from waitroom.engine import Engine
from waitroom.errors import RoomEnded, RoomPaused
from waitroom.models import Mode, Policy, State
from waitroom.moments import from_ms

SOON_S = 60


async def a_line(
    engine: Engine, room: str, clock: Clock, *, by_time: bool, **policy: object
) -> None:
    """Make a room with one place, which will end."""
    ends_at = from_ms(clock.now_ms + SOON_S * 1000) if by_time else None
    fields = {"capacity": 1, "presence_s": 10, "session_s": 600, "ends_at": ends_at}
    await engine.create(room, Policy(**(fields | policy)))  # type: ignore[arg-type]


async def end(engine: Engine, room: str, clock: Clock, *, by_time: bool) -> None:
    """Make the end come, by itself or by an operator."""
    if by_time:
        clock.step(SOON_S)
    else:
        await engine.configure(room, mode=Mode.ENDED)


@pytest.mark.parametrize("by_time", [False, True], ids=["by mode", "by time"])
async def test_it_is_over(engine: Engine, clock: Clock, room: str, by_time: bool) -> None:
    """Newcomers are refused, called people may enter, waiting people keep a place, uncalled."""
    await a_line(engine, room, clock, by_time=by_time, presence_s=None, enter_within_s=300)
    called, *waiting = await crowd(engine, room, 3)
    assert State.CALLED is called.state
    await end(engine, room, clock, by_time=by_time)

    with pytest.raises(RoomEnded) as caught:
        await engine.join(room)
    assert "room_ended" == caught.value.code
    entered = await engine.enter(room, called.ticket)
    assert State.INSIDE is entered.state
    await engine.finish(room, called.ticket)
    assert 0 == (await engine.advance(room)).called
    stats = await engine.stats(room)
    assert (Mode.ENDED, 2, 0, 0) == (stats.mode, stats.waiting, stats.called, stats.inside)
    views = [await engine.poll(room, view.ticket) for view in waiting]
    assert [(State.WAITING, 1), (State.WAITING, 2)] == [
        (view.state, view.position) for view in views
    ]
    with pytest.raises(RoomPaused):
        await engine.admit(room, 1)
    assert 1 == await engine.admit(room, 1, force=True)


@pytest.mark.parametrize("by_time", [False, True], ids=["by mode", "by time"])
async def test_a_mistake_can_be_undone(
    engine: Engine, clock: Clock, room: str, by_time: bool
) -> None:
    """Nobody is dropped for silence meanwhile, and everybody's time starts at the reopening."""
    await a_line(engine, room, clock, by_time=by_time, return_s=5)
    views = await crowd(engine, room, 3)
    await end(engine, room, clock, by_time=by_time)
    clock.step(7_200)
    assert 0 == (await engine.advance(room)).abandoned
    assert 2 == (await engine.stats(room)).waiting
    await engine.configure(room, mode=Mode.OPEN, ends_at=None)
    clock.step(9)
    assert 0 == (await engine.advance(room)).abandoned
    assert 1 == (await engine.poll(room, views[1].ticket)).position
    assert (await engine.join(room)).state is State.WAITING


async def test_ends_at_is_judged_by_the_servers_clock(
    engine: Engine, clock: Clock, room: str
) -> None:
    """One ms before, it is open; once over, a clock that is set back does not reopen it."""
    await a_line(engine, room, clock, by_time=True)
    clock.step(SOON_S - 0.001)
    assert Mode.OPEN is (await engine.stats(room)).mode
    await engine.join(room)
    clock.step(0.001)
    with pytest.raises(RoomEnded):
        await engine.join(room)
    clock.step(-30)
    with pytest.raises(RoomEnded):
        await engine.join(room)
    assert Mode.ENDED is (await engine.stats(room)).mode
    await engine.configure(room, ends_at=from_ms(clock.now_ms + 1_000))
    assert Mode.OPEN is (await engine.stats(room)).mode


@pytest.mark.parametrize("mode", [Mode.BYPASS, Mode.MANUAL, Mode.PAUSED, Mode.CLOSED])
async def test_ends_at_ends_every_mode(engine: Engine, clock: Clock, room: str, mode: Mode) -> None:
    """The end counts in every mode."""
    await a_line(engine, room, clock, by_time=True, mode=mode)
    clock.step(SOON_S)
    with pytest.raises(RoomEnded):
        await engine.join(room, enter=True)
    assert Mode.ENDED is (await engine.stats(room)).mode


async def test_the_ticker_has_nothing_to_do(engine: Engine, clock: Clock, room: str) -> None:
    """A sweep that is overdue when a room ends does not wake the ticker endlessly."""
    await a_line(engine, room, clock, by_time=True)
    await crowd(engine, room, 3)
    await engine.advance(room)
    clock.step(SOON_S)
    done = await engine.advance(room)
    assert (0, 0, False) == (done.called, done.abandoned, done.more)
    assert clock.now_ms + 1_000 == done.due_ms
