"""join: newcomers get a place, others keep theirs, and are called if there is room."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from tests.support.clock import BAD_TICKETS, Clock, Nobody, crowd, open_engine
from tests.support.servers import Server
from waitroom.engine import Engine, Join, keys
from waitroom.errors import (
    InvalidInput,
    InvalidRoomName,
    InvalidTicket,
    RoomClosed,
    RoomFull,
    RoomNotOpen,
    UnknownRoom,
)
from waitroom.models import BeforeOpen, Mode, Policy, Reason, State, TicketView
from waitroom.moments import from_ms


async def paused(engine: Engine, room: str, **policy: Any) -> None:
    """Make a room in which everybody waits."""
    await engine.create(room, Policy(mode=Mode.PAUSED, **policy))


def view(answer: object) -> TicketView:
    """Return an answer of `join_many` that must not be an error."""
    assert isinstance(answer, TicketView), answer
    return answer


async def test_places_by_arrival(engine: Engine, room: str) -> None:
    """Newcomers stand in order of arrival."""
    await paused(engine, room)
    people = await crowd(engine, room, 5)
    assert [1, 2, 3, 4, 5] == [person.position for person in people]
    assert [person.id for person in people] == [
        ticket.id for ticket in (await engine.list(room)).tickets
    ]


async def test_places_in_one_microsecond(engine: Engine, room: str) -> None:
    """People of the same microsecond get different places, in steps of 8."""
    await paused(engine, room)
    await crowd(engine, room, 3)
    places = [ticket.place or 0 for ticket in (await engine.list(room)).tickets]
    assert [8, 8] == [b - a for a, b in pairwise(places)]


async def test_clock_that_went_back(engine: Engine, clock: Clock, room: str) -> None:
    """Anybody who comes after the clock was set back is behind the others, not ahead."""
    await paused(engine, room)
    await engine.join(room)
    clock.step(-60)
    assert 2 == (await engine.join(room)).position


async def test_new_is_said_once(engine: Engine, room: str) -> None:
    """A view is `new` if the place was just given, and not if it was kept."""
    await paused(engine, room)
    first = await engine.join(room)
    again = await engine.join(room, first.ticket)
    assert (True, False) == (first.new, again.new)


async def test_same_ticket_same_place(engine: Engine, room: str) -> None:
    """Joining with the ticket of a place keeps it, and the string stays the same."""
    await paused(engine, room)
    first, _ = await crowd(engine, room, 2)
    again = await engine.join(room, first.ticket)
    assert (first.ticket, 1) == (again.ticket, again.position)


async def test_same_visitor_same_place(
    engine: Engine, server: Server, clock: Clock, room: str
) -> None:
    """A known visitor has one place, whichever process they ask."""
    await paused(engine, room)
    first = await engine.join(room, visitor="kim")
    await engine.join(room, visitor="lee")
    async with open_engine(server.url, clock) as other:
        again = await other.join(room, visitor="kim")
    assert (first.id, first.ticket, 1) == (again.id, again.ticket, again.position)


async def test_same_visitor_in_one_call(engine: Engine, room: str) -> None:
    """A visitor who comes twice in one call gets one place."""
    await paused(engine, room)
    first, second = map(
        view, await engine.join_many(room, [Join(visitor="kim"), Join(visitor="kim")])
    )
    assert (first.id, 1, 1) == (second.id, first.position, second.position)
    assert 1 == (await engine.stats(room)).waiting


async def test_same_visitor_in_one_call_where_there_is_room(engine: Engine, room: str) -> None:
    """A visitor who comes twice in one call is called once."""
    await engine.create(room, Policy())
    await engine.join_many(room, [Join(visitor="kim"), Join(visitor="kim")])
    stats = await engine.stats(room)
    assert (1, 1) == (stats.called, stats.counters["called_total"])


async def test_called_at_once(engine: Engine, clock: Clock, room: str) -> None:
    """If nobody waits and the policy has room, the join itself calls the newcomer."""
    await engine.create(room, Policy(capacity=1, enter_within_s=30))
    first, second = await crowd(engine, room, 2)
    assert (State.CALLED, clock.now_ms + 30_000) == (first.state, first.enter_by_ms)
    assert (State.WAITING, 1) == (second.state, second.position)


async def test_inside_at_once(engine: Engine, clock: Clock, room: str) -> None:
    """With `enter` the same call goes inside."""
    await engine.create(room, Policy(session_s=600))
    view = await engine.join(room, enter=True)
    assert (State.INSIDE, clock.now_ms + 600_000) == (view.state, view.session_ends_at_ms)
    assert clock.now_us == view.sid


async def test_nobody_overtakes_those_who_wait(engine: Engine, room: str) -> None:
    """While anybody waits, a newcomer waits too, even if the policy has room."""
    await paused(engine, room)
    await engine.join(room)
    await engine.configure(room, mode=Mode.OPEN)
    assert State.WAITING is (await engine.join(room)).state


async def test_pace_holds_for_direct_calls(engine: Engine, room: str) -> None:
    """Without a rolling limit, direct calls use up the slot's batch, so it cannot be flooded."""
    await engine.create(room, Policy(batch=2, every_s=10))
    people = await crowd(engine, room, 3)
    assert [State.CALLED, State.CALLED, State.WAITING] == [person.state for person in people]


