"""enter: a called ticket goes inside, once, in time, and never beyond the rolling limit."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from tests.support.clock import Clock, crowd, open_engine
from tests.support.servers import Server
from waitroom.engine import Engine, keys
from waitroom.errors import (
    EnterLater,
    InvalidTicket,
    NotYourTurn,
    TurnPassed,
    UnknownRoom,
)
from waitroom.models import Mode, Policy, State, TicketView


async def test_inside(engine: Engine, clock: Clock, room: str) -> None:
    """A called ticket goes inside until `session_s` from now, with a session id."""
    await engine.create(room, Policy(session_s=60))
    person = await engine.join(room)
    clock.step(2)
    inside = await engine.enter(room, person.ticket)
    assert (State.INSIDE, True) == (inside.state, inside.new)
    assert (clock.now_ms + 60_000, clock.now_us) == (inside.session_ends_at_ms, inside.sid)


async def test_twice(engine: Engine, clock: Clock, room: str) -> None:
    """A repeated `enter` returns the same session and counts nobody twice."""
    await engine.create(room, Policy())
    person = await engine.join(room)
    first = await engine.enter(room, person.ticket)
    clock.step(5)
    again = await engine.enter(room, person.ticket)
    assert (first.sid, first.session_ends_at_ms) == (again.sid, again.session_ends_at_ms)
    assert (False, 1) == (again.new, (await engine.stats(room)).counters["entered"])


async def test_sids_of_one_microsecond(engine: Engine, room: str) -> None:
    """Sessions that begin in the same microsecond have different ids."""
    await engine.create(room, Policy())
    people = await crowd(engine, room, 3)
    sids = {(await engine.enter(room, person.ticket)).sid for person in people}
    assert 3 == len(sids)


async def test_not_called_yet(engine: Engine, room: str) -> None:
    """A waiting person cannot enter, and keeps the place."""
    await engine.create(room, Policy(mode=Mode.PAUSED))
    person = await engine.join(room)
    with pytest.raises(NotYourTurn):
        await engine.enter(room, person.ticket)
    assert 1 == (await engine.poll(room, person.ticket)).position


async def test_too_late_unswept(engine: Engine, clock: Clock, room: str) -> None:
    """After `enter_by` the turn is over even if no sweep has run."""
    await engine.create(room, Policy(enter_within_s=10))
    person = await engine.join(room)
    for _ in range(2):
        clock.step(5)
        await engine.join(room)
    with pytest.raises(TurnPassed, match="no_show"):
        await engine.enter(room, person.ticket)
    assert 0 == (await engine.stats(room)).inside


async def test_at_the_last_moment(engine: Engine, clock: Clock, room: str) -> None:
    """A millisecond before `enter_by` is in time."""
    await engine.create(room, Policy(enter_within_s=4))
    person = await engine.join(room)
    clock.step(3.999)
    assert State.INSIDE is (await engine.enter(room, person.ticket)).state


async def test_missed_turn_goes_to_the_next(engine: Engine, clock: Clock, room: str) -> None:
    """The place of somebody who comes too late is reassigned in the same call."""
    await engine.create(room, Policy(capacity=1, enter_within_s=10))
    late, following = await crowd(engine, room, 2)
    for _ in range(2):
        clock.step(5)
        await engine.poll(room, following.ticket)
    with pytest.raises(TurnPassed):
        await engine.enter(room, late.ticket)
    assert State.CALLED is (await engine.poll(room, following.ticket)).state


async def test_after_the_session(engine: Engine, clock: Clock, room: str) -> None:
    """A session that ran out cannot be entered again."""
    await engine.create(room, Policy(session_s=60))
    person = await engine.join(room, enter=True)
    clock.step(60)
    with pytest.raises(TurnPassed, match="expired"):
        await engine.enter(room, person.ticket)


async def test_after_leaving(engine: Engine, room: str) -> None:
    """Anybody who left cannot enter."""
    await engine.create(room, Policy())
    person = await engine.join(room)
    await engine.leave(room, person.ticket)
    with pytest.raises(TurnPassed):
        await engine.enter(room, person.ticket)


async def test_after_clear(engine: Engine, room: str) -> None:
    """A turn of an earlier epoch is over."""
    await engine.create(room, Policy())
    person = await engine.join(room)
    await engine.clear(room)
    with pytest.raises(TurnPassed, match="cleared"):
        await engine.enter(room, person.ticket)


async def test_absent_gets_the_place_back(engine: Engine, clock: Clock, room: str) -> None:
    """Anybody dropped for silence who tries to enter waits again at the old place."""
    await engine.create(room, Policy(mode=Mode.PAUSED, presence_s=10))
    person = await engine.join(room)
    for _ in range(4):
        clock.step(4)
        await engine.advance(room)
    with pytest.raises(NotYourTurn):
        await engine.enter(room, person.ticket)
    assert 1 == (await engine.poll(room, person.ticket)).position


async def test_late_enterers_do_not_pass_the_limit(engine: Engine, clock: Clock, room: str) -> None:
    """People called in one window who enter in the next leave no room for others there."""
    await engine.create(room, Policy(max_entries=2, per_s=10, enter_within_s=60))
    people = await crowd(engine, room, 4)
    for _ in range(3):
        clock.step(4)
        await engine.advance(room)
    for person in people[:2]:
        await engine.enter(room, person.ticket)
    assert 0 == (await engine.advance(room)).called


async def test_enter_later(engine: Engine, clock: Clock, room: str) -> None:
    """A ticket called by force beyond the limit learns when to come, and keeps its turn."""
    await engine.create(room, Policy(max_entries=1, per_s=10, enter_within_s=60))
    await engine.join(room, enter=True)
    person = await engine.join(room)
    await engine.admit(room, 1, force=True)
    with pytest.raises(EnterLater) as caught:
        await engine.enter(room, person.ticket)
    assert clock.now_ms < caught.value.retry_at_ms <= clock.now_ms + 11_000
    clock.now_us = caught.value.retry_at_ms * 1000
    assert State.INSIDE is (await engine.enter(room, person.ticket)).state


async def test_a_full_window_does_not_refuse_a_repeat(engine: Engine, room: str) -> None:
    """Anybody inside, or asking twice in one call, keeps their session though it is full."""
    await engine.create(room, Policy(max_entries=1, per_s=10, enter_within_s=60))
    person = await engine.join(room)
    first, second = await together(engine, room, [person, person])
    again = await engine.enter(room, person.ticket)
    assert {first.sid} == {second.sid, again.sid}
    assert [True, False, False] == [view.new for view in (first, second, again)]


async def test_bypass(engine: Engine, room: str) -> None:
    """In `bypass` one who waits enters at once, after those in front were called."""
    await engine.create(room, Policy(mode=Mode.PAUSED, capacity=1))
    first, second = await crowd(engine, room, 2)
    await engine.configure(room, mode=Mode.BYPASS)
    assert State.INSIDE is (await engine.enter(room, second.ticket)).state
    assert State.CALLED is (await engine.poll(room, first.ticket)).state


async def test_by_another_process(engine: Engine, server: Server, clock: Clock, room: str) -> None:
    """A ticket works in every process that has the secret."""
    await engine.create(room, Policy())
    person = await engine.join(room)
    async with open_engine(server.url, clock) as other:
        inside = await other.enter(room, person.ticket)
    assert inside.sid == (await engine.poll(room, person.ticket)).sid


async def test_event(engine: Engine, room: str) -> None:
    """An entry is one event, with its ticket and its session."""
    await engine.create(room, Policy())
    person = await engine.join(room)
    inside = await engine.enter(room, person.ticket)
    (_, last), *_ = await engine.backend.client.xrevrange(keys.room_key(room, "events"), count=1)
    assert (b"entered", person.id.encode(), str(inside.sid).encode()) == (
        last[b"kind"],
        last[b"ids"],
        last[b"sid"],
    )


async def test_bad_input(engine: Engine, room: str) -> None:
    """A forged ticket is refused, and so is an unknown room."""
    await engine.create(room, Policy())
    person = await engine.join(room)
    with pytest.raises(InvalidTicket):
        await engine.enter(room, "x" * 90)
    await engine.drop(room)
    with pytest.raises(UnknownRoom):
        await engine.enter(room, person.ticket)


# Many at once ---------------------------------------------------------------------------------


async def together(engine: Engine, room: str, people: Sequence[TicketView]) -> list[Any]:
    """Make people enter at the same moment; return each one's view or error."""
    calls = (engine.enter(room, person.ticket) for person in people)
    return await asyncio.gather(*calls, return_exceptions=True)


