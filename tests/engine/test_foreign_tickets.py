"""Tickets of another deployment with the same secret: valid, but worthless here."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.clock import Clock, crowd, open_engine, polled_rank
from tests.support.servers import Server
from waitroom.engine import Engine, keys
from waitroom.errors import BackendUnavailable, Refused, WaitroomError
from waitroom.models import Mode, Policy, Reason, State, TicketView
from waitroom.tickets import Ticket

PEOPLE = 20


async def line(engine: Engine, room: str) -> list[TicketView]:
    """Make a room with people in line."""
    await engine.create(room, Policy(mode=Mode.PAUSED))
    return await crowd(engine, room, PEOPLE)


def foreign(engine: Engine, view: TicketView, *, later_s: float = 3600, place: int = 1) -> str:
    """Return a ticket for a room of the same name that was created later elsewhere."""
    mine = engine.ring.read(view.room, view.ticket)
    epoch = mine.epoch + round(later_s * 1e6)
    return engine.ring.sign(Ticket(view.room, "foreign-ticket-1", place, epoch, mine.issued_s))


async def facts(engine: Engine, room: str) -> tuple[Any, ...]:
    """Return what an attack must not change."""
    client = engine.backend.client
    waiting = await client.zrange(keys.room_key(room, "waiting"), 0, -1, withscores=True)
    meta = await client.hmget(keys.room_key(room, "meta"), "epoch", "rev", "hold_until", "rebuilt")
    return waiting, meta


async def show(engine: Engine, room: str, ticket: str, verb: str) -> TicketView | None:
    """Show a ticket with a verb of visitors; return its view, if there is one."""
    try:
        if verb == "defer":
            return await engine.defer(room, ticket, 1)
        view: TicketView = await getattr(engine, verb)(room, ticket)
    except WaitroomError:
        return None
    return view


@pytest.mark.attack
@pytest.mark.parametrize("verb", ["poll", "enter", "renew", "leave", "finish", "defer"])
async def test_one_ticket_does_not_wipe_a_line(engine: Engine, room: str, verb: str) -> None:
    """A valid ticket of a later epoch changes nothing: everybody keeps their place."""
    people = await line(engine, room)
    before = await facts(engine, room)
    view = await show(engine, room, foreign(engine, people[0], place=2**62), verb)
    assert view is None or State.GONE is view.state
    assert before == await facts(engine, room)
    for number, person in enumerate(people, 1):
        assert number == (await engine.poll(room, person.ticket)).position


@pytest.mark.attack
async def test_nobody_gets_in_front_by_a_foreign_place(engine: Engine, room: str) -> None:
    """A place in another deployment is no place here: its holder joins behind everybody."""
    people = await line(engine, room)
    mine = engine.ring.read(room, people[0].ticket)
    ticket = foreign(engine, people[0], place=mine.place - 8)
    assert Reason.CLEARED is (await engine.poll(room, ticket)).reason
    with pytest.raises(Refused):
        await engine.enter(room, ticket)
    joined = await engine.join(room, ticket)
    assert (PEOPLE + 1, True) == (joined.position, joined.new)


@pytest.mark.attack
async def test_a_later_call_of_the_same_process_does_not_wipe_it_either(
    engine: Engine, room: str
) -> None:
    """What a ticket claimed has no effect on the room in later calls."""
    people = await line(engine, room)
    before = await facts(engine, room)
    await engine.poll(room, foreign(engine, people[0]))
    await engine.advance(room)
    await engine.check_many(room, [(people[0].id, 1)])
    await engine.stats(room)
    assert before == await facts(engine, room)


async def test_foreign_tickets_are_counted(engine: Engine, clock: Clock, room: str) -> None:
    """Every use of one counts; an old ticket of this room does not."""
    people = await line(engine, room)
    await engine.poll(room, foreign(engine, people[0]))
    await engine.poll(room, foreign(engine, people[0]))
    await engine.clear(room)
    await engine.poll(room, people[0].ticket)
    meta = keys.room_key(room, "meta")
    assert [b"2", str(clock.now_ms).encode()] == await engine.backend.client.hmget(
        meta, "foreign", "foreign_at"
    )


# Nobody remembers the room --------------------------------------------------------------------


async def lose(engine: Engine, room: str) -> None:
    """Lose everything the server has of a room."""
    await engine.backend.client.delete(*keys.script_keys(room))


@pytest.mark.attack
async def test_the_highest_epoch_on_a_ticket_is_taken_once(
    engine: Engine, server: Server, clock: Clock, room: str
) -> None:
    """It counts when neither the server nor a process knows the epoch; then admission holds."""
    old = (await line(engine, room))[0]
    await engine.clear(room)
    people = await crowd(engine, room, PEOPLE)
    epoch = (await engine.room(room)).epoch
    await lose(engine, room)
    async with open_engine(server.url, clock) as fresh:
        fresh.declare(room, Policy(mode=Mode.PAUSED))
        for view in (old, people[3]):
            with pytest.raises(BackendUnavailable, match="remembers"):
                await fresh.poll(room, view.ticket)
        clock.step(15)
        for number, person in enumerate(people, 1):
            assert number == await polled_rank(fresh, room, person.ticket)
        assert Reason.CLEARED is (await fresh.poll(room, old.ticket)).reason
        assert epoch == (await fresh.room(room)).epoch
        assert clock.now_ms + 75_000 == (await fresh.stats(room)).hold_until_ms

        before = await facts(fresh, room)
        await fresh.poll(room, foreign(fresh, people[0]))
        assert before == await facts(fresh, room)


@pytest.mark.attack
async def test_a_process_that_remembers_is_heard_before_a_ticket(
    engine: Engine, server: Server, clock: Clock, room: str
) -> None:
    """A foreign ticket shown to a new process cannot replace a room that another one remembers."""
    people = await line(engine, room)
    ticket = foreign(engine, people[0])
    async with open_engine(server.url, clock) as fresh:
        fresh.declare(room, Policy(mode=Mode.PAUSED))
        await lose(engine, room)
        with pytest.raises(BackendUnavailable):
            await fresh.poll(room, ticket)
        clock.step(10)
        for number, person in enumerate(people, 1):
            assert number == await polled_rank(engine, room, person.ticket)
        clock.step(10)
        assert Reason.CLEARED is (await fresh.poll(room, ticket)).reason
        assert 1 == await polled_rank(fresh, room, people[0].ticket)


async def test_a_room_without_tickets_opens_again(
    engine: Engine, server: Server, clock: Clock, room: str
) -> None:
    """Nobody remembers it or has shown a ticket: once everybody could have, it is new."""
    await engine.create(room, Policy(mode=Mode.PAUSED))
    await lose(engine, room)
    async with open_engine(server.url, clock) as fresh:
        fresh.declare(room, Policy(mode=Mode.PAUSED))
        with pytest.raises(BackendUnavailable):
            await fresh.join(room)
        clock.step(90)
        assert 1 == (await fresh.join(room)).waiting
        assert clock.now_us == (await fresh.room(room)).epoch
