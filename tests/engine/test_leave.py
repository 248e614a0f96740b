"""leave: a place, a turn or a session is given up, and nothing restores it by accident."""

from __future__ import annotations

import pytest

from tests.support.clock import Clock, crowd
from waitroom.engine import Engine, keys
from waitroom.errors import InvalidTicket
from waitroom.models import Mode, Policy, Reason, State, TicketView


async def test_waiting(engine: Engine, room: str) -> None:
    """Anybody who leaves the line is gone, and people behind move up."""
    await engine.create(room, Policy(mode=Mode.PAUSED))
    first, second = await crowd(engine, room, 2)
    gone = await engine.leave(room, first.ticket)
    assert (State.GONE, Reason.LEFT) == (gone.state, gone.reason)
    assert 1 == (await engine.poll(room, second.ticket)).position


async def test_stray_poll(engine: Engine, room: str) -> None:
    """A poll after leaving does not restore the place."""
    await engine.create(room, Policy(mode=Mode.PAUSED))
    person = await engine.join(room)
    await engine.leave(room, person.ticket)
    assert Reason.LEFT is (await engine.poll(room, person.ticket)).reason
    assert 0 == (await engine.stats(room)).waiting


async def test_called(engine: Engine, room: str) -> None:
    """A turn that is given up goes to the next person in the same call."""
    await engine.create(room, Policy(capacity=1))
    first, second = await crowd(engine, room, 2)
    await engine.leave(room, first.ticket)
    assert State.CALLED is (await engine.poll(room, second.ticket)).state


async def test_inside(engine: Engine, room: str) -> None:
    """Leaving from inside ends the session, records its id, and calls the next person."""
    await engine.create(room, Policy(capacity=1))
    first = await engine.join(room, enter=True)
    second = await engine.join(room)
    await engine.leave(room, first.ticket)
    assert State.CALLED is (await engine.poll(room, second.ticket)).state
    assert 1 == await engine.backend.client.zcard(keys.room_key(room, "done"))


async def test_dropped_for_silence(engine: Engine, clock: Clock, room: str) -> None:
    """Anybody who leaves after being dropped for silence is not restored by a stray poll."""
    await engine.create(room, Policy(mode=Mode.PAUSED, presence_s=10))
    person = await engine.join(room)
    for _ in range(4):
        clock.step(4)
        await engine.advance(room)
    await engine.leave(room, person.ticket)
    assert Reason.LEFT is (await engine.poll(room, person.ticket)).reason


async def test_twice(engine: Engine, room: str) -> None:
    """Leaving twice is the same as leaving once."""
    await engine.create(room, Policy(mode=Mode.PAUSED))
    person = await engine.join(room)
    first = await engine.leave(room, person.ticket)
    assert first == await engine.leave(room, person.ticket)
    assert 1 == (await engine.stats(room)).counters["left"]


async def test_repeat_after_joining_again(engine: Engine, room: str) -> None:
    """A late repeat of the same call does not remove somebody who has joined again meanwhile."""
    await engine.create(room, Policy(mode=Mode.PAUSED))
    person = await engine.join(room)
    await engine.leave(room, person.ticket, op_id="one")
    again = await engine.join(room, person.ticket)
    await engine.leave(room, person.ticket, op_id="one")
    assert 1 == (await engine.poll(room, again.ticket)).position


async def test_deferred_place(engine: Engine, room: str) -> None:
    """Neither ticket of somebody who left a deferred place brings them back."""
    await engine.create(room, Policy(mode=Mode.PAUSED, max_defers=1))
    first, _, _ = await crowd(engine, room, 3)
    moved = await engine.defer(room, first.ticket, 1)
    await engine.leave(room, moved.ticket)
    for ticket in (first.ticket, moved.ticket):
        assert State.GONE is (await engine.poll(room, ticket)).state


async def test_note_is_pruned(engine: Engine, room: str) -> None:
    """The note of somebody who left is deleted once the line has passed their place."""
    await engine.create(room, Policy(mode=Mode.PAUSED))
    first, _ = await crowd(engine, room, 2)
    await engine.leave(room, first.ticket)
    gone = keys.room_key(room, "gone")
    assert 1 == await engine.backend.client.zcard(gone)
    await engine.admit(room, 1, force=True)
    await engine.advance(room)
    assert 0 == await engine.backend.client.zcard(gone)


