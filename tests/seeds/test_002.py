"""Seed 002, fifty seats for ten minutes each."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.support.clock import Clock, crowd, open_engine
from tests.support.servers import Server, start_server
from waitroom.engine import Engine, Join, keys
from waitroom.models import Reason, State, TicketView, preset
from waitroom.ticker import Ticker


async def full(engine: Engine, room: str) -> list[TicketView]:
    """Make a room with all fifty inside."""
    await engine.create(room, preset("slots"))
    answers = await engine.join_many(room, [Join(enter=True)] * 50)
    return [answer for answer in answers if isinstance(answer, TicketView)]


@pytest.mark.seed("002-01")
async def test_fifty_seats(engine: Engine, clock: Clock, room: str) -> None:
    """002-01: the preset has 50 seats of at most 600 s each."""
    inside = await full(engine, room)
    assert {(State.INSIDE, clock.now_ms + 600_000)} == {
        (person.state, person.session_ends_at_ms) for person in inside
    }
    assert State.WAITING is (await engine.join(room, enter=True)).state


@pytest.mark.seed("002-01")
async def test_never_fifty_one(server: Server, clock: Clock, room: str) -> None:
    """002-01: with three processes at once there are never 51."""
    async with (
        open_engine(server.url, clock) as first,
        open_engine(server.url, clock) as second,
        open_engine(server.url, clock) as third,
    ):
        engines = (first, second, third)
        await first.create(room, preset("slots"))
        seen: list[int] = []

        async def visit(engine: Engine) -> None:
            view = await engine.join(room, enter=True)
            stats = await engine.stats(room)
            seen.append(stats.called + stats.inside)
            if view.state is State.INSIDE and len(seen) % 3 == 0:
                await engine.finish(room, view.ticket)

        await asyncio.gather(*(visit(engine) for engine in engines for _ in range(60)))
    assert 180 == len(seen)
    assert 50 == max(seen)


@pytest.mark.seed("002-02")
async def test_active_at_once_or_waiting(engine: Engine, clock: Clock, room: str) -> None:
    """002-02: below the limit people are active at once; above it they wait by arrival."""
    await engine.create(room, preset("slots"))
    states = []
    for _ in range(53):
        clock.step(0.001)
        states.append((await engine.join(room, enter=True)).state)
    assert [State.INSIDE] * 50 + [State.WAITING] * 3 == states
    places = [ticket.place or 0 for ticket in (await engine.list(room)).tickets]
    assert [clock.now_us - 2_000, clock.now_us - 1_000, clock.now_us] == places


@pytest.mark.seed("002-03")
async def test_finish_promotes_one(engine: Engine, room: str) -> None:
    """002-03: anybody who finishes is removed, and exactly the first waiting person is promoted."""
    inside = await full(engine, room)
    first, second = await crowd(engine, room, 2)
    await engine.finish(room, inside[7].ticket)
    assert State.GONE is (await engine.poll(room, inside[7].ticket)).state
    assert State.CALLED is (await engine.poll(room, first.ticket)).state
    assert 1 == (await engine.poll(room, second.ticket)).position


@pytest.mark.seed("002-03")
async def test_many_end_at_once(engine: Engine, room: str) -> None:
    """002-03: when many end at once, as many are promoted, by arrival."""
    inside = await full(engine, room)
    people = await crowd(engine, room, 60)
    await asyncio.gather(*(engine.finish(room, person.ticket) for person in inside))
    stats = await engine.stats(room)
    assert (50, 10, 0) == (stats.called, stats.waiting, stats.inside)
    assert 1 == (await engine.poll(room, people[50].ticket)).position


@pytest.mark.seed("002-03")
async def test_expiry_promotes(engine: Engine, clock: Clock, room: str) -> None:
    """002-03: when sessions run out, as many are promoted as ended, in the same step."""
    inside = await full(engine, room)
    for _ in range(149):
        clock.step(4)
        await engine.advance(room)
    people = await crowd(engine, room, 60)
    clock.step(4)
    done = await engine.advance(room)
    assert (50, 50, 10) == (done.expired, done.called, done.waiting)
    assert State.CALLED is (await engine.poll(room, people[49].ticket)).state
    assert Reason.PASSED is (await engine.poll(room, inside[0].ticket)).reason


@pytest.mark.seed("002-04")
async def test_deadline_is_known(engine: Engine, clock: Clock, room: str) -> None:
    """002-04: the next deadline is known beforehand, so nobody needs to ask."""
    await full(engine, room)
    assert clock.now_ms + 600_000 == (await engine.advance(room)).due_ms


@pytest.mark.seed("002-04")
@pytest.mark.timeout(30)
async def test_ticker_wakes(server: Server, room: str, tmp_path: Path) -> None:
    """002-04: the ticker wakes for the deadline, by the server's clock, while no client polls."""
    # On a separate server: on the shared one a ticker first visits all other tests' rooms.
    with start_server(server.kind, tmp_path) as own:
        async with open_engine(own.url) as engine, Ticker(engine):
            await engine.create(room, preset("slots", capacity=1, session_s=0.3))
            await engine.join(room, enter=True)
            waiting = await engine.join(room)
            events, last = keys.room_key(room, "events"), b"0"
            called: list[bytes] = []
            while waiting.id.encode() not in called:
                # Less than a lap of the ticker, which would find it too.
                answer = await engine.backend.client.xread({events: last}, block=6_000)
                assert answer, "nobody was called in time"
                entries = dict(answer)[events.encode()]
                last = entries[-1][0]
                called = [fields[b"ids"] for _, fields in entries if fields[b"kind"] == b"called"]


@pytest.mark.seed("002-05")
async def test_operator_sees_all(engine: Engine, clock: Clock, room: str) -> None:
    """002-05: the operator lists active tokens, their remaining time, and who waits by score."""
    inside = await full(engine, room)
    clock.step(1)
    waiting = await engine.join(room)
    clock.step(99)
    active = (await engine.list(room, State.INSIDE)).tickets
    assert {person.id for person in inside} == {ticket.id for ticket in active}
    assert {500_000} == {(ticket.until_ms or 0) - clock.now_ms for ticket in active}
    (line,) = (await engine.list(room)).tickets
    assert (waiting.id, clock.now_us - 99_000_000) == (line.id, line.place)
