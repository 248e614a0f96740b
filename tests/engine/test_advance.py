"""advance: one bounded step that sweeps what is over and calls people as the policy allows."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.clock import Clock, advance_all, crowd, open_engine
from tests.support.servers import Server
from waitroom.engine import Engine, Join, keys
from waitroom.errors import InvalidInput, InvalidRoomName, UnknownRoom
from waitroom.models import Mode, Policy, State
from waitroom.moments import from_ms


async def line(engine: Engine, room: str, people: int, **policy: Any) -> list[str]:
    """Make a room in which `people` wait, then apply the policy; return their tickets."""
    await engine.create(room, Policy(mode=Mode.PAUSED))
    tickets = [person.ticket for person in await crowd(engine, room, people)]
    await engine.configure(room, **{"mode": "open", **policy})
    return tickets


async def events(engine: Engine, room: str) -> list[tuple[bytes, list[bytes], bytes]]:
    """Return kind, ids and reason of every event about people."""
    entries = await engine.backend.client.xrange(keys.room_key(room, "events"))
    return [
        (e[b"kind"], e[b"ids"].split(), e.get(b"reason", b""))
        for _, e in entries
        if not e[b"kind"].startswith(b"room.")
    ]


async def test_everybody_without_limits(engine: Engine, room: str) -> None:
    """Without any limit all who wait are called."""
    await line(engine, room, 3)
    done = await engine.advance(room)
    assert (3, 0, False) == (done.called, done.waiting, done.more)


async def test_in_order(engine: Engine, room: str) -> None:
    """The first people in line are called, in their order."""
    tickets = await line(engine, room, 5, capacity=2)
    await engine.advance(room)
    states = [(await engine.poll(room, ticket)).state for ticket in tickets]
    assert [State.CALLED] * 2 + [State.WAITING] * 3 == states


async def test_capacity(engine: Engine, room: str) -> None:
    """Called and inside together never exceed the capacity."""
    tickets = await line(engine, room, 6, capacity=3)
    assert 3 == (await engine.advance(room)).called
    await engine.enter(room, tickets[0])
    assert 0 == (await engine.advance(room)).called


async def test_freed_by_expiry(engine: Engine, clock: Clock, room: str) -> None:
    """A session that ran out makes room for the next one in the same step."""
    tickets = await line(engine, room, 2, capacity=1, session_s=20)
    await engine.advance(room)
    await engine.enter(room, tickets[0])
    clock.step(20)
    done = await engine.advance(room)
    assert (1, 1) == (done.expired, done.called)


async def test_freed_by_no_show(engine: Engine, clock: Clock, room: str) -> None:
    """Anybody who does not come in time loses the turn to the next person, in the same step."""
    tickets = await line(engine, room, 2, capacity=1, enter_within_s=10)
    await engine.advance(room)
    for _ in range(2):
        clock.step(5)
        done = await engine.advance(room)
    assert (1, 1) == (done.no_shows, done.called)
    assert State.CALLED is (await engine.poll(room, tickets[1])).state


async def test_pace(engine: Engine, clock: Clock, room: str) -> None:
    """At most `batch` are called per slot of `every_s`, however often `advance` runs."""
    await line(engine, room, 9, batch=2, every_s=5)
    called = []
    for _ in range(3):
        called.append((await engine.advance(room)).called)
        called.append((await engine.advance(room)).called)
        clock.step(5)
    assert [2, 0, 2, 0, 2, 0] == called


async def test_pace_slots_do_not_add_up(engine: Engine, clock: Clock, room: str) -> None:
    """Slots in which nobody was called are lost: the next one has its own batch, no more."""
    await line(engine, room, 9, batch=2, every_s=1)
    clock.step(4)
    assert 2 == (await engine.advance(room)).called


async def test_pace_and_a_clock_that_goes_back(engine: Engine, clock: Clock, room: str) -> None:
    """A clock that steps back opens no slot a second time, and the room does not jam."""
    await line(engine, room, 9, batch=2, every_s=5)
    await engine.advance(room)
    clock.step(-60)
    assert 0 == (await engine.advance(room)).called
    clock.step(5)
    assert 2 == (await engine.advance(room)).called


async def test_rolling_limit(engine: Engine, clock: Clock, room: str) -> None:
    """Never more than `max_entries` go inside in any window of `per_s`."""
    tickets = await line(engine, room, 4, max_entries=2, per_s=60, presence_s=None)
    await engine.advance(room)
    for ticket in tickets[:2]:
        await engine.enter(room, ticket)
    for _ in range(14):
        clock.step(4)
        assert 0 == (await engine.advance(room)).called
    clock.step(5)  # 61 s: a bucket of one second may lie across the edge
    assert 2 == (await engine.advance(room)).called


async def test_capacity_and_pace_and_rolling_limit(engine: Engine, clock: Clock, room: str) -> None:
    """With several limits the tightest counts."""
    await line(engine, room, 9, capacity=5, batch=3, every_s=4, max_entries=4, per_s=60)
    called = []
    for _ in range(3):
        called.append((await engine.advance(room)).called)
        clock.step(4)
    assert [3, 1, 0] == called


@pytest.mark.parametrize("mode", ["paused", "closed", "manual"])
async def test_modes_that_call_nobody(engine: Engine, room: str, mode: str) -> None:
    """In a paused, closed or manual room `advance` calls nobody."""
    await line(engine, room, 2, mode=mode)
    assert 0 == (await engine.advance(room)).called


async def test_bypass(engine: Engine, room: str) -> None:
    """In `bypass` all who wait are called, beyond every limit."""
    await line(engine, room, 5, mode=Mode.BYPASS, capacity=1, max_entries=1, per_s=60)
    assert 5 == (await engine.advance(room)).called


async def test_opening(engine: Engine, clock: Clock, room: str) -> None:
    """Before the opening nobody is called; at that moment, as many as there is room for."""
    await line(engine, room, 3, opens_at=from_ms(clock.now_ms + 5_000), capacity=2)
    assert 0 == (await engine.advance(room)).called
    clock.step(5)
    assert 2 == (await engine.advance(room)).called


async def test_absent_heads_stop_nobody(engine: Engine, clock: Clock, room: str) -> None:
    """People who are gone from the head are dropped on the way to those who are there."""
    await engine.create(room, Policy(mode=Mode.PAUSED, presence_s=20))
    await crowd(engine, room, 10)
    for _ in range(3):  # `advance` would sweep; this tests only their silence
        clock.step(8)
        present = await engine.join(room)
    await engine.configure(room, mode=Mode.OPEN, capacity=1)
    done = await engine.advance(room)
    assert (10, 1) == (done.abandoned, done.called)
    assert State.WAITING is (await engine.poll(room, present.ticket)).state


async def test_sweeps_a_paused_room(engine: Engine, clock: Clock, room: str) -> None:
    """Silent people are dropped even while the room is paused."""
    await line(engine, room, 3, mode=Mode.PAUSED, presence_s=20)
    for _ in range(8):
        clock.step(4)
        await engine.advance(room)
    assert (0, 3) == (
        (await engine.stats(room)).waiting,
        (await engine.stats(room)).counters["abandoned"],
    )


async def test_ticket_ttl(engine: Engine, clock: Clock, room: str) -> None:
    """A place older than `ticket_ttl_s` is dropped even if its holder polls."""
    await line(engine, room, 2, mode=Mode.PAUSED, presence_s=None, ticket_ttl_s=30)
    for _ in range(8):
        clock.step(5)
        await engine.advance(room)
    assert 0 == (await engine.stats(room)).waiting


async def test_our_silence_costs_nobody(engine: Engine, clock: Clock, room: str) -> None:
    """If no process ran for longer than `recover_s`, nobody is swept, and admission holds."""
    await line(engine, room, 3, mode=Mode.OPEN, capacity=1, presence_s=60, recover_s=30)
    await engine.advance(room)
    clock.step(600)
    done = await engine.advance(room)
    assert (0, 0, 0, 2) == (done.called, done.abandoned, done.no_shows, done.waiting)
    assert clock.now_ms + 30_000 == (await engine.stats(room)).hold_until_ms


async def test_called_get_their_time_again_after_our_silence(
    engine: Engine, clock: Clock, room: str
) -> None:
    """A turn that ran out while we were away gets `enter_within_s` from our return."""
    (ticket,) = await line(engine, room, 1, enter_within_s=20)
    await engine.advance(room)
    clock.step(600)
    await engine.advance(room)
    assert clock.now_ms + 20_000 == (await engine.poll(room, ticket)).enter_by_ms
    assert State.INSIDE is (await engine.enter(room, ticket)).state


async def test_hold_ends(engine: Engine, clock: Clock, room: str) -> None:
    """After `recover_s` admission resumes, and `advance` tells when that is."""
    tickets = await line(engine, room, 2, recover_s=10)
    clock.step(60)
    await engine.advance(room)
    clock.step(9.5)
    assert clock.now_ms + 500 == (await engine.advance(room)).due_ms
    clock.step(0.5)
    assert len(tickets) == (await engine.advance(room)).called


async def test_bounded(engine: Engine, room: str) -> None:
    """One call moves at most 500, and reports that there is more."""
    await engine.create(room, Policy(mode=Mode.PAUSED))
    for _ in range(3):
        await engine.join_many(room, [Join()] * 400)
    await engine.configure(room, mode=Mode.OPEN)
    first = await engine.advance(room)
    assert (500, 700, True) == (first.called, first.waiting, first.more)
    assert 700 == await advance_all(engine, room)


async def test_bounded_by_the_caller(engine: Engine, room: str) -> None:
    """The caller may ask for a smaller step."""
    await line(engine, room, 5)
    done = await engine.advance(room, most=2)
    assert (2, True) == (done.called, done.more)


@pytest.mark.parametrize("most", [0, -1, 501, True, 1.5, "9"])
async def test_bad_bounds(engine: Engine, room: str, most: Any) -> None:
    """A step of 0 people, or of more than 500, is refused."""
    await line(engine, room, 1)
    with pytest.raises(InvalidInput):
        await engine.advance(room, most)


async def test_bounded_sweep(engine: Engine, clock: Clock, room: str) -> None:
    """Sessions that end together are swept 500 at a time."""
    await engine.create(room, Policy(session_s=60))
    for _ in range(2):
        await engine.join_many(room, [Join(enter=True)] * 300)
    clock.step(60)
    first = await engine.advance(room)
    second = await engine.advance(room)
    assert (500, True, 100, False) == (first.expired, first.more, second.expired, second.more)


async def test_due_at_the_end_of_a_session(engine: Engine, clock: Clock, room: str) -> None:
    """With somebody inside and nobody waiting, the next thing due is the end of the session."""
    await engine.create(room, Policy(session_s=300, idle_ttl_s=None))
    await engine.join(room, enter=True)
    assert clock.now_ms + 300_000 == (await engine.advance(room)).due_ms


async def test_due_at_the_next_slot(engine: Engine, clock: Clock, room: str) -> None:
    """With people waiting for the pace, the next thing due is the next slot."""
    await line(engine, room, 3, batch=1, every_s=0.5)
    assert clock.now_ms + 500 == (await engine.advance(room)).due_ms


async def test_nothing_due(engine: Engine, room: str) -> None:
    """An empty room has nothing foreseeable to do."""
    await engine.create(room, Policy())
    assert None is (await engine.advance(room)).due_ms


async def test_idle_room_is_tidied(engine: Engine, clock: Clock, room: str) -> None:
    """An empty room's live keys expire after `idle_ttl_s`; policy and counters stay."""
    await engine.create(room, Policy(session_s=60, idle_ttl_s=3600))
    person = await engine.join(room, enter=True)
    await engine.finish(room, person.ticket)
    assert clock.now_ms + 3_600_000 == (await engine.advance(room)).due_ms
    clock.step(3600)
    await engine.advance(room)
    names = [n for n in keys.ROOM_KEYS if n not in ("config", "meta")]
    assert 0 == await engine.backend.client.exists(*(keys.room_key(room, n) for n in names))
    assert 1 == (await engine.stats(room)).counters["finished"]


