"""drop: a room goes with everything it holds, and no process restores it by accident."""

from __future__ import annotations

import pytest

from tests.support.clock import Clock, crowd, open_engine
from tests.support.servers import Server
from waitroom.engine import Engine, keys
from waitroom.errors import InvalidRoomName, UnknownRoom, UpgradeNeeded
from waitroom.models import Mode, Policy, Reason, State


async def test_gone(engine: Engine, room: str) -> None:
    """The room is no longer listed, and every verb says that it does not exist."""
    await engine.create(room, Policy())
    assert await engine.drop(room)
    assert room not in await engine.rooms()
    with pytest.raises(UnknownRoom):
        await engine.join(room)
    with pytest.raises(UnknownRoom):
        await engine.stats(room)


async def test_keys(engine: Engine, room: str) -> None:
    """Only a note of it stays, and expires after a day."""
    await engine.create(room, Policy(capacity=1))
    await engine.join(room, enter=True)
    await crowd(engine, room, 2)
    await engine.drop(room)
    client = engine.backend.client
    names = [keys.room_key(room, name) for name in keys.ROOM_KEYS]
    assert [keys.room_key(room, "meta")] == [n for n in names if await client.exists(n)]
    assert 0 < await client.ttl(keys.room_key(room, "meta")) <= 86_400


async def test_twice(engine: Engine, room: str) -> None:
    """The answer tells whether the room existed."""
    await engine.create(room, Policy())
    assert [True, False] == [await engine.drop(room) for _ in range(2)]


async def test_never_there(engine: Engine, room: str) -> None:
    """Dropping a room that never existed leaves nothing behind."""
    assert not await engine.drop(room)
    assert 0 == await engine.backend.client.exists(*keys.script_keys(room))


async def test_other_process_does_not_bring_it_back(
    engine: Engine, server: Server, clock: Clock, room: str
) -> None:
    """A process that remembers the room does not mistake its absence for a loss."""
    await engine.create(room, Policy(mode=Mode.PAUSED))
    async with open_engine(server.url, clock) as other:
        person = await other.join(room)
        await engine.drop(room)
        with pytest.raises(UnknownRoom):
            await other.poll(room, person.ticket)
        with pytest.raises(UnknownRoom):
            await other.advance(room)
        with pytest.raises(UnknownRoom):
            await other.join(room)
    assert room not in await engine.rooms()


async def test_made_again(engine: Engine, clock: Clock, room: str) -> None:
    """A room of the same name starts empty, at version 1, in a later epoch."""
    old = await engine.create(room, Policy(mode=Mode.PAUSED))
    await engine.join(room)
    await engine.drop(room)
    clock.step(-5)
    new = await engine.create(room, Policy(capacity=3))
    assert (1, 3) == (new.version, new.policy.capacity)
    assert old.epoch < new.epoch
    assert 0 == (await engine.stats(room)).waiting


async def test_tickets_of_the_old_room(engine: Engine, room: str) -> None:
    """Earlier tickets are no tickets of the new room."""
    await engine.create(room, Policy(mode=Mode.PAUSED))
    person = await engine.join(room)
    await engine.drop(room)
    await engine.create(room, Policy(mode=Mode.PAUSED))
    assert Reason.CLEARED is (await engine.poll(room, person.ticket)).reason


async def test_old_memory_does_not_overwrite_the_new_room(
    engine: Engine, server: Server, clock: Clock, room: str
) -> None:
    """A process that remembers a later version of the old room leaves the new policy alone."""
    await engine.create(room, Policy(mode=Mode.PAUSED))
    await engine.configure(room, mode=Mode.CLOSED)
    async with open_engine(server.url, clock) as other:
        await other.room(room)
        await engine.drop(room)
        await engine.create(room, Policy(capacity=3))
        assert State.CALLED is (await other.join(room)).state
        assert Policy(capacity=3) == (await other.room(room)).policy
    async with open_engine(server.url, clock) as third:
        assert Policy(capacity=3) == (await third.room(room)).policy


async def test_bad_name(engine: Engine) -> None:
    """A bad name is refused."""
    with pytest.raises(InvalidRoomName):
        await engine.drop("{a}")


async def test_newer_schema(engine: Engine, room: str) -> None:
    """A room that a newer Waitroom wrote is not dropped, and stays in the index."""
    await engine.create(room, Policy())
    await engine.backend.client.hset(keys.room_key(room, "meta"), "schema", 2)
    with pytest.raises(UpgradeNeeded):
        await engine.drop(room)
    assert room in await engine.rooms()
