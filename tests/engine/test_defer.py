"""defer: a ticket lets some people go first, as often as the room allows."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.clock import Clock, crowd
from waitroom.engine import Engine
from waitroom.errors import (
    DefersUsedUp,
    InvalidInput,
    InvalidTicket,
    NobodyBehind,
    NotWaiting,
    RoomNotOpen,
)
from waitroom.models import BeforeOpen, Policy, State, TicketView
from waitroom.moments import from_ms


async def line(engine: Engine, room: str, people: int = 4, **policy: Any) -> list[TicketView]:
    """Make a paused room with people who may defer twice."""
    await engine.create(room, Policy(**{"mode": "paused", "max_defers": 2, **policy}))
    return await crowd(engine, room, people)


async def order(engine: Engine, room: str) -> list[str]:
    """Return the ids of the people who wait, in order."""
    return [ticket.id for ticket in (await engine.list(room)).tickets]


async def away(engine: Engine, clock: Clock, room: str) -> None:
    """Make everybody who waits be dropped for silence."""
    for _ in range(4):
        clock.step(4)
        await engine.advance(room)
    assert [] == await order(engine, room)


async def test_behind_the_next(engine: Engine, room: str) -> None:
    """One place back lets exactly the next person go first."""
    a, b, c, d = await line(engine, room)
    moved = await engine.defer(room, a.ticket, 1)
    assert (State.WAITING, 2) == (moved.state, moved.position)
    assert [b.id, a.id, c.id, d.id] == await order(engine, room)


async def test_beyond_the_end(engine: Engine, room: str) -> None:
    """More places than there are people lead to the end of the line."""
    a, b, c, d = await line(engine, room)
    assert 4 == (await engine.defer(room, a.ticket, 99)).position
    assert [b.id, c.id, d.id, a.id] == await order(engine, room)


async def test_newcomers_stay_behind(engine: Engine, room: str) -> None:
    """Anybody who joins after a deferral to the end is behind it."""
    a, *_ = await line(engine, room, 2)
    await engine.defer(room, a.ticket, 9)
    assert 3 == (await engine.join(room)).position
    assert 2 == (await engine.poll(room, a.ticket)).position


async def test_last_in_line(engine: Engine, room: str) -> None:
    """The last person has nobody to let go first: they are told so, and use up no deferral."""
    *_, last = await line(engine, room, 2, max_defers=1)
    with pytest.raises(NobodyBehind):
        await engine.defer(room, last.ticket, 1)
    assert 2 == (await engine.poll(room, last.ticket)).position
    await engine.join(room)
    assert 3 == (await engine.defer(room, last.ticket, 1)).position


async def test_many_behind_one(engine: Engine, room: str) -> None:
    """Seven fit behind one person, in order of arrival; more go behind the next."""
    people = await line(engine, room, 12)
    ids = [person.id for person in people]
    for n in range(10):
        await engine.defer(room, people[n].ticket, 10 - n)
    assert [ids[10], *ids[:7], ids[11], *ids[7:10]] == await order(engine, room)


async def test_max_defers(engine: Engine, room: str) -> None:
    """A ticket may go back `max_defers` times."""
    a, *_ = await line(engine, room)
    once = await engine.defer(room, a.ticket, 1)
    twice = await engine.defer(room, once.ticket, 1)
    assert 3 == twice.position
    with pytest.raises(DefersUsedUp):
        await engine.defer(room, twice.ticket, 1)


async def test_no_defers(engine: Engine, room: str) -> None:
    """By default nobody may defer."""
    a, *_ = await line(engine, room, max_defers=0)
    with pytest.raises(DefersUsedUp):
        await engine.defer(room, a.ticket, 1)


async def test_older_ticket_counts_too(engine: Engine, room: str) -> None:
    """Deferring with the older ticket does not restore used deferrals."""
    a, *_ = await line(engine, room, max_defers=1)
    await engine.defer(room, a.ticket, 1)
    with pytest.raises(DefersUsedUp):
        await engine.defer(room, a.ticket, 1)


async def test_ticket_carries_its_generation(engine: Engine, room: str) -> None:
    """The new ticket string counts how often its place went back."""
    a, *_ = await line(engine, room)
    once = await engine.defer(room, a.ticket, 1)
    twice = await engine.defer(room, once.ticket, 1)
    tickets = [engine.ring.read(room, person.ticket) for person in (a, once, twice)]
    assert [0, 1, 2] == [ticket.generation for ticket in tickets]
    assert sorted(ticket.place for ticket in tickets) == [ticket.place for ticket in tickets]


async def test_older_generation_restores_no_older_place(
    engine: Engine, clock: Clock, room: str
) -> None:
    """After a deferral the first ticket brings back the deferred place, not the first one."""
    a, b, c, d = await line(engine, room, presence_s=10)
    await engine.defer(room, a.ticket, 2)
    await away(engine, clock, room)
    for person in (a, b, c, d):
        await engine.poll(room, person.ticket)
    assert [b.id, c.id, a.id, d.id] == await order(engine, room)


async def test_deferred_place_is_restored(engine: Engine, clock: Clock, room: str) -> None:
    """The new ticket brings the deferred place back."""
    a, b, c, d = await line(engine, room, presence_s=10)
    moved = await engine.defer(room, a.ticket, 1)
    await away(engine, clock, room)
    for person in (moved, b, c, d):
        await engine.poll(room, person.ticket)
    assert [b.id, a.id, c.id, d.id] == await order(engine, room)


async def test_repeat(engine: Engine, room: str) -> None:
    """The same `op_id` defers once, and returns the same place."""
    a, *_ = await line(engine, room)
    first = await engine.defer(room, a.ticket, 1, op_id="one")
    assert first == await engine.defer(room, a.ticket, 1, op_id="one")
    assert 2 == (await engine.poll(room, a.ticket)).position
    assert 1 == (await engine.stats(room)).counters["deferred"]


async def test_not_waiting(engine: Engine, room: str) -> None:
    """People who are called or gone cannot defer."""
    a, b, *_ = await line(engine, room)
    await engine.admit(room, 1, force=True)
    await engine.leave(room, b.ticket)
    for person in (a, b):
        with pytest.raises(NotWaiting):
            await engine.defer(room, person.ticket, 1)


async def test_before_the_draw(engine: Engine, clock: Clock, room: str) -> None:
    """Before a draw nobody can defer, because nobody may know their place yet."""
    a, *_ = await line(
        engine, room, opens_at=from_ms(clock.now_ms + 60_000), before_open=BeforeOpen.DRAW
    )
    with pytest.raises(RoomNotOpen):
        await engine.defer(room, a.ticket, 1)


async def test_heartbeat(engine: Engine, clock: Clock, room: str) -> None:
    """Deferring is a sign of life."""
    a, *_ = await line(engine, room, presence_s=10)
    clock.step(5)
    await engine.advance(room)
    clock.step(4)
    moved = await engine.defer(room, a.ticket, 1)
    clock.step(4)
    await engine.advance(room)
    assert [moved.id] == await order(engine, room)


async def test_called_in_the_new_order(engine: Engine, room: str) -> None:
    """Admission follows the line after the deferral."""
    a, b, *_ = await line(engine, room)
    moved = await engine.defer(room, a.ticket, 1)
    await engine.admit(room, 1, force=True)
    assert State.CALLED is (await engine.poll(room, b.ticket)).state
    assert 1 == (await engine.poll(room, moved.ticket)).position


@pytest.mark.parametrize("places", [0, -1, 1_000_001, True, 1.5, "1", None])
async def test_bad_counts(engine: Engine, room: str, places: Any) -> None:
    """An invalid number of places is refused."""
    a, *_ = await line(engine, room)
    with pytest.raises(InvalidInput) as caught:
        await engine.defer(room, a.ticket, places)
    assert "places" == caught.value.field


async def test_bad_ticket(engine: Engine, room: str) -> None:
    """A forged ticket moves nobody."""
    await line(engine, room)
    with pytest.raises(InvalidTicket):
        await engine.defer(room, "x" * 90, 1)
