"""One short history per promise that a broken engine cannot pass: see `support/mutants.py`."""

from __future__ import annotations

import pytest

from tests.support.clock import Clock, advance_all, crowd
from waitroom.engine import Engine
from waitroom.engine.keys import ROOM_KEYS, room_key
from waitroom.errors import EnterLater, TurnPassed
from waitroom.models import BeforeOpen, Mode, Policy, Reason, State, TicketView
from waitroom.moments import from_ms

pytestmark = pytest.mark.every_kind


async def test_capacity_is_never_passed(engine: Engine, room: str, clock: Clock) -> None:
    """With three seats exactly three people have one, whichever verb gave a seat away."""
    await engine.create(room, Policy(capacity=3, session_s=60))
    people = await crowd(engine, room, 8)
    for _ in range(3):
        await advance_all(engine, room)
        clock.step(1)
        stats = await engine.stats(room)
        assert 3 == stats.called + stats.inside
    await engine.leave(room, people[0].ticket)
    stats = await engine.stats(room)
    assert (4, 3) == (stats.waiting, stats.called + stats.inside)


async def test_nobody_is_forgotten(engine: Engine, room: str, clock: Clock) -> None:
    """Everybody who joined is waiting, called or inside, after every step."""
    await engine.create(room, Policy(batch=3, every_s=1))
    people = await crowd(engine, room, 12)
    for _ in range(5):
        clock.step(1)
        await advance_all(engine, room)
        states = await _states(engine, room, people)
        stats = await engine.stats(room)
        assert State.GONE not in states
        assert 12 == stats.waiting + stats.called


async def test_the_first_are_called_first(engine: Engine, room: str, clock: Clock) -> None:
    """First come, first called."""
    await engine.create(room, Policy(batch=2, every_s=1))
    people = [await engine.join(room) for _ in range(8)]
    for called in range(4, 9, 2):
        clock.step(1)
        await advance_all(engine, room)
        states = await _states(engine, room, people)
        assert [State.CALLED] * called + [State.WAITING] * (8 - called) == states


async def test_the_rolling_limit_counts_who_goes_inside(
    engine: Engine, room: str, clock: Clock
) -> None:
    """People who enter long after their call count in the window in which they enter."""
    await engine.create(room, Policy(max_entries=3, per_s=10, enter_within_s=60))
    people = await crowd(engine, room, 12)
    entered_at: list[float] = []
    for _ in range(12):
        clock.step(4)
        await advance_all(engine, room)
        for person in people:
            view = await engine.poll(room, person.ticket)
            if view.state is State.CALLED and await _goes_inside(engine, room, person.ticket):
                entered_at.append(clock.now_us / 1e6)
    assert len(entered_at) >= 9, "the limit was not reached"
    for end in entered_at:
        assert sum(end - 10 < at <= end for at in entered_at) <= 3


async def test_late_enterers_and_new_calls_share_the_window(
    engine: Engine, room: str, clock: Clock
) -> None:
    """Three are called, wait 11 s and enter together: the next call waits for their window."""
    await engine.create(room, Policy(max_entries=3, per_s=10, enter_within_s=60))
    people = await crowd(engine, room, 6)
    for _ in range(11):
        clock.step(1)
        await advance_all(engine, room)
    for person in people[:3]:
        assert await _goes_inside(engine, room, person.ticket)
    clock.step(1)
    await advance_all(engine, room)
    assert [State.WAITING] * 3 == await _states(engine, room, people[3:])


async def test_the_rolling_limit_holds_when_it_is_lowered(
    engine: Engine, room: str, clock: Clock
) -> None:
    """Anybody called under a higher limit keeps the turn, and enters when the lower one allows."""
    await engine.create(room, Policy(max_entries=3, per_s=10, enter_within_s=60))
    people = await crowd(engine, room, 3)
    await engine.configure(room, max_entries=1)
    assert [True, False, False] == [await _goes_inside(engine, room, p.ticket) for p in people]
    clock.step(10.5)
    assert [True, False] == [await _goes_inside(engine, room, p.ticket) for p in people[1:]]


