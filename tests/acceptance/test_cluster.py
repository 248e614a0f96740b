"""A real Cluster of three primaries: all verbs work, and rooms live on different nodes."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.clock import Clock, advance_all, crowd, open_engine
from tests.support.figures import say
from tests.support.servers import LONGEST_S, Cluster, start_cluster
from waitroom.engine import Engine
from waitroom.errors import UnknownRoom
from waitroom.models import Policy, Reason, State
from waitroom.ticker import Ticker

ROOMS = [f"hall-{number}" for number in range(9)]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Run three primaries."""
    with start_cluster(Path(tmp_path_factory.mktemp("cluster"))) as cluster:
        yield cluster


async def _every_verb(engine: Engine, room: str, clock: Clock) -> None:
    policy = Policy(capacity=3, renewable=True, max_defers=1)
    await engine.create(room, policy)
    people = [await engine.join(room, enter=True) for _ in range(12)]
    assert [State.INSIDE] * 3 + [State.WAITING] * 9 == [view.state for view in people]
    assert 2 == (await engine.poll(room, people[4].ticket)).position
    clock.step(1)
    assert State.INSIDE == (await engine.renew(room, people[0].ticket)).state
    await engine.finish(room, people[0].ticket)
    assert State.INSIDE == (await engine.enter(room, people[3].ticket)).state
    assert 3 == (await engine.defer(room, people[4].ticket, 2)).position
    await engine.leave(room, people[5].ticket)
    assert 1 == await engine.kick(room, [people[6].id])
    assert 1 == await engine.admit(room, 1, force=True)
    await engine.call(room, people[11].id, force=True)
    assert 6 == (await engine.configure(room, capacity=6)).new.policy.capacity
    assert 1 == await advance_all(engine, room)
    assert 3 == len((await engine.list(room)).tickets)
    stats = await engine.stats(room)
    assert (3, 3, 3) == (stats.waiting, stats.called, stats.inside)
    assert 9 == await engine.clear(room)
    assert Reason.CLEARED == (await engine.poll(room, people[8].ticket)).reason


async def test_every_verb_in_rooms_on_every_node(cluster: Cluster) -> None:
    """All verbs work, at the same time in nine rooms that are spread over all nodes."""
    clock = Clock()
    async with open_engine(cluster.url, clock) as engine, open_engine(cluster.url, clock) as other:
        assert engine.backend.facts.cluster
        for room in ROOMS:
            await _every_verb(engine, room, clock)
        sizes = [node.command("DBSIZE") for node in cluster.nodes]
        assert all(size not in (b":0\r\n", b"") for size in sizes), sizes
        say(f"keys per node: {[int(size[1:]) for size in sizes]}")
        assert tuple(sorted(ROOMS)) == await other.rooms()
        await asyncio.gather(*(crowd(other, room, 5) for room in ROOMS))
        assert sorted(ROOMS) == sorted(await other.occupied(ROOMS))
        # The other process learns of the drops by itself.
        assert all([await engine.drop(room) for room in ROOMS])
        for room in ROOMS:
            with pytest.raises(UnknownRoom):
                await other.join(room)
        assert () == await other.rooms()


async def test_the_ticker_serves_every_node(cluster: Cluster) -> None:
    """Sessions in rooms on all nodes end on time, and the ticker reassigns their places."""
    rooms = [f"timed-{number}" for number in range(6)]
    async with open_engine(cluster.url) as engine, open_engine(cluster.url) as other:
        waiting = []
        for room in rooms:
            await engine.create(room, Policy(capacity=1, session_s=0.3))
            await engine.join(room, enter=True)
            waiting.append(await engine.join(room))
        async with Ticker(other, lap_s=0.1), asyncio.timeout(LONGEST_S):
            for view in waiting:
                while True:
                    if (await engine.poll(view.room, view.ticket)).state is State.CALLED:
                        break
                    await asyncio.sleep(0.05)
        assert all([await engine.drop(room) for room in rooms])  # the other test counts all