async def only_poll(engine: Engine, room: str, clock: Clock, person: TicketView) -> None:
    """Pass time in which only one person polls: the others are dropped for silence."""
    for _ in range(13):
        clock.step(1)
        await engine.poll(room, person.ticket)
        await engine.advance(room)
    assert [person.id] == [line.id for line in (await engine.list(room)).tickets]


@pytest.mark.attack
async def test_notes_are_bounded(engine: Engine, room: str, clock: Clock) -> None:
    """However many join and leave while nobody is called, notes stay few, and nobody returns.

    Anybody whose note was forgotten is still gone, with every ticket that they had. People dropped
    for silence, ahead of them or behind, keep their places.
    """
    await engine.create(room, Policy(mode=Mode.PAUSED, presence_s=10))
    dropped, first, second, last = await crowd(engine, room, 4)
    await engine.leave(room, first.ticket)
    gone, place = keys.room_key(room, "gone"), engine.ring.read(room, first.ticket).place
    await engine.backend.client.zadd(gone, {f"x{n}": place + 1 for n in range(100_000)})
    await engine.leave(room, second.ticket)
    assert 100_000 == await engine.backend.client.zcard(gone)
    for person in (first, second):
        assert State.GONE is (await engine.poll(room, person.ticket)).state
    again = await engine.join(room, first.ticket)
    assert (3, True) == (again.position, again.new)
    await only_poll(engine, room, clock, last)
    assert 1 == (await engine.poll(room, dropped.ticket)).position
    assert State.GONE is (await engine.poll(room, first.ticket)).state
    assert 3 == (await engine.poll(room, again.ticket)).position


@pytest.mark.attack
async def test_notes_of_who_came_again_are_bounded(engine: Engine, room: str, clock: Clock) -> None:
    """Leaving, joining again and falling silent leaves no lasting note, and gains no place."""
    await engine.create(room, Policy(mode=Mode.PAUSED, presence_s=10))
    first, last = await crowd(engine, room, 2)
    await engine.leave(room, first.ticket)
    again = await engine.join(room, first.ticket)
    moved, place = keys.room_key(room, "moved"), engine.ring.read(room, again.ticket).place
    others = {f"x{n}": f"0:{place + 8}" for n in range(100_250)}
    await engine.backend.client.hset(moved, mapping=others)
    await only_poll(engine, room, clock, last)
    assert 100_000 >= await engine.backend.client.hlen(moved)
    assert 1 == (await engine.poll(room, last.ticket)).position
    # While the note is kept, any of their tickets finds the later place; afterwards only its own.
    assert 2 == (await engine.poll(room, again.ticket)).position
    assert 2 == (await engine.poll(room, first.ticket)).position


@pytest.mark.attack
async def test_notes_are_forgotten_after_a_week(engine: Engine, room: str, clock: Clock) -> None:
    """In a room that calls nobody, people who left are forgotten in time, and stay gone."""
    policy = Policy(mode=Mode.PAUSED, presence_s=None, ticket_ttl_s=None)
    await engine.create(room, policy)
    first, second, third = await crowd(engine, room, 3)
    await engine.leave(room, second.ticket)
    clock.step(7 * 86_400 + 1)
    await engine.advance(room)
    assert 0 == await engine.backend.client.exists(keys.room_key(room, "gone"))
    assert Reason.PASSED is (await engine.poll(room, second.ticket)).reason
    assert 1 == (await engine.poll(room, first.ticket)).position
    assert 2 == (await engine.poll(room, third.ticket)).position
    assert 3 == (await engine.join(room, second.ticket)).position


async def test_event(engine: Engine, room: str) -> None:
    """Leaving is one event with its reason."""
    await engine.create(room, Policy(mode=Mode.PAUSED))
    person = await engine.join(room)
    await engine.leave(room, person.ticket)
    ((_, fields),) = await engine.backend.client.xrange(keys.room_key(room, "events"))
    assert (b"ended", person.id.encode(), b"left") == (
        fields[b"kind"],
        fields[b"ids"],
        fields[b"reason"],
    )


async def test_bad_input(engine: Engine, room: str) -> None:
    """A forged ticket takes nobody out."""
    await engine.create(room, Policy(mode=Mode.PAUSED))
    person = await engine.join(room)
    with pytest.raises(InvalidTicket):
        await engine.leave(room, person.ticket.swapcase())
    assert 1 == (await engine.stats(room)).waiting
