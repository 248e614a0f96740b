"""configure: rooms are made and changed, versions guard a change, and a policy acts at once."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.clock import Clock, crowd, open_engine
from tests.support.servers import Server
from waitroom.engine import Engine, keys
from waitroom.errors import (
    BrokenRoom,
    EnterLater,
    InvalidInput,
    InvalidPolicy,
    InvalidRoomName,
    RoomExists,
    UnknownRoom,
    VersionConflict,
)
from waitroom.models import PRESETS, Mode, Policy, State, preset

BAD_NAMES = ["", "a b", "{a}", "a}", ".a", "-a", "é", "a\n", "a\x00", "a/b", "x" * 65, None, 7]


async def meta(engine: Engine, room: str) -> dict[bytes, bytes]:
    """Read the room's meta, bypassing the engine."""
    fields: dict[bytes, bytes] = await engine.backend.client.hgetall(keys.room_key(room, "meta"))
    return fields


async def test_create(engine: Engine, room: str) -> None:
    """A new room has the policy it was given, version 1, and a name in the index."""
    made = await engine.create(room, preset("slots"))
    assert (preset("slots"), 1) == (made.policy, made.version)
    assert room in await engine.rooms()


async def test_epoch_is_the_time_of_creation(engine: Engine, clock: Clock, room: str) -> None:
    """The epoch of a new room is the time of its creation, in µs."""
    assert clock.now_us == (await engine.create(room, Policy())).epoch


async def test_create_twice(engine: Engine, room: str) -> None:
    """A second `create` is refused, and changes nothing."""
    await engine.create(room, preset("slots"))
    with pytest.raises(RoomExists):
        await engine.create(room, preset("desk"))
    assert preset("slots") == (await engine.room(room)).policy


async def test_create_again_by_op_id(engine: Engine, room: str) -> None:
    """The same `create` sent twice counts once: the repeat returns the room, not an error."""
    first = await engine.create(room, Policy(), op_id="one")
    assert first == await engine.create(room, Policy(), op_id="one")


@pytest.mark.parametrize("name", PRESETS)
async def test_presets_are_stored_whole(
    engine: Engine, server: Server, clock: Clock, room: str, name: str
) -> None:
    """Another process reads every field of a preset as it was written."""
    await engine.create(room, preset(name))
    async with open_engine(server.url, clock) as other:
        assert preset(name) == (await other.room(room)).policy


async def test_milliseconds_are_stored(
    engine: Engine, server: Server, clock: Clock, room: str
) -> None:
    """A time of many seconds keeps its milliseconds on the way to another process."""
    await engine.create(room, Policy(session_s=12_345.678))
    async with open_engine(server.url, clock) as other:
        assert 12_345.678 == (await other.room(room)).policy.session_s


async def test_change(engine: Engine, room: str) -> None:
    """A change affects only the fields it names, and raises the version."""
    await engine.create(room, preset("slots"))
    changed = await engine.configure(room, capacity=7)
    assert (preset("slots", capacity=7), 2) == (changed.new.policy, changed.new.version)
    assert {"capacity": (preset("slots").capacity, 7)} == changed.fields


async def test_version_guard(engine: Engine, room: str) -> None:
    """A change based on an outdated read is refused, with both versions."""
    await engine.create(room, Policy())
    await engine.configure(room, version=1, capacity=1)
    with pytest.raises(VersionConflict) as caught:
        await engine.configure(room, version=1, capacity=2)
    assert (1, 2) == (caught.value.expected, caught.value.actual)
    assert 1 == (await engine.room(room)).policy.capacity


async def test_version_guard_between_processes(
    engine: Engine, server: Server, clock: Clock, room: str
) -> None:
    """A process that has not seen the newest policy cannot overwrite it with an old version."""
    await engine.create(room, Policy())
    async with open_engine(server.url, clock) as other:
        seen = await other.room(room)
        await engine.configure(room, capacity=1)
        with pytest.raises(VersionConflict):
            await other.configure(room, version=seen.version, capacity=2)


async def test_unguarded_changes_of_two_processes_both_stay(
    engine: Engine, server: Server, clock: Clock, room: str
) -> None:
    """Changes of different fields by processes with old memories do not undo each other."""
    await engine.create(room, Policy())
    async with open_engine(server.url, clock) as other:
        await other.room(room)
        await engine.configure(room, capacity=5)
        await other.configure(room, queue_limit=9)
    policy = (await engine.room(room)).policy
    assert (5, 9) == (policy.capacity, policy.queue_limit)