async def test_rolling_limit_frees_direct_calls_from_the_pace(engine: Engine, room: str) -> None:
    """With a rolling limit, visitors in a quiet window go straight in, up to that limit."""
    await engine.create(room, Policy(batch=2, every_s=10, max_entries=5, per_s=60))
    people = await crowd(engine, room, 6)
    assert [State.CALLED] * 5 + [State.WAITING] == [person.state for person in people]


async def test_called_are_reserved_against_the_rolling_limit(engine: Engine, room: str) -> None:
    """People count when called, before they enter, so late entries cannot exceed the limit."""
    await engine.create(room, Policy(max_entries=2, per_s=60))
    await engine.join(room, enter=True)
    assert State.CALLED is (await engine.join(room)).state
    assert State.WAITING is (await engine.join(room)).state


async def test_queue_limit(engine: Engine, room: str) -> None:
    """One more than `queue_limit` is refused with `room_full`, and leaves no trace."""
    await paused(engine, room, queue_limit=2)
    await crowd(engine, room, 2)
    with pytest.raises(RoomFull):
        await engine.join(room)
    assert (2, 2) == (
        (await engine.stats(room)).waiting,
        (await engine.stats(room)).counters["joined"],
    )


async def test_queue_limit_spares_those_who_have_a_place(
    engine: Engine, clock: Clock, room: str
) -> None:
    """A place dropped for silence is restored even if the room is full again."""
    await paused(engine, room, queue_limit=1, presence_s=10)
    first = await engine.join(room)
    for _ in range(3):
        clock.step(5)
        await engine.advance(room)
    second = await engine.join(room)
    assert 1 == (await engine.join(room, first.ticket)).position
    assert 2 == (await engine.poll(room, second.ticket)).position


async def test_one_full_room_in_a_batch(engine: Engine, room: str) -> None:
    """In one call each visitor gets their own answer: a place, or their own error."""
    await paused(engine, room, queue_limit=1)
    good, full, forged = await engine.join_many(room, [Join(), Join(), Join(ticket="x" * 90)])
    assert 1 == view(good).position
    assert (RoomFull, InvalidTicket) == (type(full), type(forged))


async def test_closed(engine: Engine, room: str) -> None:
    """A closed room refuses newcomers; anybody with a place keeps it."""
    await paused(engine, room)
    first = await engine.join(room)
    await engine.configure(room, mode=Mode.CLOSED)
    with pytest.raises(RoomClosed):
        await engine.join(room)
    assert 1 == (await engine.join(room, first.ticket)).position


async def test_before_open_refuse(engine: Engine, clock: Clock, room: str) -> None:
    """`refuse` takes nobody before the opening, and everybody from then on."""
    opens = clock.now_ms + 60_000
    await engine.create(room, Policy(opens_at=from_ms(opens), before_open=BeforeOpen.REFUSE))
    with pytest.raises(RoomNotOpen):
        await engine.join(room)
    clock.step(60)
    assert State.CALLED is (await engine.join(room)).state


