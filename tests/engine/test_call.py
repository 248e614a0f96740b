"""call: one ticket is called by hand, wherever it is in line."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.clock import Clock, crowd
from waitroom.engine import Engine, keys
from waitroom.errors import (
    Holding,
    InvalidInput,
    NoCapacity,
    NotWaiting,
    RoomPaused,
    UnknownRoom,
)
from waitroom.models import Mode, Policy, Reason, State, TicketView


async def line(engine: Engine, room: str, **policy: Any) -> list[TicketView]:
    """Make a manual room in which three people wait."""
    await engine.create(room, Policy(**{"mode": "manual", **policy}))
    return await crowd(engine, room, 3)


async def test_from_the_middle(engine: Engine, clock: Clock, room: str) -> None:
    """The ticket is called until the returned moment, and the others keep their order."""
    first, second, third = await line(engine, room, enter_within_s=30)
    assert clock.now_ms + 30_000 == await engine.call(room, second.id)
    assert State.CALLED is (await engine.poll(room, second.ticket)).state
    positions = [(await engine.poll(room, person.ticket)).position for person in (first, third)]
    assert [1, 2] == positions


async def test_no_limit_of_time(engine: Engine, room: str) -> None:
    """Without `enter_within_s` the turn has no end."""
    first, *_ = await line(engine, room, enter_within_s=None)
    assert None is await engine.call(room, first.id)


async def test_twice(engine: Engine, clock: Clock, room: str) -> None:
    """Calling somebody again returns the same moment, and counts once."""
    first, *_ = await line(engine, room)
    until = await engine.call(room, first.id)
    clock.step(5)
    assert until == await engine.call(room, first.id)
    assert 1 == (await engine.stats(room)).counters["called_total"]


async def test_repeat(engine: Engine, room: str) -> None:
    """The same `op_id` returns the first result, even if the ticket is inside by now."""
    first, *_ = await line(engine, room)
    until = await engine.call(room, first.id, op_id="one")
    await engine.enter(room, first.ticket)
    assert until == await engine.call(room, first.id, op_id="one")


async def test_stray_poll_after_the_session(engine: Engine, room: str) -> None:
    """Anybody called out of turn who has finished is not put back in line by a stray poll."""
    _, _, third = await line(engine, room)
    await engine.call(room, third.id)
    await engine.enter(room, third.ticket)
    await engine.finish(room, third.ticket)
    assert State.GONE is (await engine.poll(room, third.ticket)).state
    assert 2 == (await engine.stats(room)).waiting


async def test_missed(engine: Engine, clock: Clock, room: str) -> None:
    """Anybody called out of turn who did not come has lost the place."""
    _, _, third = await line(engine, room, enter_within_s=10)
    await engine.call(room, third.id)
    for _ in range(3):
        clock.step(4)
        await engine.advance(room)
    assert State.GONE is (await engine.poll(room, third.ticket)).state


async def test_those_in_front_are_not_passed(engine: Engine, clock: Clock, room: str) -> None:
    """A call out of turn does not cost the place of somebody in front who is away."""
    first, _, third = await line(engine, room, presence_s=10)
    for _ in range(4):
        clock.step(4)
        await engine.advance(room)
        await engine.poll(room, third.ticket)
    await engine.call(room, third.id)
    assert 1 == (await engine.poll(room, first.ticket)).position


async def test_not_waiting(engine: Engine, room: str) -> None:
    """People who are inside, gone or unknown cannot be called."""
    first, second, _ = await line(engine, room)
    await engine.admit(room, 1)
    await engine.enter(room, first.ticket)
    await engine.leave(room, second.ticket)
    for ticket_id in (first.id, second.id, "A" * 16):
        with pytest.raises(NotWaiting):
            await engine.call(room, ticket_id)


async def test_capacity(engine: Engine, room: str) -> None:
    """A full room calls nobody by hand, unless forced."""
    first, second, _ = await line(engine, room, capacity=1)
    await engine.call(room, first.id)
    with pytest.raises(NoCapacity):
        await engine.call(room, second.id)
    assert None is not await engine.call(room, second.id, force=True)


async def test_paused(engine: Engine, room: str) -> None:
    """A paused room calls nobody by hand, unless forced."""
    first, *_ = await line(engine, room)
    await engine.configure(room, mode=Mode.PAUSED)
    with pytest.raises(RoomPaused):
        await engine.call(room, first.id)
    assert None is not await engine.call(room, first.id, force=True)


async def test_holding(engine: Engine, clock: Clock, room: str) -> None:
    """While admission holds nobody is called by hand, unless forced."""
    first, *_ = await line(engine, room)
    clock.step(600)
    with pytest.raises(Holding):
        await engine.call(room, first.id)


async def test_refused_then_repeated(engine: Engine, room: str) -> None:
    """A refusal is not remembered: the same `op_id` may succeed once there is room."""
    first, second, _ = await line(engine, room, capacity=1)
    await engine.call(room, first.id)
    with pytest.raises(NoCapacity):
        await engine.call(room, second.id, op_id="two")
    await engine.configure(room, capacity=2)
    assert None is not await engine.call(room, second.id, op_id="two")


async def test_joining_again(engine: Engine, room: str) -> None:
    """Anybody called out of turn who left joins again at the end, with any old ticket."""
    first, _, third = await line(engine, room)
    await engine.call(room, first.id)
    await engine.leave(room, first.ticket)
    again = await engine.join(room, first.ticket)
    assert (3, 2) == (again.position, (await engine.poll(room, third.ticket)).position)
    assert 3 == (await engine.poll(room, first.ticket)).position


async def test_event(engine: Engine, room: str) -> None:
    """A call is one event."""
    first, *_ = await line(engine, room)
    await engine.call(room, first.id)
    ((_, fields),) = await engine.backend.client.xrange(keys.room_key(room, "events"))
    assert (b"called", first.id.encode()) == (fields[b"kind"], fields[b"ids"])


@pytest.mark.parametrize("ticket_id", ["", "x" * 65, "대기", b"x", None, 7], ids=repr)
async def test_bad_ids(engine: Engine, room: str, ticket_id: Any) -> None:
    """Text that cannot be a ticket id is refused."""
    await engine.create(room, Policy())
    with pytest.raises(InvalidInput):
        await engine.call(room, ticket_id)


async def test_unknown_room(engine: Engine, room: str) -> None:
    """Nobody can be called in a room that does not exist."""
    with pytest.raises(UnknownRoom):
        await engine.call(room, "A" * 16)


async def test_reason_after_a_missed_turn_unswept(engine: Engine, clock: Clock, room: str) -> None:
    """Before a sweep has run, a missed turn already reads `no_show`."""
    first, second, _ = await line(engine, room, enter_within_s=10)
    await engine.call(room, first.id)
    for _ in range(3):
        clock.step(4)
        await engine.poll(room, second.ticket)
    assert Reason.NO_SHOW is (await engine.poll(room, first.ticket)).reason