async def test_repeated_change(engine: Engine, room: str) -> None:
    """A change with the `op_id` of an earlier one is not made again."""
    await engine.create(room, Policy())
    await engine.configure(room, capacity=5, op_id="five")
    await engine.configure(room, capacity=6)
    again = await engine.configure(room, capacity=5, op_id="five")
    assert (6, 3) == (again.new.policy.capacity, again.new.version)
    assert {} == again.fields


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"capacity": 0}, "capacity"),
        ({"batch": 5}, "every_s"),
        ({"per_s": 5}, "max_entries"),
        ({"before_open": "draw"}, "before_open"),
        ({"mode": "half-open"}, "mode"),
        ({"session_s": float("nan")}, "session_s"),
        ({"colour": "blue"}, "colour"),
    ],
)
async def test_bad_change(engine: Engine, room: str, changes: dict[str, Any], field: str) -> None:
    """A contradictory or impossible change names its field, and nothing is written."""
    await engine.create(room, Policy())
    with pytest.raises(InvalidPolicy) as caught:
        await engine.configure(room, **changes)
    assert field == caught.value.field
    assert 1 == (await engine.room(room)).version


async def test_unknown_room(engine: Engine, room: str) -> None:
    """A room that does not exist cannot be changed, and the attempt does not create it."""
    with pytest.raises(UnknownRoom):
        await engine.configure(room, capacity=5)
    assert {} == await meta(engine, room)
    assert room not in await engine.rooms()


@pytest.mark.parametrize("name", BAD_NAMES, ids=repr)
async def test_bad_names(engine: Engine, name: Any) -> None:
    """An invalid name is refused, and creates no key."""
    client = engine.backend.client
    before = {key async for key in client.scan_iter(count=1000)}
    with pytest.raises(InvalidRoomName):
        await engine.create(name, Policy())
    with pytest.raises(InvalidRoomName):
        await engine.configure(name, capacity=1)
    # Not their number, because keys of other tests expire in between.
    after = {key async for key in client.scan_iter(count=1000)}
    assert set() == after - before


async def test_fields_of_a_newer_version(engine: Engine, room: str) -> None:
    """A field that we do not know is ignored, and kept when we change the policy."""
    await engine.create(room, Policy(capacity=4))
    config = keys.room_key(room, "config")
    await engine.backend.client.hset(config, "of_a_newer_one", "9")
    assert 4 == (await engine.room(room)).policy.capacity
    await engine.configure(room, capacity=5)
    assert [b"5", b"9"] == await engine.backend.client.hmget(config, "capacity", "of_a_newer_one")


async def test_wrong_type(engine: Engine, room: str) -> None:
    """A key of another type is named, and nothing is written."""
    await engine.create(room, Policy())
    await engine.backend.client.set(keys.room_key(room, "gone"), "mine")
    with pytest.raises(BrokenRoom, match="`gone`"):
        await engine.configure(room, capacity=5)


async def test_every_process_follows_a_change_at_once(
    engine: Engine, server: Server, clock: Clock, room: str
) -> None:
    """A process that knew the old policy follows the new one in its very next call."""
    await engine.create(room, Policy())
    async with open_engine(server.url, clock) as other:
        assert State.CALLED is (await other.join(room)).state
        await engine.configure(room, mode=Mode.PAUSED)
        assert State.WAITING is (await other.join(room)).state
        assert "paused" == (await other.room(room)).policy.mode


async def test_declared_policy_does_not_hide_the_stored_one(
    engine: Engine, server: Server, clock: Clock, room: str
) -> None:
    """A room of a configuration file keeps its policy if it already exists."""
    await engine.create(room, Policy(capacity=5))
    async with open_engine(server.url, clock) as other:
        other.declare(room, Policy(capacity=9))
        assert 5 == (await other.room(room)).policy.capacity


async def test_lowered_capacity_evicts_nobody(engine: Engine, room: str) -> None:
    """People inside and called stay when the capacity falls below their number."""
    await engine.create(room, Policy(capacity=3))
    people = await crowd(engine, room, 4)
    await engine.enter(room, people[0].ticket)
    await engine.configure(room, capacity=1)
    await engine.advance(room)
    stats = await engine.stats(room)
    assert (1, 2, 1) == (stats.waiting, stats.called, stats.inside)


async def test_lowered_capacity_holds_for_the_next(engine: Engine, room: str) -> None:
    """After the capacity is lowered, nobody is called until the number falls below it."""
    await engine.create(room, Policy(capacity=3))
    people = await crowd(engine, room, 4)
    await engine.configure(room, capacity=1)
    for person in people[:2]:
        await engine.leave(room, person.ticket)
    assert State.WAITING is (await engine.poll(room, people[3].ticket)).state
    await engine.leave(room, people[2].ticket)
    assert State.CALLED is (await engine.poll(room, people[3].ticket)).state


async def test_lowered_rolling_limit_holds_for_the_called(
    engine: Engine, clock: Clock, room: str
) -> None:
    """A called ticket keeps its turn when the limit falls, and enters when the window frees."""
    await engine.create(room, Policy(max_entries=2, per_s=60))
    first, second = await crowd(engine, room, 2)
    await engine.enter(room, first.ticket)
    await engine.configure(room, max_entries=1)
    with pytest.raises(EnterLater) as caught:
        await engine.enter(room, second.ticket)
    clock.now_us = caught.value.retry_at_ms * 1000
    assert State.INSIDE is (await engine.enter(room, second.ticket)).state


