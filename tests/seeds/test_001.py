"""Seed 001, many queues for many people: an operator admits by hand."""

from __future__ import annotations

import asyncio
import dataclasses
import hashlib
import statistics
import time

import pytest

from tests.support.clock import SECRET, Clock, crowd, open_engine
from tests.support.counts import count
from tests.support.servers import Cluster, Server
from waitroom.engine import Engine, Join
from waitroom.engine.keys import room_key
from waitroom.errors import InvalidTicket, NoCapacity, RoomFull
from waitroom.models import Mode, State, TicketView, preset
from waitroom.rehearsal import find, rehearse
from waitroom.tickets import KeyRing


@pytest.mark.seed("001-01")
async def test_named_queues(engine: Engine, room: str) -> None:
    """001-01: any number of named queues, each with its own waiting and proceeding people."""
    rooms = [f"{room}-{n}" for n in range(20)]
    for n, name in enumerate(rooms):
        await engine.create(name, preset("manual"))
        await crowd(engine, name, n + 1)
        await engine.admit(name, 1)
    assert set(rooms) <= set(await engine.rooms())
    for n, name in enumerate(rooms):
        stats = await engine.stats(name)
        assert (n, 1) == (stats.waiting, stats.called)


@pytest.mark.seed("001-02")
async def test_token_of_a_user(engine: Engine, room: str) -> None:
    """001-02: a user's token is a hash of queue and user that only the secret can make."""
    await engine.create(room, preset("manual"))
    await engine.create(room + "2", preset("manual"))
    first = await engine.join(room, visitor="kim")
    again = await engine.join(room, visitor="kim")
    elsewhere = await engine.join(room + "2", visitor="kim")
    assert (first.id, 1) == (again.id, again.waiting)
    assert first.id != elsewhere.id
    assert first.id == KeyRing([SECRET]).visitor_id(room, "kim")
    assert first.id != KeyRing([b"another secret of 32 bytes, here"]).visitor_id(room, "kim")
    plain = hashlib.sha256(f"user-queue-{room}-kim".encode()).hexdigest()
    with pytest.raises(InvalidTicket):
        await engine.poll(room, plain)


@pytest.mark.seed("001-03")
async def test_register_again(engine: Engine, room: str) -> None:
    """001-03: registering returns token and position; registering again keeps both."""
    await engine.create(room, preset("manual"))
    first = await engine.join(room, visitor="kim")
    await engine.join(room, visitor="lee")
    again = await engine.join(room, visitor="kim")
    assert (first.ticket, 1, 2) == (again.ticket, again.position, again.waiting)


@pytest.mark.seed("001-04")
async def test_rank(engine: Engine, room: str) -> None:
    """001-04: the rank of a token, or that it does not exist."""
    await engine.create(room, preset("manual"))
    first, second = await crowd(engine, room, 2)
    assert 2 == (await engine.poll(room, second.ticket)).position
    await engine.kick(room, [first.id])
    gone = await engine.poll(room, first.ticket)
    assert (State.GONE, None) == (gone.state, gone.position)


@pytest.mark.seed("001-05")
async def test_allowed(engine: Engine, room: str) -> None:
    """001-05: a token is allowed once it was admitted, not before; an empty one never is."""
    await engine.create(room, preset("manual"))
    first, second = await crowd(engine, room, 2)
    await engine.admit(room, 1)
    states = [(await engine.poll(room, person.ticket)).state for person in (first, second)]
    assert [State.CALLED, State.WAITING] == states
    with pytest.raises(InvalidTicket, match="empty"):
        await engine.poll(room, "")


@pytest.mark.seed("001-06")
async def test_allow(engine: Engine, room: str) -> None:
    """001-06: allow(count) moves the first `count` and returns how many moved."""
    await engine.create(room, preset("manual"))
    people = await crowd(engine, room, 5)
    assert 3 == await engine.admit(room, 3)
    assert 2 == await engine.admit(room, 3)
    assert 0 == await engine.admit(room, 3)
    called = (await engine.list(room, State.CALLED)).tickets
    assert {person.id for person in people} == {person.id for person in called}


@pytest.mark.seed("001-07")
async def test_limits_change_live(engine: Engine, clock: Clock, room: str) -> None:
    """001-07: the limit of people proceeding, the batch and the interval can change live."""
    await engine.create(room, preset("manual", capacity=2))
    await crowd(engine, room, 20)
    assert 2 == await engine.admit(room, 5)
    with pytest.raises(NoCapacity):
        await engine.admit(room, 1)
    await engine.configure(room, capacity=4)
    assert 2 == await engine.admit(room, 5)
    await engine.configure(room, capacity=None, mode=Mode.OPEN, batch=3, every_s=2)
    assert 3 == (await engine.advance(room)).called
    await engine.configure(room, batch=5, every_s=1)
    clock.step(2)
    assert 5 == (await engine.advance(room)).called


@pytest.mark.seed("001-08")
async def test_tokens_expire(engine: Engine, clock: Clock, room: str) -> None:
    """001-08: nobody waits for ever: tickets, turns and sessions all end."""
    await engine.create(room, preset("manual", ticket_ttl_s=60, presence_s=None, session_s=30))
    inside, called, waiting = await crowd(engine, room, 3)
    await engine.admit(room, 2)
    await engine.enter(room, inside.ticket)
    for _ in range(25):
        clock.step(4)
        await engine.advance(room)
    stats = await engine.stats(room)
    assert (0, 0, 0) == (stats.waiting, stats.called, stats.inside)
    assert 3 == len({inside.id, called.id, waiting.id})
    with pytest.raises(InvalidTicket, match="too old"):
        await engine.poll(room, waiting.ticket)


