"""The relay: every event once, in order, with an explicit gap where some are missing."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

import pytest

from tests.support.clock import Clock, advance_all, crowd, open_engine
from tests.support.servers import Server, start_server
from waitroom.engine import ClaimUse, Engine, keys
from waitroom.engine.outbox import START, OutboxEvent
from waitroom.events.relay import Listeners, Relay
from waitroom.models import Mode, Policy
from waitroom.moments import from_ms, written

pytestmark = pytest.mark.every_kind


async def entries(engine: Engine, room: str, after: str = START) -> list[OutboxEvent]:
    """Return what is in a room's outbox."""
    return list(await engine.outbox.read(room, after, 1_000))


async def kinds(engine: Engine, room: str) -> list[str]:
    """Return the types of what is in the outbox."""
    return [event.type for event in await entries(engine, room)]


def people(event: OutboxEvent) -> list[str]:
    """Return the ids of the people an event is about."""
    return [person["id"] for person in event.data["people"]]


async def test_what_operators_do(engine: Engine, relay: Relay, room: str) -> None:
    """A change is told with old and new values, and also under its own name if it has one."""
    await engine.create(room, Policy(capacity=3))
    await engine.configure(room, mode=Mode.PAUSED, message="A short pause.")
    await engine.configure(room, mode=Mode.OPEN, message=None, capacity=4)
    await engine.configure(room, mode=Mode.ENDED)
    await engine.clear(room)
    await relay.relay(room)
    told = await entries(engine, room)
    assert [
        *("room.paused", "room.message", "room.changed"),
        *("room.resumed", "room.message", "room.changed"),
        *("room.ended", "room.changed", "room.cleared"),
    ] == [event.type for event in told]
    assert {"message": "A short pause."} == told[1].data
    assert {"version": 3, "changed": {
        "mode": {"old": "paused", "new": "open"},
        "message": {"old": "A short pause.", "new": None},
        "capacity": {"old": 3, "new": 4},
    }} == told[5].data  # fmt: skip
    assert [*range(1, 10)] == [event.number for event in told]


async def test_the_moments(engine: Engine, clock: Clock, relay: Relay, room: str) -> None:
    """The opening and the end are told with their time."""
    opens, ends = clock.now_ms + 1_000, clock.now_ms + 2_000
    await engine.create(room, Policy(opens_at=from_ms(opens), ends_at=from_ms(ends)))
    for _ in range(2):
        clock.step(1)
        await engine.advance(room)
    await relay.relay(room)
    assert [
        ("room.opened", opens, {"opens_at": written(from_ms(opens))}),
        ("room.ended", ends, {"ends_at": written(from_ms(ends))}),
    ] == [(event.type, event.at_ms, event.data) for event in await entries(engine, room)]


async def test_people_in_batches(engine: Engine, clock: Clock, relay: Relay, room: str) -> None:
    """People to whom the same happened share an entry; everybody's own steps stay in order."""
    await engine.create(room, Policy(session_s=600))
    tickets = [await engine.join(room, enter=True) for _ in range(5)]
    ids = [each.id for each in tickets]
    places = [engine.ring.read(room, each.ticket).place for each in tickets]
    await engine.finish(room, tickets[0].ticket)
    await relay.relay(room)
    called, entered, ended = await entries(engine, room)
    assert ("people.called", "people.entered", "people.ended") == (
        *(called.type, entered.type, ended.type),
    )
    assert [
        {"id": ticket_id, "place_us": place, "at_ms": clock.now_ms}
        for ticket_id, place in zip(ids, places, strict=True)
    ] == called.data["people"]
    assert ids == people(entered)
    assert ("finished", [ids[0]]) == (ended.data["reason"], people(ended))


async def test_an_adopted_place(engine: Engine, relay: Relay, room: str) -> None:
    """The account's id and the ticket's are told together, before the ticket's end."""
    await engine.create(room, Policy(capacity=1))
    ticket = await engine.join(room)
    await engine.adopt(room, ticket.ticket, ClaimUse("a" * 16, "nonce 5"))
    await relay.relay(room)
    called, adopted, ended = await entries(engine, room)
    assert ("people.called", "people.adopted", "people.ended") == (
        *(called.type, adopted.type, ended.type),
    )
    (person,) = adopted.data["people"]
    assert ("a" * 16, ticket.id) == (person["id"], person["from"])
    assert ("left", [ticket.id]) == (ended.data["reason"], people(ended))