async def test_together(engine: Engine, room: str) -> None:
    """People who enter at once share one call, and each gets their own session."""
    await engine.create(room, Policy())
    people = await crowd(engine, room, 20)
    calls: list[int] = []
    engine.on_script(lambda verb, _, items: calls.append(items) if verb == "enter" else None)
    inside = await together(engine, room, people)
    assert [20] == calls
    assert [person.id for person in people] == [person.id for person in inside]
    assert 20 == len({person.sid for person in inside})
    assert all(person.new and person.state is State.INSIDE for person in inside)
    assert all([await engine.check(room, person.id, person.sid) for person in inside])
    assert 20 == (await engine.stats(room)).counters["entered"]


async def test_the_same_ticket_together(engine: Engine, room: str) -> None:
    """One ticket from two tabs at once has one session, which is new only once."""
    await engine.create(room, Policy())
    person = await engine.join(room)
    first, second = await together(engine, room, [person, person])
    assert (first.sid, True, False) == (second.sid, first.new, second.new)
    assert first.session_ends_at_ms == second.session_ends_at_ms
    stats = await engine.stats(room)
    assert (1, 1) == (stats.inside, stats.counters["entered"])


async def test_each_gets_their_own_answer(engine: Engine, clock: Clock, room: str) -> None:
    """Inside, called, waiting and gone in one call: nobody gets somebody else's answer."""
    await engine.create(room, Policy(capacity=3, enter_within_s=None))
    inside, called, left, waiting = await crowd(engine, room, 4)
    before = await engine.enter(room, inside.ticket)
    clock.step(1)
    await engine.configure(room, capacity=2)
    await engine.leave(room, left.ticket)
    first, second, third, fourth = await together(engine, room, [inside, called, left, waiting])
    assert (before.sid, False) == (first.sid, first.new)
    assert (called.id, True) == (second.id, second.new)
    assert isinstance(third, TurnPassed)
    assert isinstance(fourth, NotYourTurn)


