"""admit: the first people are called by hand, as the limits allow, or by force."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.clock import Clock, crowd
from waitroom.engine import Engine, Join, keys
from waitroom.errors import (
    Holding,
    InvalidInput,
    InvalidRoomName,
    NoCapacity,
    RoomPaused,
    UnknownRoom,
)
from waitroom.models import Mode, Policy, State
from waitroom.moments import from_ms


async def line(engine: Engine, room: str, people: int, **policy: Any) -> list[str]:
    """Make a manual room with people waiting; return their tickets."""
    await engine.create(room, Policy(**{"mode": "manual", **policy}))
    return [person.ticket for person in await crowd(engine, room, people)]


async def test_first_in_line(engine: Engine, room: str) -> None:
    """The first `count` people are called, and their number is returned."""
    tickets = await line(engine, room, 4)
    assert 3 == await engine.admit(room, 3)
    states = [(await engine.poll(room, ticket)).state for ticket in tickets]
    assert [State.CALLED] * 3 + [State.WAITING] == states


async def test_fewer_than_asked(engine: Engine, room: str) -> None:
    """If fewer people wait, their number is returned; for an empty line, 0."""
    await line(engine, room, 2)
    assert (2, 0) == (await engine.admit(room, 5), await engine.admit(room, 5))


async def test_capacity(engine: Engine, room: str) -> None:
    """The capacity also holds for calls by hand; once it is used up, the answer is an error."""
    await line(engine, room, 4, capacity=3)
    assert 3 == await engine.admit(room, 4)
    with pytest.raises(NoCapacity):
        await engine.admit(room, 1)


async def test_rolling_limit(engine: Engine, room: str) -> None:
    """The rolling limit also holds for calls by hand."""
    await line(engine, room, 4, max_entries=2, per_s=60)
    assert 2 == await engine.admit(room, 4)
    with pytest.raises(NoCapacity):
        await engine.admit(room, 1)


async def test_pace_is_for_the_ticker(engine: Engine, room: str) -> None:
    """The pace limits automatic calls, not calls by hand."""
    await line(engine, room, 4, batch=1, every_s=60)
    assert 4 == await engine.admit(room, 4)


async def test_forced(engine: Engine, room: str) -> None:
    """Force overrides the limits."""
    await line(engine, room, 4, capacity=1, max_entries=1, per_s=60)
    assert 4 == await engine.admit(room, 4, force=True)


@pytest.mark.parametrize("mode", ["paused", "closed"])
async def test_modes(engine: Engine, room: str, mode: str) -> None:
    """In a paused or closed room nobody is called by hand, unless forced."""
    await line(engine, room, 1)
    await engine.configure(room, mode=mode)
    with pytest.raises(RoomPaused):
        await engine.admit(room, 1)
    assert 1 == await engine.admit(room, 1, force=True)


async def test_before_opening(engine: Engine, clock: Clock, room: str) -> None:
    """Before the opening nobody is called by hand, unless forced."""
    await line(engine, room, 1, opens_at=from_ms(clock.now_ms + 60_000))
    with pytest.raises(RoomPaused):
        await engine.admit(room, 1)


async def test_open_room(engine: Engine, room: str) -> None:
    """In an open room an operator can call people in addition to the pace."""
    await line(engine, room, 3, mode=Mode.OPEN, batch=1, every_s=10)
    assert 2 == await engine.admit(room, 5)


async def test_holding(engine: Engine, clock: Clock, room: str) -> None:
    """While admission holds after an outage nobody is called by hand, unless forced."""
    await line(engine, room, 1)
    clock.step(600)
    with pytest.raises(Holding):
        await engine.admit(room, 1)
    assert 1 == await engine.admit(room, 1, force=True)


async def test_absent_are_skipped(engine: Engine, clock: Clock, room: str) -> None:
    """People who are gone do not count as admitted."""
    await line(engine, room, 3, presence_s=20)
    for _ in range(3):
        clock.step(8)
        present = await engine.join(room, visitor="kim")
    assert 1 == await engine.admit(room, 1)
    assert State.CALLED is (await engine.poll(room, present.ticket)).state


async def test_more_than_a_script_may_move(engine: Engine, room: str) -> None:
    """A large number is admitted in steps of at most 500."""
    await engine.create(room, Policy(mode=Mode.MANUAL))
    for _ in range(3):
        await engine.join_many(room, [Join()] * 400)
    assert 1_100 == await engine.admit(room, 1_100)
    events = await engine.backend.client.xrange(keys.room_key(room, "events"))
    assert [500, 500, 100] == [len(fields[b"ids"].split()) for _, fields in events]


async def test_repeat(engine: Engine, room: str) -> None:
    """The same `op_id` admits once: a repeat returns the first result."""
    await line(engine, room, 6)
    assert [2, 2] == [await engine.admit(room, 2, op_id="one") for _ in range(2)]
    assert (4, 2) == (await engine.admit(room, 9), (await engine.admit(room, 2, op_id="one")))
    assert 6 == (await engine.stats(room)).counters["called_total"]


async def test_repeat_in_steps(engine: Engine, room: str) -> None:
    """A repeat admits nobody else, even if limits cut the first call short after a step."""
    await engine.create(room, Policy(mode=Mode.MANUAL, capacity=500))
    for _ in range(3):
        await engine.join_many(room, [Join()] * 400)
    assert 500 == await engine.admit(room, 1_000, op_id="one")
    await engine.configure(room, capacity=1_000)
    assert 500 == await engine.admit(room, 1_000, op_id="one")


async def test_watermark(engine: Engine, room: str) -> None:
    """Anybody called by hand from the head has had their turn: a stray ticket is passed."""
    tickets = await line(engine, room, 2)
    await engine.admit(room, 2)
    await engine.enter(room, tickets[0])
    await engine.finish(room, tickets[0])
    assert State.GONE is (await engine.poll(room, tickets[0])).state


@pytest.mark.parametrize("count", [0, -1, 1_000_001, True, 1.5, "9", None])
async def test_bad_counts(engine: Engine, room: str, count: Any) -> None:
    """A count that is not a valid number of people is refused, and nobody is called."""
    await line(engine, room, 1)
    with pytest.raises(InvalidInput) as caught:
        await engine.admit(room, count)
    assert ("count", 1) == (caught.value.field, (await engine.stats(room)).waiting)


async def test_rooms(engine: Engine, room: str) -> None:
    """Neither an unknown room nor a bad name admits anybody."""
    with pytest.raises(UnknownRoom):
        await engine.admit(room, 1)
    with pytest.raises(InvalidRoomName):
        await engine.admit("a b", 1)