async def test_batches_are_bounded(engine: Engine, relay: Relay, room: str) -> None:
    """No entry has more than 500 people, and nobody is left out or told twice."""
    await engine.create(room, Policy(mode=Mode.PAUSED))
    tickets = await crowd(engine, room, 1_100)
    for _ in range(11):
        await engine.admit(room, 100, force=True)
    await relay.relay(room)
    called = [people(event) for event in await entries(engine, room)]
    assert [500, 500, 100] == [len(batch) for batch in called]
    assert [each.id for each in tickets] == [each for batch in called for each in batch]


async def test_without_listeners(engine: Engine, room: str) -> None:
    """If nobody follows people only the room is told; once somebody does, both."""
    relay = Relay(engine, Listeners(engine))
    await engine.create(room, Policy())
    await engine.join(room)
    await engine.configure(room, mode=Mode.PAUSED)
    await relay.relay(room)
    assert ["room.paused", "room.changed"] == await kinds(engine, room)
    await engine.outbox.hear(room)
    await engine.configure(room, mode=Mode.OPEN)
    await engine.join(room)
    await relay.relay(room)
    assert ["room.resumed", "room.changed", "people.called"] == (await kinds(engine, room))[2:]


async def limits_told(engine: Engine, relay: Relay, room: str) -> list[tuple[str, int]]:
    """Relay a room, and return which limits it was told to have reached, with how many people."""
    await relay.relay(room)
    events = [each for each in await entries(engine, room) if "limit" in each.type]
    return [(event.data["limit"], event.data["count"]) for event in events]


async def test_limits_do_not_chatter(engine: Engine, relay: Relay, room: str) -> None:
    """A limit is told when reached, and again only after the room was well below it."""
    told = partial(limits_told, engine, relay, room)
    await engine.create(room, Policy(capacity=10, queue_limit=20))
    called = await crowd(engine, room, 10)
    assert [] == await told()  # full, but nobody waits
    waiting = await crowd(engine, room, 19)
    assert [("capacity", 10)] == await told()
    await engine.join(room)
    assert [("capacity", 10), ("queue_limit", 20)] == await told()
    await engine.leave(room, waiting[0].ticket)
    await engine.leave(room, called[0].ticket)
    await told()
    await engine.advance(room)
    await crowd(engine, room, 2)
    assert 2 == len(await told())  # both were reached again from just below
    for person in waiting[1:10]:
        await engine.leave(room, person.ticket)
    await told()
    await crowd(engine, room, 9)
    assert ("queue_limit", 20) == (await told())[2]


async def test_the_rolling_limit(engine: Engine, clock: Clock, relay: Relay, room: str) -> None:
    """It is reached by those who entered and those who may, and again in a later window."""
    told = partial(limits_told, engine, relay, room)
    await engine.create(room, Policy(max_entries=3, per_s=60, presence_s=None, recover_s=0))
    first = await crowd(engine, room, 3)
    assert [] == await told()  # taken, but nobody waits
    await engine.enter(room, first[0].ticket)
    await engine.join(room)
    reached = [("max_entries", 3)]
    assert reached == await told()
    for person in first[1:]:
        await engine.enter(room, person.ticket)
    assert reached == await told()
    clock.step(62)
    await advance_all(engine, room)
    assert reached == await told()  # only one of three
    await crowd(engine, room, 3)
    assert 2 * reached == await told()


async def test_two_processes(engine: Engine, server: Server, clock: Clock, room: str) -> None:
    """Two concurrent relays tell everything once, in order."""
    async with open_engine(server.url, clock) as other:
        relays = [Relay(each, _everything(each)) for each in (engine, other)]
        await engine.create(room, Policy(mode=Mode.PAUSED))
        expected = []
        for _ in range(20):
            expected += [each.id for each in await crowd(engine, room, 3)]
            await engine.admit(room, 3, force=True)
            await asyncio.gather(*(relay.relay(room) for relay in relays * 2))
    told = [person for event in await entries(engine, room) for person in people(event)]
    assert expected == told


def _everything(engine: Engine) -> Listeners:
    listeners = Listeners(engine)
    listeners.archived = True
    return listeners


class _Killed(BaseException):
    pass


