"""Gone means gone: a stray poll restores nothing, and deadlines count without a sweep."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from tests.acceptance.tools import place_of
from tests.support.clock import Clock, crowd
from waitroom.engine import Engine
from waitroom.errors import SessionOver, TurnPassed
from waitroom.models import Policy, Reason, State, TicketView

Way = Callable[[Engine, str, TicketView], Awaitable[object]]


async def _left(engine: Engine, room: str, who: TicketView) -> None:
    await engine.leave(room, who.ticket)


async def _kicked(engine: Engine, room: str, who: TicketView) -> None:
    assert 1 == await engine.kick(room, [who.id])


async def _finished(engine: Engine, room: str, who: TicketView) -> None:
    await engine.call(room, who.id, force=True)
    await engine.enter(room, who.ticket)
    await engine.finish(room, who.ticket)


async def _left_when_called(engine: Engine, room: str, who: TicketView) -> None:
    await engine.call(room, who.id, force=True)
    await engine.leave(room, who.ticket)


async def _kicked_when_inside(engine: Engine, room: str, who: TicketView) -> None:
    await engine.call(room, who.id, force=True)
    await engine.enter(room, who.ticket)
    assert 1 == await engine.kick(room, [who.id])


WAYS: list[Way] = [_left, _kicked, _finished, _left_when_called, _kicked_when_inside]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__.strip("_"))
async def test_a_stray_poll_brings_nobody_back(
    engine: Engine, room: str, clock: Clock, way: Way
) -> None:
    """Left, kicked, called by hand, finished: then a poll says gone, a join goes to the end."""
    await engine.create(room, Policy(capacity=1))
    people = await crowd(engine, room, 6)
    who = people[3]
    await way(engine, room, who)
    for seconds in (0, 1, 20):
        clock.step(seconds)
        view = await engine.poll(room, who.ticket)
        assert State.GONE == view.state
        kicked = way in (_kicked, _kicked_when_inside)
        assert view.reason in ([Reason.KICKED] if kicked else [Reason.LEFT, Reason.PASSED])
        assert who.id not in [line.id for line in (await engine.list(room)).tickets]
    last = (await crowd(engine, room, 1))[0]
    again = await engine.join(room, who.ticket)
    assert (State.WAITING, 6, True) == (again.state, again.position, again.new)
    assert place_of(room, again.ticket) > place_of(room, last.ticket)
    # From now on neither string may bring back the old place.
    for ticket in (who.ticket, again.ticket):
        assert 6 == (await engine.poll(room, ticket)).position
    await engine.leave(room, again.ticket)
    for ticket in (who.ticket, again.ticket):
        assert State.GONE == (await engine.poll(room, ticket)).state


async def test_called_by_hand_and_then_a_stray_poll(engine: Engine, room: str) -> None:
    """Somebody called by hand is called, not waiting, however often the old ticket polls."""
    await engine.create(room, Policy(capacity=1))
    who = (await crowd(engine, room, 4))[2]
    await engine.call(room, who.id, force=True)
    for _ in range(2):
        assert State.CALLED == (await engine.poll(room, who.ticket)).state
        assert State.CALLED == (await engine.join(room, who.ticket)).state
    assert 2 == (await engine.stats(room)).waiting


async def test_a_no_show_of_a_call_by_hand_is_not_back_in_line(
    engine: Engine, room: str, clock: Clock
) -> None:
    """Called by hand but never came: gone, swept or not; a join goes to the end of the line."""
    await engine.create(room, Policy(capacity=1, enter_within_s=30))
    people = [await engine.join(room, enter=True) for _ in range(4)]
    who = people[2]
    await engine.call(room, who.id, force=True)
    for _ in range(31):
        clock.step(1)
        await engine.poll_many(room, [people[1].ticket, people[3].ticket])
    assert Reason.NO_SHOW == (await engine.poll(room, who.ticket)).reason
    await engine.advance(room)
    assert State.GONE == (await engine.poll(room, who.ticket)).state
    assert 3 == (await engine.join(room, who.ticket)).position


async def test_enter_after_the_turn_is_refused_without_a_sweep(
    engine: Engine, room: str, clock: Clock
) -> None:
    """Without any `advance`, the millisecond of `enter_by` itself is already too late."""
    await engine.create(room, Policy(capacity=1, enter_within_s=4))
    in_time, late = await crowd(engine, room, 2)
    clock.step(3.999)
    assert State.INSIDE == (await engine.enter(room, in_time.ticket)).state
    await engine.finish(room, in_time.ticket)
    assert State.CALLED == (await engine.poll(room, late.ticket)).state
    clock.step(4)
    assert Reason.NO_SHOW == (await engine.poll(room, late.ticket)).reason
    with pytest.raises(TurnPassed):
        await engine.enter(room, late.ticket)
    with pytest.raises(TurnPassed):
        await engine.enter(room, late.ticket)


async def test_renew_and_finish_after_the_end_are_refused_without_a_sweep(
    engine: Engine, room: str, clock: Clock
) -> None:
    """Without any `advance`, a session is over at its end, and it cannot come back."""
    await engine.create(room, Policy(session_s=4, renewable=True))
    first, second = [await engine.join(room, enter=True) for _ in range(2)]
    clock.step(3.999)
    renewed = await engine.renew(room, first.ticket)
    assert clock.now_ms + 4_000 == renewed.session_ends_at_ms
    clock.step(0.001)
    for _ in range(2):
        with pytest.raises(SessionOver):
            await engine.renew(room, second.ticket)
    clock.step(4)
    with pytest.raises(SessionOver):
        await engine.renew(room, first.ticket)
    with pytest.raises(SessionOver):
        await engine.finish(room, first.ticket)
    assert 0 == (await engine.stats(room)).inside