async def test_a_batch_keeps_the_rolling_limit(engine: Engine, clock: Clock, room: str) -> None:
    """When many enter at once, the window takes as many as fit; the others learn when to come."""
    await engine.create(room, Policy(max_entries=10, per_s=60, enter_within_s=300))
    people = await crowd(engine, room, 10)
    await engine.configure(room, max_entries=4)
    answers = await together(engine, room, people)
    assert [True] * 4 + [False] * 6 == [isinstance(answer, TicketView) for answer in answers]
    later = [answer.retry_at_ms for answer in answers if isinstance(answer, EnterLater)]
    assert 6 == len(later)
    assert {True} == {clock.now_ms + 60_000 < at <= clock.now_ms + 62_000 for at in later}
    assert 4 == (await engine.stats(room)).entries_in_window


async def test_the_absent_among_many(engine: Engine, clock: Clock, room: str) -> None:
    """A swept person gets the place back, next to others who go in."""
    await engine.create(room, Policy(capacity=1, presence_s=10, enter_within_s=None))
    called, absent = await crowd(engine, room, 2)
    for _ in range(4):
        clock.step(4)
        await engine.advance(room)
    assert 0 == (await engine.stats(room)).waiting
    inside, back = await together(engine, room, [called, absent])
    assert inside.state is State.INSIDE
    assert isinstance(back, NotYourTurn)
    assert 1 == (await engine.poll(room, absent.ticket)).position


async def test_more_than_one_call_takes(engine: Engine, room: str) -> None:
    """A large crowd goes in over several calls, and the next people are called meanwhile."""
    await engine.create(room, Policy(capacity=1000))
    people = await crowd(engine, room, 1100)
    answers = await together(engine, room, people)
    assert [True] * 1000 + [False] * 100 == [isinstance(answer, TicketView) for answer in answers]
    stats = await engine.stats(room)
    assert (1000, 0, 100) == (stats.inside, stats.called, stats.waiting)


async def test_buckets_are_pruned(engine: Engine, clock: Clock, room: str) -> None:
    """Even without a rolling limit, the entries of a minute are kept, and no more than that."""
    await engine.create(room, Policy(session_s=1, presence_s=None))
    most = 0
    for _ in range(200):
        clock.step(0.7)
        await engine.join(room, enter=True)
        most = max(most, await engine.backend.client.hlen(keys.room_key(room, "entries")))
    assert 59 <= most <= 61
    assert (await engine.stats(room)).entries_in_window in (85, 86, 87)
