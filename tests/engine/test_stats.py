"""stats: a room at a glance, by deadlines and not by sweeps."""

from __future__ import annotations

import pytest

from tests.support.clock import Clock, crowd, open_engine
from tests.support.servers import Server
from waitroom.engine import Engine, keys
from waitroom.engine.protocol.replies import COUNTERS
from waitroom.errors import InvalidRoomName, NobodyBehind, UnknownRoom
from waitroom.models import Mode, Policy


async def test_new_room(engine: Engine, clock: Clock, room: str) -> None:
    """A new room is empty, at version 1, and every counter is 0."""
    await engine.create(room, Policy(mode=Mode.MANUAL))
    stats = await engine.stats(room)
    assert (0, 0, 0, 0) == (stats.waiting, stats.called, stats.inside, stats.entries_in_window)
    assert (Mode.MANUAL, 1, clock.now_ms) == (stats.mode, stats.version, stats.now_ms)
    assert dict.fromkeys(COUNTERS, 0) == stats.counters
    assert (None, 0) == (stats.hold_until_ms, stats.oldest_wait_ms)


async def test_numbers(engine: Engine, room: str) -> None:
    """Everybody is counted where they are."""
    await engine.create(room, Policy(capacity=3))
    await engine.join(room, enter=True)
    await crowd(engine, room, 5)
    stats = await engine.stats(room)
    assert (3, 2, 1) == (stats.waiting, stats.called, stats.inside)


async def test_unswept(engine: Engine, clock: Clock, room: str) -> None:
    """Sessions that ran out are not counted, swept or not."""
    await engine.create(room, Policy(session_s=60))
    await engine.join(room, enter=True)
    clock.step(60)
    assert 0 == (await engine.stats(room)).inside


async def test_oldest_wait(engine: Engine, clock: Clock, room: str) -> None:
    """The longest wait is that of the first in line."""
    await engine.create(room, Policy(mode=Mode.PAUSED))
    await engine.join(room)
    clock.step(3)
    await engine.join(room)
    assert 3_000 == (await engine.stats(room)).oldest_wait_ms


async def test_entries_in_window(engine: Engine, clock: Clock, room: str) -> None:
    """Entries count until their window has passed."""
    await engine.create(room, Policy(max_entries=9, per_s=10))
    await engine.join(room, enter=True)
    clock.step(9)
    await engine.join(room, enter=True)
    assert 2 == (await engine.stats(room)).entries_in_window
    clock.step(2)
    assert 1 == (await engine.stats(room)).entries_in_window


async def test_counters(engine: Engine, clock: Clock, room: str) -> None:
    """Every way through the room has its own counter."""
    await engine.create(room, Policy(mode=Mode.MANUAL, max_defers=1, enter_within_s=4, session_s=8))
    people = await crowd(engine, room, 6)
    with pytest.raises(NobodyBehind):
        await engine.defer(room, people[5].ticket, 1)  # this one does not count
    await engine.defer(room, people[0].ticket, 1)
    await engine.leave(room, people[5].ticket)
    await engine.kick(room, [people[4].id])
    await engine.admit(room, 4)
    for person in people[:2]:
        await engine.enter(room, person.ticket)
    await engine.finish(room, people[0].ticket)
    clock.step(4)
    await engine.advance(room)
    clock.step(4)
    await engine.advance(room)
    expected = {
        "joined": 6,
        "restored": 0,
        "called_total": 4,
        "entered": 2,
        "finished": 1,
        "left": 1,
        "kicked": 1,
        "expired": 1,
        "no_show": 2,
        "abandoned": 0,
        "deferred": 1,
        "reinstated": 0,
    }
    assert expected == (await engine.stats(room)).counters


async def test_hold(engine: Engine, clock: Clock, room: str) -> None:
    """A hold after a loss is shown until it is over."""
    await engine.create(room, Policy(recover_s=30))
    await engine.backend.client.delete(*keys.script_keys(room))
    await engine.advance(room)
    assert clock.now_ms + 30_000 == (await engine.stats(room)).hold_until_ms
    clock.step(30)
    assert None is (await engine.stats(room)).hold_until_ms


async def test_changes_nothing(engine: Engine, clock: Clock, room: str) -> None:
    """Reading writes nothing, however late it comes."""
    await engine.create(room, Policy(mode=Mode.PAUSED))
    await engine.join(room)
    meta = keys.room_key(room, "meta")
    before = await engine.backend.client.hgetall(meta)
    clock.step(600)
    await engine.stats(room)
    assert before == await engine.backend.client.hgetall(meta)


async def test_other_process(engine: Engine, server: Server, clock: Clock, room: str) -> None:
    """Another process sees the same."""
    await engine.create(room, Policy(capacity=1))
    await crowd(engine, room, 3)
    async with open_engine(server.url, clock) as other:
        assert await engine.stats(room) == await other.stats(room)


async def test_rooms(engine: Engine, room: str) -> None:
    """Neither an unknown room nor a bad name has numbers."""
    with pytest.raises(UnknownRoom):
        await engine.stats(room)
    with pytest.raises(InvalidRoomName):
        await engine.stats("a b")
