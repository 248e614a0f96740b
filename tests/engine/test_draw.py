"""The draw before opening: order by hash, hidden until opening, later arrivals behind."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from tests.support.clock import Clock, advance_all, crowd, open_engine
from tests.support.servers import Server
from waitroom.engine import Engine, keys
from waitroom.errors import RoomNotOpen
from waitroom.models import BeforeOpen, Listed, Mode, Policy, State
from waitroom.moments import from_ms


def drawing(clock: Clock, **policy: Any) -> Policy:
    """Return a policy that draws, and opens in an hour."""
    defaults: dict[str, Any] = {"presence_s": None, "enter_within_s": None}
    return Policy(
        opens_at=from_ms(clock.now_ms + 3_600_000),
        before_open=BeforeOpen.DRAW,
        **{**defaults, **policy},
    )


async def order(engine: Engine, room: str) -> list[str]:
    """Return the ids of the people who wait, in the order of the draw, which no list reveals."""
    waiting = await engine.backend.client.zrange(keys.room_key(room, "waiting"), 0, -1)
    return [ticket_id.decode() for ticket_id in waiting]


async def until_open(engine: Engine, clock: Clock, room: str) -> None:
    """Pass an hour as a ticker would, without a silence."""
    for _ in range(60):
        clock.step(60)
        await engine.advance(room)


async def test_order_by_hash(engine: Engine, clock: Clock, room: str) -> None:
    """People who came before the opening stand in the order of the draw, not of arrival."""
    await engine.create(room, drawing(clock))
    names = [f"visitor {n}" for n in range(30)]
    people = [await engine.join(room, visitor=name) for name in names]
    drawn = await order(engine, room)
    assert [person.id for person in people] != drawn
    for person in people:
        await engine.leave(room, person.ticket)
    for name in reversed(names):
        await engine.join(room, visitor=name)
    assert drawn == await order(engine, room)


async def test_position_is_hidden(engine: Engine, clock: Clock, room: str) -> None:
    """Before the opening neither join nor poll tells a position; the number waiting is known."""
    await engine.create(room, drawing(clock))
    first, second = await crowd(engine, room, 2)
    assert (None, None) == (first.position, second.position)
    polled = await engine.poll(room, second.ticket)
    assert (State.WAITING, None, 2) == (polled.state, polled.position, polled.waiting)


async def test_position_shows_at_opening(engine: Engine, clock: Clock, room: str) -> None:
    """From the opening on everybody sees where they stand."""
    await engine.create(room, drawing(clock, capacity=1))
    people = await crowd(engine, room, 3)
    await until_open(engine, clock, room)
    await advance_all(engine, room)
    seen = [(await engine.poll(room, person.ticket)).position for person in people]
    assert [1, 2, None] == sorted(seen, key=lambda position: position or 9)


async def test_nobody_is_called_before(engine: Engine, clock: Clock, room: str) -> None:
    """The draw calls nobody before the opening, and then everybody there is room for."""
    await engine.create(room, drawing(clock, capacity=2))
    await crowd(engine, room, 3)
    assert 0 == await advance_all(engine, room)
    await until_open(engine, clock, room)
    assert (1, 2) == ((await engine.stats(room)).waiting, (await engine.stats(room)).called)


async def test_opening_is_due(engine: Engine, clock: Clock, room: str) -> None:
    """In its last second `advance` names the opening as the next thing to do."""
    policy = drawing(clock)
    await engine.create(room, policy)
    await engine.join(room)
    clock.step(3_599.5)
    assert policy.opens_at_ms == (await engine.advance(room)).due_ms


async def test_later_arrivals_stand_behind(engine: Engine, clock: Clock, room: str) -> None:
    """Anybody who comes after the opening is behind all who drew, by arrival."""
    await engine.create(room, drawing(clock, mode=Mode.PAUSED))
    drawn = {person.id for person in await crowd(engine, room, 20)}
    await until_open(engine, clock, room)
    late = [person.id for person in await crowd(engine, room, 3)]
    line = await order(engine, room)
    assert (drawn, late) == (set(line[:20]), line[20:])


async def test_clock_that_lags_at_opening(engine: Engine, clock: Clock, room: str) -> None:
    """A clock set back just after the opening puts nobody among those who drew."""
    await engine.create(room, drawing(clock, mode=Mode.PAUSED))
    await crowd(engine, room, 20)
    await until_open(engine, clock, room)
    first = await engine.join(room)
    clock.step(-1)
    await engine.join(room)
    assert first.id == (await order(engine, room))[20]


async def test_those_before_the_draw_stay_in_front(engine: Engine, clock: Clock, room: str) -> None:
    """People who waited before the draw was announced stay ahead of it."""
    await engine.create(room, Policy(mode=Mode.PAUSED, presence_s=None))
    early = [person.id for person in await crowd(engine, room, 3)]
    await engine.configure(
        room, opens_at=from_ms(clock.now_ms + 3_600_000), before_open=BeforeOpen.DRAW
    )
    await crowd(engine, room, 20)
    assert early == (await order(engine, room))[:3]


async def test_joining_again_draws_no_other_lot(
    engine: Engine, server: Server, clock: Clock, room: str
) -> None:
    """A known visitor who leaves and returns, through any process, keeps their drawn place."""
    await engine.create(room, drawing(clock))
    first = await engine.join(room, visitor="kim")
    place = await engine.backend.client.zscore(keys.room_key(room, "waiting"), first.id)
    for _ in range(2):
        await engine.leave(room, first.ticket)
        async with open_engine(server.url, clock) as other:
            await other.join(room, visitor="kim")
        again = await engine.backend.client.zscore(keys.room_key(room, "waiting"), first.id)
        assert place == again


async def test_process_that_knows_an_older_policy(
    engine: Engine, server: Server, clock: Clock, room: str
) -> None:
    """Visitors of a process that does not know of the draw yet draw like all others."""
    await engine.create(room, Policy(mode=Mode.PAUSED, presence_s=None))
    async with open_engine(server.url, clock) as other:
        await other.room(room)
        await engine.configure(
            room, opens_at=from_ms(clock.now_ms + 3_600_000), before_open=BeforeOpen.DRAW
        )
        mine = {person.id for person in await crowd(engine, room, 30)}
        theirs = {person.id for person in await crowd(other, room, 30)}
    assert theirs != set((await order(engine, room))[:30])
    assert mine | theirs == set(await order(engine, room))


async def test_restored_to_the_drawn_place(engine: Engine, clock: Clock, room: str) -> None:
    """Anybody dropped for silence during the draw gets the drawn place back."""
    await engine.create(room, drawing(clock, presence_s=10))
    people = await crowd(engine, room, 5)
    before = await order(engine, room)
    for _ in range(4):
        clock.step(4)
        await engine.advance(room)
    assert [] == await order(engine, room)
    for person in people:
        await engine.poll(room, person.ticket)
    assert before == await order(engine, room)


async def test_restored_after_an_idle_time(engine: Engine, clock: Clock, room: str) -> None:
    """A draw that was empty for `idle_ttl_s` still gives places that can be restored."""
    await engine.create(room, drawing(clock, presence_s=10, idle_ttl_s=60))
    for person in await crowd(engine, room, 30):
        await engine.leave(room, person.ticket)
    for _ in range(4):
        clock.step(30)
        await engine.advance(room)
    people = await crowd(engine, room, 10)
    for _ in range(4):
        clock.step(4)
        await engine.advance(room)
    back = [(await engine.poll(room, person.ticket)).state for person in people]
    assert [State.WAITING] * 10 == back


async def test_restored_behind_one_called_by_force(engine: Engine, clock: Clock, room: str) -> None:
    """Anybody who draws after somebody was let in by force can still have their place restored."""
    await engine.create(room, drawing(clock, presence_s=10))
    await crowd(engine, room, 1)
    await engine.admit(room, 1, force=True)
    people = await crowd(engine, room, 10)
    for _ in range(4):
        clock.step(4)
        await engine.advance(room)
    back = [(await engine.poll(room, person.ticket)).state for person in people]
    assert [State.WAITING] * 10 == back


async def test_second_sale(engine: Engine, clock: Clock, room: str) -> None:
    """A room that opens a second time draws again, behind those who still wait from the first."""
    await engine.create(room, drawing(clock, mode=Mode.PAUSED))
    first = {person.id for person in await crowd(engine, room, 10)}
    await until_open(engine, clock, room)
    await engine.configure(room, opens_at=from_ms(clock.now_ms + 3_600_000))
    second = [person.id for person in await crowd(engine, room, 30)]
    line = await order(engine, room)
    assert (first, set(second)) == (set(line[:10]), set(line[10:]))
    assert second != line[10:]


async def test_drawn_people_are_not_ancient(engine: Engine, clock: Clock, room: str) -> None:
    """After the opening the longest wait counts from the opening at most, whatever was drawn."""
    await engine.create(room, drawing(clock, capacity=1))
    await crowd(engine, room, 20)
    await until_open(engine, clock, room)
    clock.step(5)
    assert 3_605_000 >= (await engine.stats(room)).oldest_wait_ms


async def test_policy_without_the_draw_drops_nobody(
    engine: Engine, clock: Clock, room: str
) -> None:
    """Removing the opening from the policy afterwards costs nobody their drawn place."""
    await engine.create(room, drawing(clock, mode=Mode.PAUSED))
    await crowd(engine, room, 20)
    await until_open(engine, clock, room)
    await engine.configure(room, opens_at=None, before_open=BeforeOpen.WAIT)
    done = await engine.advance(room)
    assert (0, 20) == (done.abandoned, done.waiting)


async def test_ticket_life_counts_from_the_opening(engine: Engine, clock: Clock, room: str) -> None:
    """A place drawn long before the opening is not too old at the opening."""
    await engine.create(room, drawing(clock, mode=Mode.PAUSED, ticket_ttl_s=60))
    await crowd(engine, room, 5)
    await until_open(engine, clock, room)
    assert 5 == (await engine.advance(room)).waiting


# What nobody may see before the opening ---------------------------------------------------------


async def listed(engine: Engine, room: str, limit: int) -> list[Listed]:
    """List everybody who waits, page by page."""
    tickets: list[Listed] = []
    after = None
    while True:
        page = await engine.list(room, after=after, limit=limit)
        assert len(page.tickets) <= limit
        tickets += page.tickets
        after = page.after
        if after is None:
            return tickets


@pytest.mark.attack
@pytest.mark.parametrize("limit", [7, 500])
@pytest.mark.parametrize("people", [30, 700])
async def test_lists_hide_the_draw(
    engine: Engine, clock: Clock, room: str, people: int, limit: int
) -> None:
    """Before the opening everybody is listed, without a place, and in an order unlike the draw."""
    await engine.create(room, drawing(clock))
    for _ in range(people // 10):
        await crowd(engine, room, 10)
    drawn = await order(engine, room)
    tickets = await listed(engine, room, limit)
    ids = [ticket.id for ticket in tickets]
    assert set(drawn) == set(ids)
    assert {None} == {ticket.place for ticket in tickets}
    page = (await engine.list(room, limit=limit)).tickets
    assert sorted(ticket.id for ticket in page) == [ticket.id for ticket in page]
    lots = {ticket_id: lot for lot, ticket_id in enumerate(drawn)}
    rises = sum(lots[a] < lots[b] for a, b in pairwise(ids))
    # Of 30 in random order 14.5 rise on average, with a deviation of 1.6: this is five of them.
    assert people / 5 < rises < people * 4 / 5, "the list follows the draw"


@pytest.mark.attack
@pytest.mark.parametrize("after", ["1", "9999999999999999", "3~", "0~----------------"])
async def test_cursors_tell_nothing(engine: Engine, clock: Clock, room: str, after: str) -> None:
    """A made-up cursor reveals nothing about a place."""
    await engine.create(room, drawing(clock))
    await crowd(engine, room, 30)
    page = await engine.list(room, after=after, limit=500)
    assert 30 == len(page.tickets)
    assert not page.ordered


@pytest.mark.attack
@pytest.mark.parametrize("ages", [{"since_ms": 1}, {"until_ms": 2**42}, {"since_ms": 0}])
async def test_ages_tell_nothing(
    engine: Engine, clock: Clock, room: str, ages: dict[str, int]
) -> None:
    """Before the opening nobody can be selected by age, because it would reveal the draw."""
    await engine.create(room, drawing(clock))
    await crowd(engine, room, 3)
    with pytest.raises(RoomNotOpen, match="drawn"):
        await engine.list(room, **ages)  # type: ignore[arg-type]


@pytest.mark.attack
async def test_another_policy_does_not_show_the_draw(
    engine: Engine, clock: Clock, room: str
) -> None:
    """Stopping the draw before the opening does not reveal its order: list, poll, defer."""
    await engine.create(room, drawing(clock, max_defers=1))
    first, *_ = await crowd(engine, room, 30)
    opens_at_ms = clock.now_ms + 3_700_000
    await engine.configure(room, before_open=BeforeOpen.WAIT, opens_at=from_ms(opens_at_ms))
    page = await engine.list(room, limit=500)
    assert {None} == {ticket.place for ticket in page.tickets}
    assert None is (await engine.poll(room, first.ticket)).position
    assert None is (await engine.join(room, first.ticket)).position
    assert 0 == (await engine.stats(room)).oldest_wait_ms
    with pytest.raises(RoomNotOpen):
        await engine.defer(room, first.ticket, 1)


@pytest.mark.attack
async def test_events_tell_no_order(engine: Engine, clock: Clock, room: str) -> None:
    """Anybody dropped for silence may return to their drawn place; the event log has them by id."""
    await engine.create(room, drawing(clock, presence_s=10))
    await crowd(engine, room, 15)  # more at once would look like an outage
    start = (await engine.events(room)).cursor
    for _ in range(4):
        clock.step(4)
        await engine.advance(room)
    (swept,) = (await engine.events(room, start)).events
    assert sorted(swept.ids) == list(swept.ids)
    assert 15 == len(swept.ids)


async def test_everything_shows_after_the_opening(engine: Engine, clock: Clock, room: str) -> None:
    """From the opening on, lists are in order, with places; an earlier cursor starts again."""
    await engine.create(room, drawing(clock, mode=Mode.PAUSED))
    await crowd(engine, room, 30)
    cursor = (await engine.list(room, limit=7)).after
    await until_open(engine, clock, room)
    page = await engine.list(room, after=cursor, limit=500)
    assert await order(engine, room) == [ticket.id for ticket in page.tickets]
    assert page.ordered
    assert all(ticket.place for ticket in page.tickets)


async def test_those_who_drew_arrived_with_the_opening(
    engine: Engine, clock: Clock, room: str
) -> None:
    """After the opening a drawn place is not an age: nobody has waited longer than the room."""
    policy = drawing(clock, mode=Mode.PAUSED)
    await engine.create(room, policy)
    await crowd(engine, room, 30)
    await until_open(engine, clock, room)
    clock.step(60)
    late = await engine.join(room)
    opens = policy.opens_at_ms
    assert opens is not None
    older = await engine.list(room, until_ms=opens - 1, limit=500)
    assert () == older.tickets
    drew = await engine.list(room, since_ms=opens - 1, until_ms=opens, limit=500)
    assert await order(engine, room) == [*(ticket.id for ticket in drew.tickets), late.id]
    newer = await engine.list(room, since_ms=opens + 1, limit=500)
    assert [late.id] == [ticket.id for ticket in newer.tickets]