async def test_before_open_pass(engine: Engine, clock: Clock, room: str) -> None:
    """`pass` lets everybody through before the opening, beyond the capacity."""
    opens = clock.now_ms + 60_000
    await engine.create(
        room, Policy(opens_at=from_ms(opens), before_open=BeforeOpen.PASS, capacity=1)
    )
    assert [State.CALLED] * 3 == [person.state for person in await crowd(engine, room, 3)]
    clock.step(60)
    assert State.WAITING is (await engine.join(room)).state


async def test_before_open_wait(engine: Engine, clock: Clock, room: str) -> None:
    """`wait` gives places by arrival and calls nobody before the opening."""
    await engine.create(room, Policy(opens_at=from_ms(clock.now_ms + 60_000)))
    assert [1, 2] == [person.position for person in await crowd(engine, room, 2)]
    assert 0 == (await engine.advance(room)).called


async def test_bypass(engine: Engine, room: str) -> None:
    """In `bypass` everybody goes in beyond every limit, and is counted."""
    await engine.create(
        room, Policy(mode=Mode.BYPASS, capacity=1, batch=1, every_s=9, max_entries=1, per_s=60)
    )
    people = [await engine.join(room, enter=True) for _ in range(3)]
    assert [State.INSIDE] * 3 == [person.state for person in people]
    assert 3 == (await engine.stats(room)).counters["entered"]


async def test_bypass_lets_those_waiting_first(engine: Engine, room: str) -> None:
    """A newcomer in `bypass` does not overtake people who still wait."""
    await paused(engine, room)
    await engine.join(room)
    await engine.configure(room, mode=Mode.BYPASS)
    assert 2 == (await engine.join(room)).position


async def test_manual(engine: Engine, room: str) -> None:
    """In `manual` nobody is called by joining."""
    await engine.create(room, Policy(mode=Mode.MANUAL))
    assert State.WAITING is (await engine.join(room)).state


async def test_join_after_leaving(engine: Engine, room: str) -> None:
    """Anybody who left and joins again is at the end, and only the new place counts."""
    await paused(engine, room)
    first, _ = await crowd(engine, room, 2)
    await engine.leave(room, first.ticket)
    again = await engine.join(room, first.ticket)
    assert (2, True) == (again.position, again.new)
    assert 2 == (await engine.poll(room, first.ticket)).position


async def test_join_after_a_session(engine: Engine, room: str) -> None:
    """Anybody who was inside and finished gets a new turn, not the old one."""
    await engine.create(room, Policy())
    first = await engine.join(room, enter=True)
    await engine.finish(room, first.ticket)
    again = await engine.join(room, first.ticket)
    assert (State.CALLED, True) == (again.state, again.new)


async def test_join_after_a_missed_turn_unswept(engine: Engine, clock: Clock, room: str) -> None:
    """For `join` too, a turn that ran out is over before any sweep: the place is a new one."""
    await engine.create(room, Policy(enter_within_s=10))
    first = await engine.join(room)
    for _ in range(3):
        clock.step(4)
        await engine.join(room)
    again = await engine.join(room, first.ticket)
    assert (State.CALLED, True) == (again.state, again.new)
    assert 1 == (await engine.stats(room)).counters["no_show"]


async def test_new_place_of_an_old_ticket_lives_as_long(
    engine: Engine, clock: Clock, room: str
) -> None:
    """A new place has a ticket of full lifetime, even if an old ticket was shown for it."""
    await engine.create(room, Policy(ticket_ttl_s=100))
    first = await engine.join(room, enter=True)
    await engine.finish(room, first.ticket)
    clock.step(90)
    again = await engine.join(room, first.ticket)
    clock.step(20)
    assert State.CALLED is (await engine.poll(room, again.ticket)).state