async def test_a_turn_ends_at_its_deadline_without_a_sweep(
    engine: Engine, room: str, clock: Clock
) -> None:
    """A turn is judged by its deadline: one second late is late, even if nothing has run since."""
    await engine.create(room, Policy(enter_within_s=3))
    person = await engine.join(room)
    clock.step(4)
    with pytest.raises(TurnPassed):
        await engine.enter(room, person.ticket)


async def test_a_turn_that_is_over_stays_over(engine: Engine, room: str, clock: Clock) -> None:
    """Our silence restores nobody's turn if their place was reassigned before it."""
    await engine.create(room, Policy(capacity=1, enter_within_s=8))
    first = await engine.join(room)
    for seconds in (2, 2, 2, 1.6):
        clock.step(seconds)
        await engine.poll(room, first.ticket)
    clock.step(0.7)  # less than a second later, so `alive_at` is not written again
    second = await engine.join(room)
    assert State.CALLED is second.state
    clock.step(6)  # our silence
    with pytest.raises(TurnPassed):
        await engine.enter(room, first.ticket)
    await engine.enter(room, second.ticket)
    assert 1 == (await engine.stats(room)).inside


async def test_who_drew_is_not_too_old_after_a_loss(
    engine: Engine, room: str, clock: Clock
) -> None:
    """A drawn place is no time of arrival, even in a room that was lost and restored."""
    opens = clock.now_ms + 5_000
    policy = Policy(capacity=1, opens_at=from_ms(opens), before_open=BeforeOpen.DRAW, recover_s=10)
    await engine.create(room, policy)
    people = await crowd(engine, room, 3)
    clock.step(6)
    names = [room_key(room, name) for name in ROOM_KEYS]
    await engine.backend.client.delete(*names)
    for _ in range(12):
        await engine.poll_many(room, [person.ticket for person in people])
        clock.step(1)
        assert 0 == (await engine.advance(room)).abandoned
    stats = await engine.stats(room)
    assert (2, 1) == (stats.waiting, stats.called)


async def test_a_vouched_session_is_not_back_in_line(
    engine: Engine, room: str, clock: Clock
) -> None:
    """Anybody readmitted after a loss who has finished does not get a place by a stray poll."""
    await engine.create(room, Policy(mode=Mode.MANUAL))
    person = await engine.join(room)
    await engine.call(room, person.id)
    inside = await engine.enter(room, person.ticket)
    await engine.backend.client.delete(*(room_key(room, name) for name in ROOM_KEYS))
    until = clock.now_ms + 60_000
    await engine.renew(room, person.ticket, sid=inside.sid, vouched_until_ms=until)
    await engine.finish(room, person.ticket)
    assert State.GONE is (await engine.poll(room, person.ticket)).state


async def test_who_left_stays_gone(engine: Engine, room: str) -> None:
    """A stray poll by somebody who left or was kicked restores nobody."""
    await engine.create(room, Policy(mode=Mode.MANUAL))
    people = [await engine.join(room) for _ in range(4)]
    await engine.leave(room, people[1].ticket)
    await engine.kick(room, [people[2].id])
    for person, reason in zip(people[1:3], (Reason.LEFT, Reason.KICKED), strict=True):
        view = await engine.poll(room, person.ticket)
        assert (State.GONE, reason) == (view.state, view.reason)
    assert 2 == (await engine.stats(room)).waiting


async def _states(engine: Engine, room: str, people: list[TicketView]) -> list[State]:
    views = await engine.poll_many(room, [person.ticket for person in people])
    return [view.state for view in views if isinstance(view, TicketView)]


async def _goes_inside(engine: Engine, room: str, ticket: str) -> bool:
    try:
        await engine.enter(room, ticket)
    except EnterLater:
        return False
    return True