async def test_idle_time_drops_nobody(engine: Engine, clock: Clock, room: str) -> None:
    """A room in which anybody waits is never idle."""
    await line(engine, room, 1, mode=Mode.PAUSED, presence_s=None, idle_ttl_s=10)
    for _ in range(10):
        clock.step(5)
        await engine.advance(room)
    assert 1 == (await engine.stats(room)).waiting


async def test_tickets_of_before_an_idle_time(engine: Engine, clock: Clock, room: str) -> None:
    """Anybody who left before the room was tidied cannot come back with an old ticket."""
    (ticket,) = await line(engine, room, 1, mode=Mode.PAUSED, idle_ttl_s=10, session_s=10)
    await engine.leave(room, ticket)
    clock.step(10)
    await engine.advance(room)
    assert State.GONE is (await engine.poll(room, ticket)).state


async def test_safe_in_every_process(
    engine: Engine, server: Server, clock: Clock, room: str
) -> None:
    """Steps of two processes share one budget."""
    await line(engine, room, 9, batch=2, every_s=10, capacity=3)
    async with open_engine(server.url, clock) as other:
        called = [
            (await process.advance(room)).called for process in (engine, other, other, engine)
        ]
    assert [2, 0, 0, 0] == called


async def test_events(engine: Engine, clock: Clock, room: str) -> None:
    """One event per kind and call, with all its ids in order."""
    tickets = await line(engine, room, 3, capacity=2, enter_within_s=10)
    ids = [engine.ring.read(room, ticket).id.encode() for ticket in tickets]
    await engine.advance(room)
    for _ in range(2):
        clock.step(5)
        await engine.advance(room)
    assert [
        (b"called", ids[:2], b""),
        (b"ended", sorted(ids[:2]), b"no_show"),
        (b"called", ids[2:], b""),
    ] == await events(engine, room)


async def test_unknown_room(engine: Engine, room: str) -> None:
    """A room that does not exist cannot advance, and no key is created."""
    with pytest.raises(UnknownRoom):
        await engine.advance(room)
    assert 0 == await engine.backend.client.exists(*keys.script_keys(room))


async def test_bad_room_name(engine: Engine) -> None:
    """An invalid room name is refused."""
    with pytest.raises(InvalidRoomName):
        await engine.advance("{a}")