async def test_ticket_of_an_earlier_epoch(engine: Engine, room: str) -> None:
    """After `clear` an old ticket joins as a newcomer."""
    await paused(engine, room)
    first, _ = await crowd(engine, room, 2)
    await engine.clear(room)
    await engine.join(room)
    again = await engine.join(room, first.ticket)
    assert (2, True) == (again.position, again.new)


async def test_too_old_ticket(engine: Engine, clock: Clock, room: str) -> None:
    """A ticket older than `ticket_ttl_s` restores no place: its holder is a newcomer."""
    await paused(engine, room, ticket_ttl_s=60, presence_s=None)
    first = await engine.join(room)
    for _ in range(14):
        clock.step(5)
        await engine.advance(room)
    await engine.join(room)
    again = await engine.join(room, first.ticket)
    assert (2, True, first.id) == (again.position, again.new, again.id)


@pytest.mark.parametrize("ticket", [bad for bad in BAD_TICKETS if bad is not None], ids=repr)
async def test_bad_tickets_never_reach_the_server(engine: Engine, room: str, ticket: Any) -> None:
    """Empty, huge, binary and unicode tickets are refused before the server is asked."""
    await paused(engine, room)
    engine._runner.client = engine._runner.visitors = Nobody()
    with pytest.raises(InvalidTicket):
        await engine.join(room, ticket)


@pytest.mark.parametrize("visitor", ["", "x" * 1025, "\ud800", 7, b"x"], ids=lambda v: f"{v!r:.9}")
async def test_bad_visitors(engine: Engine, room: str, visitor: Any) -> None:
    """An empty, huge or untyped visitor name is refused, and nobody is given a place."""
    await paused(engine, room)
    with pytest.raises(InvalidInput) as caught:
        await engine.join(room, visitor=visitor)
    assert "visitor" == caught.value.field
    assert 0 == (await engine.stats(room)).waiting


async def test_more_than_a_script_may_move(engine: Engine, room: str) -> None:
    """A call with more than 500 visitors is refused whole."""
    await paused(engine, room)
    with pytest.raises(InvalidInput):
        await engine.join_many(room, [Join()] * 501)
    assert 0 == (await engine.stats(room)).waiting


async def test_five_hundred_at_once(engine: Engine, room: str) -> None:
    """500 visitors fit into one call, even if all are called and go inside at once."""
    await engine.create(room, Policy())
    views = map(view, await engine.join_many(room, [Join(enter=True)] * 500))
    assert {State.INSIDE} == {person.state for person in views}


async def test_unknown_room(engine: Engine, room: str) -> None:
    """Nobody can join a room that does not exist, and the attempt does not create it."""
    with pytest.raises(UnknownRoom):
        await engine.join(room)
    assert 0 == await engine.backend.client.exists(*keys.script_keys(room))


async def test_bad_room_name(engine: Engine) -> None:
    """An invalid room name is refused before the server is asked."""
    engine._runner.client = engine._runner.visitors = Nobody()
    with pytest.raises(InvalidRoomName):
        await engine.join("{a}")


async def test_events(engine: Engine, clock: Clock, room: str) -> None:
    """A direct entry writes one event for the call and one for the entry, with its session."""
    await engine.create(room, Policy())
    view = await engine.join(room, enter=True)
    entries = await engine.backend.client.xrange(keys.room_key(room, "events"))
    at, id_, sid = str(clock.now_us).encode(), view.id.encode(), str(view.sid).encode()
    place = at  # the first person's place is the time of arrival
    assert [
        {b"kind": b"called", b"at": at, b"n": b"1", b"ids": id_, b"places": place},
        {b"kind": b"entered", b"at": at, b"n": b"2", b"ids": id_, b"sid": sid},
    ] == [fields for _, fields in entries]


async def test_left_is_said_until_the_line_has_passed(engine: Engine, room: str) -> None:
    """A ticket that left is `left`, and once people behind it were called, `passed`."""
    await paused(engine, room)
    first, _ = await crowd(engine, room, 2)
    await engine.leave(room, first.ticket)
    assert Reason.LEFT is (await engine.poll(room, first.ticket)).reason
    await engine.admit(room, 1, force=True)
    assert Reason.PASSED is (await engine.poll(room, first.ticket)).reason
