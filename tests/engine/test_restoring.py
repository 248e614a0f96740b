"""After a loss people come back one by one: until all had time to, nobody is told a position."""

from __future__ import annotations

import pytest

from tests.support.clock import Clock, crowd, open_engine
from tests.support.servers import Server
from waitroom.engine import Engine, keys
from waitroom.errors import Holding
from waitroom.models import Mode, Policy, State, TicketView

POLICY = Policy(mode=Mode.PAUSED, recover_s=30, presence_s=None, max_defers=1)


async def lose(engine: Engine, room: str) -> None:
    """Lose everything of a room."""
    await engine.backend.client.delete(*keys.script_keys(room))


def told(*views: TicketView) -> list[tuple[int | None, bool]]:
    """Return what people are told about their positions."""
    assert {State.WAITING} == {view.state for view in views}
    return [(view.position, view.restoring) for view in views]


async def test_positions_are_hidden_until_the_hold_is_over(
    engine: Engine, clock: Clock, room: str
) -> None:
    """Returning and new people get no number; later everybody gets the right one."""
    await engine.create(room, POLICY)
    people = await crowd(engine, room, 3)
    assert [(1, False)] == told(await engine.poll(room, people[0].ticket))
    await lose(engine, room)
    last = await engine.poll(room, people[2].ticket)
    new = await engine.join(room)
    again = await engine.join(room, new.ticket)
    await engine.poll(room, people[1].ticket)
    clock.step(29)
    polled = [await engine.poll(room, person.ticket) for person in (*people, new)]
    assert [(None, True)] * 7 == told(last, new, again, *polled)
    clock.step(1)
    polled = [await engine.poll(room, person.ticket) for person in (*people, new)]
    assert [(1, False), (2, False), (3, False), (4, False)] == told(*polled)


async def test_an_outage_hides_nothing(engine: Engine, clock: Clock, room: str) -> None:
    """If nobody was lost the numbers are right, though admission holds."""
    await engine.create(room, POLICY)
    people = await crowd(engine, room, 2)
    clock.step(600)
    assert [(2, False)] == told(await engine.poll(room, people[1].ticket))
    assert (await engine.stats(room)).hold_until_ms is not None


async def test_an_outage_while_people_come_back(engine: Engine, clock: Clock, room: str) -> None:
    """If our silence kept people from returning, they get the time again, and numbers wait too."""
    await engine.create(room, POLICY)
    people = await crowd(engine, room, 2)
    await lose(engine, room)
    await engine.poll(room, people[1].ticket)
    clock.step(600)
    assert [(None, True)] == told(await engine.poll(room, people[1].ticket))
    clock.step(20)
    assert [(None, True)] == told(await engine.poll(room, people[0].ticket))
    clock.step(10)
    assert [(2, False)] == told(await engine.poll(room, people[1].ticket))


async def test_a_failover_that_lost_a_second(
    server: Server, engine: Engine, clock: Clock, room: str
) -> None:
    """People who joined in that second return behind the others, so no number is told before."""
    await engine.create(room, POLICY)
    people = await crowd(engine, room, 2)
    async with open_engine(server.url, clock) as other:
        assert [(1, False)] == told(await other.poll(room, people[0].ticket))
        client, meta = engine.backend.client, keys.room_key(room, "meta")
        await client.zrem(keys.room_key(room, "waiting"), people[1].id)
        await client.hincrby(meta, "rev", -1)
        assert [(None, True)] == told(await engine.poll(room, people[0].ticket))
        assert [(None, True)] == told(await other.poll(room, people[0].ticket))
        assert [(None, True)] == told(await other.join(room))
        clock.step(30)
        assert [(2, False)] == told(await other.poll(room, people[1].ticket))


async def test_no_defer_in_a_line_that_lacks_people(
    engine: Engine, clock: Clock, room: str
) -> None:
    """Places cannot be counted while people are missing; the deferral is not used up."""
    await engine.create(room, POLICY)
    people = await crowd(engine, room, 3)
    await lose(engine, room)
    for person in people:
        await engine.poll(room, person.ticket)
    with pytest.raises(Holding):
        await engine.defer(room, people[0].ticket, 1)
    clock.step(30)
    assert 2 == (await engine.defer(room, people[0].ticket, 1)).position


async def test_clear_ends_it(engine: Engine, room: str) -> None:
    """In an empty room nobody can be missing."""
    await engine.create(room, POLICY)
    await engine.join(room)
    await lose(engine, room)
    await engine.clear(room)
    assert [(1, False)] == told(await engine.join(room))