async def test_a_process_that_dies(
    engine: Engine, listeners: Listeners, room: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether it dies before or after its entries were accepted, nothing is lost or doubled."""
    await engine.create(room, Policy())
    expected = []
    append = engine.outbox.append
    for dies_after in (False, True, False, True):
        expected.append((await engine.join(room)).id)

        async def dying(*args: Any, dies_after: bool = dies_after, **fields: Any) -> str:
            if dies_after:
                await append(*args, **fields)
            raise _Killed

        with monkeypatch.context() as patched:
            patched.setattr(engine.outbox, "append", dying)
            with pytest.raises(_Killed):
                await Relay(engine, listeners).relay(room)
    await Relay(engine, listeners).relay(room)
    told = [person for event in await entries(engine, room) for person in people(event)]
    assert expected == told


async def test_a_trimmed_stream(engine: Engine, relay: Relay, room: str) -> None:
    """Events that were lost before they were relayed leave a gap; later ones are told."""
    await engine.create(room, Policy())
    await engine.join(room)
    await relay.relay(room)
    for _ in range(3):
        last = await engine.join(room)
    await engine.backend.client.xtrim(keys.room_key(room, "events"), maxlen=1, approximate=False)
    await relay.relay(room)
    _, gap, called = await entries(engine, room)
    assert ("gap", False) == (gap.type, gap.data["lost"])
    assert [last.id] == people(called)
    await relay.relay(room)
    assert 3 == len(await entries(engine, room))


async def test_an_idle_room(engine: Engine, clock: Clock, relay: Relay, room: str) -> None:
    """A tidied room leaves a gap only if nobody had relayed what was there."""
    await engine.create(room, Policy(idle_ttl_s=60, session_s=60))
    for relayed in (True, False):
        person = await engine.join(room)
        await engine.leave(room, person.ticket)
        if relayed:
            await relay.relay(room)
        clock.step(86_400)
        await engine.advance(room)
    assert 0 == await engine.backend.client.exists(keys.room_key(room, "events"))
    await engine.configure(room, mode=Mode.PAUSED)
    await relay.relay(room)
    expected = ["people.called", "people.ended", "gap", "room.paused", "room.changed"]
    assert expected == await kinds(engine, room)


async def test_a_dropped_room(engine: Engine, relay: Relay, room: str) -> None:
    """The last event of a room is that it was dropped; a recreated one continues after it."""
    await engine.create(room, Policy())
    await relay.relay(room)
    await engine.configure(room, mode=Mode.PAUSED)
    await relay.relay(room)
    await engine.drop(room)
    for _ in range(2):
        await relay.relay(room)
    assert "room.dropped" == (await kinds(engine, room))[-1]
    await engine.create(room, Policy())
    await engine.configure(room, mode=Mode.PAUSED)
    await relay.relay(room)
    told = await kinds(engine, room)
    assert (1, "room.changed", 0) == (told.count("room.dropped"), told[-1], told.count("gap"))


async def test_an_outage(engine: Engine, relay: Relay, room: str) -> None:
    """An outage of the backend is told once, with both times, however many saw it."""
    await engine.create(room, Policy())
    for since_ms in (1_000_000, 1_000_500):
        relay.note_outage("", since_ms, 1_009_000)
    await relay.step()
    away, back = await entries(engine, room)
    assert ("backend.away", 1_000_000) == (away.type, away.at_ms)
    assert ("backend.back", 1_009_000) == (back.type, back.at_ms)
    assert written(from_ms(1_000_000)) == back.data["since"]


async def test_steps_find_rooms(engine: Engine, relay: Relay, room: str) -> None:
    """A lap finds rooms that others changed, and one without news costs no turn."""
    await engine.create(room, Policy())
    await engine.configure(room, mode=Mode.PAUSED)
    assert [room] == await engine.outbox.behind([room])
    await relay.relay(room)
    assert [] == await engine.outbox.behind([room])


async def test_a_flushed_server(tmp_path: Any, clock: Clock, room: str) -> None:
    """After a FLUSHALL the room is restored from memory, and the outbox begins with a gap."""
    with start_server("valkey", tmp_path) as server:
        async with open_engine(server.url, clock) as engine:
            relay = Relay(engine, _everything(engine))
            await engine.create(room, Policy())
            await engine.join(room)
            await relay.relay(room)
            await engine.backend.client.flushall()
            await engine.advance(room)
            await relay.relay(room)
            await engine.configure(room, mode=Mode.PAUSED)
            await relay.relay(room)
            told = await entries(engine, room)
    assert ["gap", "room.paused", "room.changed"] == [event.type for event in told]
    assert True is told[0].data["lost"]