async def test_longer_window_remembers_the_old_one(engine: Engine, clock: Clock, room: str) -> None:
    """Earlier entries count in a longer window, so a change cannot double the limit."""
    await engine.create(room, Policy(max_entries=2, per_s=10))
    for _ in range(2):
        await engine.join(room, enter=True)
    clock.step(11)
    await engine.configure(room, per_s=60)
    assert State.WAITING is (await engine.join(room, enter=True)).state


async def test_shorter_window_frees_earlier(engine: Engine, clock: Clock, room: str) -> None:
    """A shorter window admits the next person when it has passed, not when the old one would."""
    await engine.create(room, Policy(max_entries=1, per_s=600, presence_s=None))
    await engine.join(room, enter=True)
    late = await engine.join(room)
    await engine.configure(room, per_s=2)
    for _ in range(3):  # the old buckets were 10 s wide, and count to their end
        clock.step(5)
        await engine.advance(room)
    assert State.CALLED is (await engine.poll(room, late.ticket)).state


async def test_queue_limit_raised_live(engine: Engine, room: str) -> None:
    """A raised queue limit admits the next visitor without a restart."""
    await engine.create(room, Policy(mode=Mode.PAUSED, queue_limit=1))
    await engine.join(room)
    await engine.configure(room, queue_limit=2)
    assert 2 == (await engine.join(room)).position


async def test_change_tells_the_ticker(engine: Engine, room: str) -> None:
    """A change of policy is announced, so that this process's ticker checks the room."""
    await engine.create(room, Policy())
    changed: list[str] = []
    end = engine.on_change(changed.append)
    await engine.configure(room, capacity=5)
    assert [room] == changed
    end()
    await engine.configure(room, capacity=6)
    assert [room] == changed


async def test_repeat_with_a_version(engine: Engine, room: str) -> None:
    """A repeat of the same `op_id` is no conflict, though the first one raised the version."""
    await engine.create(room, Policy())
    first = await engine.configure(room, version=1, op_id="one", capacity=5)
    again = await engine.configure(room, version=1, op_id="one", capacity=5)
    assert (2, 2, 5) == (first.new.version, again.new.version, again.new.policy.capacity)
    with pytest.raises(VersionConflict):
        await engine.configure(room, version=1, op_id="two", capacity=6)


@pytest.mark.parametrize("op_id", ["", "a b", "{x}", "x" * 65, "대기", "a\n"])
async def test_bad_op_ids(engine: Engine, room: str, op_id: str) -> None:
    """An `op_id` becomes part of a key, so only plain short ones are accepted."""
    await engine.create(room, Policy())
    with pytest.raises(InvalidInput) as caught:
        await engine.configure(room, op_id=op_id, capacity=5)
    assert "op_id" == caught.value.field
    assert 1 == (await engine.room(room)).version


async def test_a_spoilt_config(engine: Engine, server: Server, clock: Clock, room: str) -> None:
    """What somebody else wrote into a policy is a clear error, and does not block other rooms."""
    good = f"{room}.good"
    for name in (room, good):
        await engine.create(name, Policy())
    await engine.backend.client.hset(keys.room_key(room, "config"), "capacity", "many")
    async with open_engine(server.url, clock) as other:
        with pytest.raises(BrokenRoom, match="config"):
            await other.join(room)
        await other.meet([room, good])
        assert {good} == other.remembered()
    await engine.backend.client.set(keys.room_key(room, "config"), "not a hash")
    async with open_engine(server.url, clock) as other:
        await other.meet([room, good])
        assert {good} == other.remembered()


async def test_a_message_keeps_its_time(
    engine: Engine, server: Server, clock: Clock, room: str
) -> None:
    """Only a new message has a new time: no other change, restart or loss moves it."""
    assert (await engine.create(room, Policy())).message_at_ms is None
    clock.step(60)
    said_ms = clock.now_us // 1000
    assert said_ms == (await engine.configure(room, message="Ten minutes late")).new.message_at_ms
    clock.step(60)
    changed = (await engine.configure(room, capacity=5, message="Ten minutes late")).new
    assert (2, said_ms) == (changed.version - 1, changed.message_at_ms)
    await engine.backend.client.delete(keys.room_key(room, "config"), keys.room_key(room, "meta"))
    restored = await engine.room(room)
    assert ("Ten minutes late", said_ms) == (restored.policy.message, restored.message_at_ms)
    async with open_engine(server.url, clock) as another:
        assert said_ms == (await another.stats(room)).message_at_ms
    clock.step(60)
    later = (await engine.configure(room, message="We begin")).new
    assert clock.now_us // 1000 == later.message_at_ms == (await engine.stats(room)).message_at_ms
    assert (await engine.configure(room, message=None)).new.message_at_ms is None


async def test_nobody_invents_the_time_of_a_message(engine: Engine, room: str) -> None:
    """A message from an older Waitroom, which stored no time, has none until it changes."""
    await engine.create(room, Policy(message="Welcome"))
    await engine.backend.client.hdel(keys.room_key(room, "config"), "message_at")
    assert (await engine.configure(room, capacity=5)).new.message_at_ms is None
    assert (await engine.configure(room, message="Soon")).new.message_at_ms is not None
