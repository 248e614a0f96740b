"""poll: tells where a ticket is, keeps waiting people present, and restores missing ones."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.clock import BAD_TICKETS, Clock, Nobody, crowd, open_engine
from tests.support.servers import Server
from waitroom.engine import Engine, keys
from waitroom.errors import (
    InvalidInput,
    InvalidRoomName,
    InvalidTicket,
    UnknownRoom,
)
from waitroom.models import Mode, Policy, Reason, State, TicketView
from waitroom.tickets import KeyRing


async def tick(engine: Engine, clock: Clock, room: str, seconds: int) -> None:
    """Pass time with a ticker running, so that it is no silence of our processes."""
    for _ in range(seconds // 4):
        clock.step(4)
        await engine.advance(room)


async def test_position(engine: Engine, room: str) -> None:
    """The position is the rank + 1, next to the number of all who wait."""
    await engine.create(room, Policy(mode=Mode.PAUSED))
    people = await crowd(engine, room, 3)
    seen = await engine.poll(room, people[1].ticket)
    assert (State.WAITING, 2, 3) == (seen.state, seen.position, seen.waiting)


async def test_called_and_inside(engine: Engine, clock: Clock, room: str) -> None:
    """A called ticket sees its deadline; one inside sees the end and the id of its session."""
    await engine.create(room, Policy(enter_within_s=30, session_s=60))
    person = await engine.join(room)
    called = await engine.poll(room, person.ticket)
    inside = await engine.enter(room, person.ticket)
    seen = await engine.poll(room, person.ticket)
    assert (State.CALLED, clock.now_ms + 30_000) == (called.state, called.enter_by_ms)
    assert (State.INSIDE, clock.now_ms + 60_000) == (seen.state, seen.session_ends_at_ms)
    assert inside.sid == seen.sid


async def test_no_deadlines(engine: Engine, room: str) -> None:
    """Without `enter_within_s` and `session_s` a turn and a session have no end."""
    await engine.create(room, Policy(enter_within_s=None, session_s=None))
    person = await engine.join(room)
    assert None is (await engine.poll(room, person.ticket)).enter_by_ms
    await engine.enter(room, person.ticket)
    assert None is (await engine.poll(room, person.ticket)).session_ends_at_ms


async def test_admits_nobody(engine: Engine, room: str) -> None:
    """A poll calls nobody, even if there is room."""
    await engine.create(room, Policy(mode=Mode.PAUSED))
    person = await engine.join(room)
    await engine.configure(room, mode=Mode.OPEN)
    assert State.WAITING is (await engine.poll(room, person.ticket)).state


async def test_keeps_the_place(engine: Engine, clock: Clock, room: str) -> None:
    """Anybody who polls stays; anybody silent for `presence_s` no longer counts."""
    await engine.create(room, Policy(mode=Mode.PAUSED, presence_s=20))
    silent, present = await crowd(engine, room, 2)
    for _ in range(8):
        await tick(engine, clock, room, 4)
        await engine.poll(room, present.ticket)
    assert [present.id] == [ticket.id for ticket in (await engine.list(room)).tickets]
    assert 1 == (await engine.stats(room)).counters["abandoned"]
    assert silent.id != present.id


async def test_restored_to_its_place(engine: Engine, clock: Clock, room: str) -> None:
    """Anybody dropped for silence who comes back has their old place."""
    await engine.create(room, Policy(mode=Mode.PAUSED, presence_s=20))
    first, second = await crowd(engine, room, 2)
    for _ in range(8):
        await tick(engine, clock, room, 4)
        await engine.poll(room, second.ticket)
    assert 1 == (await engine.poll(room, first.ticket)).position
    assert 2 == (await engine.poll(room, second.ticket)).position
    assert 1 == (await engine.stats(room)).counters["restored"]


async def test_not_restored_behind_the_watermark(engine: Engine, clock: Clock, room: str) -> None:
    """Anybody who was away while later people were called has missed the turn."""
    await engine.create(room, Policy(mode=Mode.PAUSED, presence_s=20))
    first, second = await crowd(engine, room, 2)
    for _ in range(8):
        await tick(engine, clock, room, 4)
        await engine.poll(room, second.ticket)
    await engine.admit(room, 1, force=True)
    gone = await engine.poll(room, first.ticket)
    assert (State.GONE, Reason.PASSED) == (gone.state, gone.reason)


async def test_missed_turn_unswept(engine: Engine, clock: Clock, room: str) -> None:
    """For a poll, a turn that ran out is over, swept or not."""
    await engine.create(room, Policy(enter_within_s=10))
    person = await engine.join(room)
    for _ in range(3):
        clock.step(4)
        other = await engine.join(room)
    assert Reason.NO_SHOW is (await engine.poll(room, person.ticket)).reason
    assert State.CALLED is (await engine.poll(room, other.ticket)).state


async def test_ended_session_unswept(engine: Engine, clock: Clock, room: str) -> None:
    """For a poll, a session that ran out is over, swept or not."""
    await engine.create(room, Policy(session_s=60))
    person = await engine.join(room, enter=True)
    clock.step(60)
    assert Reason.EXPIRED is (await engine.poll(room, person.ticket)).reason


async def test_finished(engine: Engine, room: str) -> None:
    """A stray poll after the end does not put anybody back in line."""
    await engine.create(room, Policy())
    person = await engine.join(room, enter=True)
    await engine.finish(room, person.ticket)
    assert State.GONE is (await engine.poll(room, person.ticket)).state
    assert 0 == (await engine.stats(room)).waiting


async def test_cleared(engine: Engine, room: str) -> None:
    """A ticket of an earlier epoch is gone, with its own reason."""
    await engine.create(room, Policy(mode=Mode.PAUSED))
    person = await engine.join(room)
    await engine.clear(room)
    assert Reason.CLEARED is (await engine.poll(room, person.ticket)).reason


async def test_closed_room_sweeps_nobody(engine: Engine, clock: Clock, room: str) -> None:
    """In a closed room waiting people keep their place without polling."""
    await engine.create(room, Policy(mode=Mode.PAUSED, presence_s=10))
    person = await engine.join(room)
    await engine.configure(room, mode=Mode.CLOSED)
    await tick(engine, clock, room, 60)
    assert 1 == (await engine.stats(room)).waiting
    assert 1 == (await engine.poll(room, person.ticket)).position


async def test_reopened_room_counts_silence_from_then(
    engine: Engine, clock: Clock, room: str
) -> None:
    """Anybody silent while the room was closed has `presence_s` from its reopening."""
    await engine.create(room, Policy(mode=Mode.PAUSED, presence_s=20))
    await engine.join(room)
    await engine.configure(room, mode=Mode.CLOSED)
    await tick(engine, clock, room, 60)
    await engine.configure(room, mode=Mode.PAUSED)
    await tick(engine, clock, room, 16)
    assert 1 == (await engine.stats(room)).waiting
    await tick(engine, clock, room, 16)
    assert 0 == (await engine.stats(room)).waiting


async def test_many(engine: Engine, room: str) -> None:
    """Many tickets are polled in one call; each gets its view or its own error, in order."""
    await engine.create(room, Policy(mode=Mode.PAUSED))
    people = await crowd(engine, room, 3)
    texts = [people[2].ticket, "forged", people[0].ticket]
    third, forged, first = await engine.poll_many(room, texts)
    assert isinstance(third, TicketView)
    assert isinstance(first, TicketView)
    assert (3, 1) == (third.position, first.position)
    assert InvalidTicket is type(forged)


@pytest.mark.parametrize("number", [0, 501])
async def test_too_many(engine: Engine, room: str, number: int) -> None:
    """A call takes 1 to 500 tickets."""
    await engine.create(room, Policy())
    with pytest.raises(InvalidInput):
        await engine.poll_many(room, ["x"] * number)


@pytest.mark.parametrize("ticket", BAD_TICKETS, ids=lambda bad: f"{bad!r:.9}")
async def test_bad_tickets_never_reach_the_server(engine: Engine, room: str, ticket: Any) -> None:
    """Empty, huge, binary and unicode tickets are refused before the server is asked."""
    await engine.create(room, Policy())
    engine._runner.client = engine._runner.visitors = Nobody()
    with pytest.raises(InvalidTicket):
        await engine.poll(room, ticket)


async def test_forged_ticket_never_reaches_the_server(engine: Engine, room: str) -> None:
    """A process that has just started does not ask the server about a forged ticket."""
    engine._runner.client = engine._runner.visitors = Nobody()
    with pytest.raises(InvalidTicket):
        await engine.poll(room, "x" * 90)


async def test_ticket_of_another_secret(engine: Engine, room: str) -> None:
    """A ticket signed with an unknown key is refused."""
    await engine.create(room, Policy(mode=Mode.PAUSED))
    person = await engine.join(room)
    ours = engine.ring.read(room, person.ticket)
    with pytest.raises(InvalidTicket):
        await engine.poll(room, KeyRing([b"e" * 32]).sign(ours))


async def test_ticket_of_another_room(engine: Engine, room: str) -> None:
    """A ticket is valid only in its own room."""
    await engine.create(room, Policy(mode=Mode.PAUSED))
    await engine.create(room + "2", Policy(mode=Mode.PAUSED))
    person = await engine.join(room)
    with pytest.raises(InvalidTicket, match="another room"):
        await engine.poll(room + "2", person.ticket)


async def test_too_old_ticket(engine: Engine, server: Server, clock: Clock, room: str) -> None:
    """A ticket older than `ticket_ttl_s` is refused, even by a process that just started."""
    await engine.create(room, Policy(mode=Mode.PAUSED, ticket_ttl_s=60))
    person = await engine.join(room)
    clock.step(61)
    with pytest.raises(InvalidTicket, match="too old"):
        await engine.poll(room, person.ticket)
    async with open_engine(server.url, clock) as other:
        with pytest.raises(InvalidTicket, match="too old"):
            await other.poll(room, person.ticket)


async def test_unknown_room(engine: Engine, room: str) -> None:
    """A valid ticket of a dropped room gets a clear answer, and creates no key."""
    await engine.create(room, Policy(mode=Mode.PAUSED))
    person = await engine.join(room)
    await engine.drop(room)
    with pytest.raises(UnknownRoom):
        await engine.poll(room, person.ticket)
    assert 0 == await engine.backend.client.exists(keys.room_key(room, "waiting"))


async def test_bad_room_name(engine: Engine) -> None:
    """An invalid room name is refused before the server is asked."""
    engine._runner.client = engine._runner.visitors = Nobody()
    with pytest.raises(InvalidRoomName):
        await engine.poll_many("{a}", ["x"])


async def test_writes_no_event(engine: Engine, room: str) -> None:
    """A poll is not an event: the stream stays the same."""
    await engine.create(room, Policy(mode=Mode.PAUSED))
    person = await engine.join(room)
    await engine.poll(room, person.ticket)
    assert 0 == await engine.backend.client.xlen(keys.room_key(room, "events"))
