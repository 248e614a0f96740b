"""Places without polling: who is dropped for silence, who may return, and who is too late."""

from __future__ import annotations

import pytest

from tests.support.clock import Clock, advance_all, crowd
from waitroom.engine import Engine, keys
from waitroom.errors import TurnPassed
from waitroom.models import Policy, Reason, State, TicketView

PAUSED = Policy(mode="paused", presence_s=10)  # type: ignore[arg-type]


async def silence(engine: Engine, clock: Clock, room: str, seconds: int) -> None:
    """Pass time in which we are running and nobody else is there."""
    for _ in range(seconds // 2):  # 5 s between two calls would count as our silence
        clock.step(2)
        await engine.advance(room)


async def poll_all(engine: Engine, room: str, views: list[TicketView]) -> list[State]:
    """Make all of them poll at once."""
    answers = await engine.poll_many(room, [view.ticket for view in views])
    return [answer.state for answer in answers if isinstance(answer, TicketView)]


async def hoard(engine: Engine, clock: Clock, room: str) -> list[TicketView]:
    """Take nine places in a room for three, by abandoning each three until they are dropped."""
    views = []
    for _ in range(3):
        views += await crowd(engine, room, 3)
        await silence(engine, clock, room, 24)
    assert 0 == (await engine.stats(room)).waiting
    return views


@pytest.mark.attack
async def test_a_hoard_is_counted(engine: Engine, clock: Clock, room: str) -> None:
    """Operators see how many may come back to a room that seems empty, past `queue_limit`."""
    await engine.create(room, PAUSED.change(queue_limit=3))
    views = await hoard(engine, clock, room)
    assert 9 == (await engine.stats(room)).may_return
    assert [State.WAITING] * 9 == await poll_all(engine, room, views)
    stats = await engine.stats(room)
    assert (9, 0) == (stats.waiting, stats.may_return)


@pytest.mark.attack
async def test_a_hoard_ends_with_return_s(engine: Engine, clock: Clock, room: str) -> None:
    """With `return_s` only recently dropped people come back; the others are told."""
    await engine.create(room, PAUSED.change(queue_limit=3, return_s=30))
    views = await hoard(engine, clock, room)
    assert 3 == (await engine.stats(room)).may_return
    answers = await engine.poll_many(room, [view.ticket for view in views])
    assert [Reason.ABANDONED] * 6 + [None] * 3 == [
        answer.reason for answer in answers if isinstance(answer, TicketView)
    ]
    assert 3 == (await engine.stats(room)).waiting
    with pytest.raises(TurnPassed, match="abandoned"):
        await engine.enter(room, views[0].ticket)


@pytest.mark.attack
async def test_return_s_set_against_a_hoard(engine: Engine, clock: Clock, room: str) -> None:
    """If set while a hoard exists, it counts from then on, also for people dropped before."""
    await engine.create(room, PAUSED.change(queue_limit=3))
    views = await hoard(engine, clock, room)
    await engine.configure(room, return_s=30)
    await silence(engine, clock, room, 30)
    assert 9 == (await engine.stats(room)).may_return
    assert [State.WAITING] == await poll_all(engine, room, views[:1])
    await silence(engine, clock, room, 4)
    assert 0 == (await engine.stats(room)).may_return
    assert [State.GONE] * 8 == await poll_all(engine, room, views[1:])


@pytest.mark.attack
async def test_too_late_is_too_late_for_every_ticket(
    engine: Engine, clock: Clock, room: str
) -> None:
    """Anybody gone joins again at the end, and none of their older tickets restores the place."""
    await engine.create(room, PAUSED.change(return_s=30))
    early, other = await crowd(engine, room, 2)
    for _ in range(60):
        clock.step(1)
        await engine.advance(room)
        await engine.poll(room, other.ticket)
    again = await engine.join(room, ticket=early.ticket)
    assert (2, True) == (again.position, again.new)
    for _ in range(24):  # dropped again, and back in time: at the new place
        clock.step(1)
        await engine.advance(room)
        await engine.poll(room, other.ticket)
    assert 1 == (await engine.stats(room)).may_return
    assert 2 == (await engine.poll(room, early.ticket)).position


async def test_who_cannot_return_is_not_counted(engine: Engine, clock: Clock, room: str) -> None:
    """Left, passed by the line, or with a ticket that is too old: none of them may return."""
    await engine.create(room, PAUSED.change(ticket_ttl_s=600, session_s=None))
    views = await crowd(engine, room, 4)
    await silence(engine, clock, room, 24)
    assert 4 == (await engine.stats(room)).may_return
    await engine.leave(room, views[0].ticket)
    assert 3 == (await engine.stats(room)).may_return
    await engine.poll(room, views[2].ticket)
    await engine.configure(room, mode="open")
    assert 1 == await advance_all(engine, room)
    assert 1 == (await engine.stats(room)).may_return
    await silence(engine, clock, room, 620)
    assert 0 == (await engine.stats(room)).may_return
    names = [keys.room_key(room, name) for name in ("swept", "swept_at")]
    assert 0 == await engine.backend.client.exists(*names)


async def test_our_silence_does_not_count(engine: Engine, clock: Clock, room: str) -> None:
    """After our outage `return_s` counts from our return, because nobody could come back before."""
    await engine.create(room, PAUSED.change(return_s=30))
    views = await crowd(engine, room, 3)
    await silence(engine, clock, room, 24)
    await engine.join(room)  # somebody waits, so that our silence is recognised
    clock.step(600)
    assert 0 == (await engine.advance(room)).abandoned
    await silence(engine, clock, room, 28)
    assert [State.WAITING] == await poll_all(engine, room, views[:1])
    await silence(engine, clock, room, 4)
    assert [State.GONE] * 2 == await poll_all(engine, room, views[1:])


async def test_closed_rooms_wait_for_everybody(engine: Engine, clock: Clock, room: str) -> None:
    """While a room is closed nobody is too late; `return_s` counts from its opening."""
    await engine.create(room, PAUSED.change(return_s=30))
    views = await crowd(engine, room, 2)
    await silence(engine, clock, room, 24)
    await engine.configure(room, mode="closed")
    await silence(engine, clock, room, 100)
    assert [State.WAITING] == await poll_all(engine, room, views[:1])
    await engine.configure(room, mode="paused")
    await silence(engine, clock, room, 20)
    assert [State.WAITING] == await poll_all(engine, room, views[1:])


async def test_a_loss_forgets_who_was_too_late(engine: Engine, clock: Clock, room: str) -> None:
    """Notes are lost with everything else: after a loss nobody loses their place for it."""
    await engine.create(room, PAUSED.change(return_s=30))
    views = await crowd(engine, room, 2)
    await silence(engine, clock, room, 60)
    assert [State.GONE] == await poll_all(engine, room, views[:1])
    await engine.backend.client.delete(*keys.script_keys(room))
    assert [State.WAITING] * 2 == await poll_all(engine, room, views)


# A dead load balancer -------------------------------------------------------------------------


async def polling_crowd(engine: Engine, clock: Clock, room: str, people: int) -> list[TicketView]:
    """Let people join and poll for a while."""
    views = await crowd(engine, room, people)
    for _ in range(10):
        clock.step(2)
        await engine.advance(room)
        await poll_all(engine, room, views)
    return views


@pytest.mark.attack
async def test_visitors_cut_off_lose_nothing(engine: Engine, clock: Clock, room: str) -> None:
    """Many polled, then nobody: nobody is dropped or called, and no turn runs out meanwhile."""
    policy = Policy(
        capacity=5, presence_s=60, return_s=30, enter_within_s=40, recover_s=0, session_s=None
    )
    await engine.create(room, policy)
    views = await crowd(engine, room, 40)
    await advance_all(engine, room)
    for _ in range(5):
        clock.step(2)
        await engine.advance(room)
        await poll_all(engine, room, views)
    await silence(engine, clock, room, 600)
    counters = (await engine.stats(room)).counters
    assert (0, 0, 5) == (counters["abandoned"], counters["no_show"], counters["called_total"])
    states = await poll_all(engine, room, views)
    assert [State.CALLED] * 5 + [State.WAITING] * 35 == states
    assert State.INSIDE is (await engine.enter(room, views[0].ticket)).state
    for _ in range(35):  # one is back, so the others are silent and turns run out
        clock.step(2)
        await engine.advance(room)
        await engine.poll(room, views[-1].ticket)
    counters = (await engine.stats(room)).counters
    assert (30, 4) == (counters["abandoned"], counters["no_show"])


async def test_admission_holds_after_a_long_cut(engine: Engine, clock: Clock, room: str) -> None:
    """Longer than `recover_s` without a visit is an outage: admission holds until all are back."""
    await engine.create(room, PAUSED.change(presence_s=150))
    views = await polling_crowd(engine, clock, room, 30)
    await silence(engine, clock, room, 90)
    await engine.configure(room, mode="open")
    await engine.poll(room, views[-1].ticket)
    assert 0 == (await engine.advance(room)).called
    assert (await engine.stats(room)).hold_until_ms is not None
    clock.step(4)
    for _ in range(20):
        clock.step(4)
        await poll_all(engine, room, views)
        done = await engine.advance(room)
    assert 0 == done.waiting


@pytest.mark.parametrize("people", [10, 30])
async def test_who_never_polled_is_nobody(
    engine: Engine, clock: Clock, room: str, people: int
) -> None:
    """Few people, or a crowd that joined and never polled, are dropped as usual."""
    await engine.create(room, PAUSED)
    views = await crowd(engine, room, people)
    clock.step(3)
    await poll_all(engine, room, views[:10])
    await silence(engine, clock, room, 40)
    assert 0 == (await engine.stats(room)).waiting