@pytest.mark.seed("001-10")
async def test_by_time_range(engine: Engine, clock: Clock, room: str) -> None:
    """001-10: people are found by when they came, and removed."""
    await engine.create(room, preset("manual"))
    people: list[TicketView] = []
    for _ in range(5):
        people.append(await engine.join(room))
        clock.step(1)
    first_ms = clock.now_ms - 5_000
    page = await engine.list(room, since_ms=first_ms + 1_000, until_ms=first_ms + 3_000)
    ids = [ticket.id for ticket in page.tickets]
    assert [person.id for person in people[1:4]] == ids
    assert 3 == await engine.kick(room, ids)
    left = [ticket.id for ticket in (await engine.list(room)).tickets]
    assert [people[0].id, people[4].id] == left


@pytest.mark.seed("001-11")
async def test_queue_limit_raised_live(engine: Engine, room: str) -> None:
    """001-11: the queue limit goes from 100,000 to 1,000,000 while people are in line."""
    made = await engine.create(room, preset("manual"))
    assert 100_000 == made.policy.queue_limit
    await engine.configure(room, queue_limit=3)  # a small crowd meets the limit like a large one
    first, *_ = await crowd(engine, room, 3)
    with pytest.raises(RoomFull):
        await engine.join(room)
    raised = await engine.configure(room, queue_limit=1_000_000)
    assert 1_000_000 == raised.new.policy.queue_limit
    assert 4 == (await engine.join(room)).position
    assert 1 == (await engine.poll(room, first.ticket)).position


async def _median_s(engine: Engine, room: str, view: TicketView) -> float:
    times = []
    for _ in range(50):
        began = time.perf_counter()
        await engine.poll(room, view.ticket)
        times.append(time.perf_counter() - began)
    return statistics.median(times)


@pytest.mark.seed("001-12")
async def test_position_in_a_large_crowd(engine: Engine, room: str) -> None:
    """001-12: a position takes about as long however many wait (`make bench-engine`: millions)."""
    await engine.create(room, preset("manual", queue_limit=None))
    for _ in range(count("rehearsed") // 500):
        last = (await engine.join_many(room, [Join()] * 500))[-1]
    assert isinstance(last, TicketView)
    assert count("rehearsed") == (await engine.poll(room, last.ticket)).position
    await engine.create(f"{room}-small", preset("manual"))
    alone = await engine.join(f"{room}-small")
    yardstick = await _median_s(engine, f"{room}-small", alone)
    assert await _median_s(engine, room, last) < 20 * yardstick


@pytest.mark.seed("001-12")
async def test_limits_are_found_before_the_crowd_does() -> None:
    """001-12: a crowd is rehearsed, and a pace too high for the site behind it shows."""
    scenario = find("concert-onsale").scaled(1_000)
    calm = await rehearse(scenario)
    hasty = await rehearse(
        dataclasses.replace(scenario, policy=scenario.policy.change(batch=60, capacity=None))
    )
    assert calm.passed
    assert hasty.passed
    assert calm.origin_over_s < 60 < hasty.origin_over_s


@pytest.mark.seed("001-13")
async def test_atomic(server: Server, clock: Clock, room: str) -> None:
    """001-13: four processes admit at once without locks: nobody is lost, nobody called twice."""
    engines = []
    async with (
        open_engine(server.url, clock) as first,
        open_engine(server.url, clock) as second,
        open_engine(server.url, clock) as third,
        open_engine(server.url, clock) as fourth,
    ):
        engines = [first, second, third, fourth]
        await first.create(room, preset("manual"))
        await asyncio.gather(*(crowd(engine, room, 100) for engine in engines))
        admitted = await asyncio.gather(
            *(engine.admit(room, 7) for engine in engines for _ in range(10))
        )
        stats = await first.stats(room)
    assert [7] * 40 == admitted
    assert (280, 120) == (stats.called, stats.waiting)
    assert (400, 280) == (stats.counters["joined"], stats.counters["called_total"])


@pytest.mark.seed("001-13")
async def test_cluster(cluster: Cluster, clock: Clock, room: str) -> None:
    """001-13: on a Cluster the queues are spread over the nodes, and work there as elsewhere."""
    async with open_engine(cluster.url, clock) as engine:
        rooms = [f"{room}-{n}" for n in range(12)]
        slots = {engine.backend.client.keyslot(room_key(name, "meta")) for name in rooms}
        while {0, 1, 2} != {slot // 5462 for slot in slots}:  # by chance no room is on some node
            rooms.append(f"{room}-{len(rooms)}")
            slots.add(engine.backend.client.keyslot(room_key(rooms[-1], "meta")))
        for name in rooms:
            await engine.create(name, preset("manual"))
            first, second = await crowd(engine, name, 2)
            assert 1 == await engine.admit(name, 1)
            assert State.INSIDE is (await engine.enter(name, first.ticket)).state
            assert 1 == (await engine.poll(name, second.ticket)).position
    used = [int(node.command("DBSIZE")[1:]) for node in cluster.nodes]
    assert [True] * 3 == [keys > 0 for keys in used]
