"""The archive is written from the outbox: every event once, whoever writes, even after failures."""

from __future__ import annotations

import asyncio
import errno
from pathlib import Path
from typing import Any

import pytest

from tests.support.clock import Clock, open_engine
from tests.support.servers import Server
from waitroom.archive import files as archive
from waitroom.engine import Engine, keys
from waitroom.events.archiving import Archiving
from waitroom.events.relay import Relay
from waitroom.models import Policy


def kinds(folder: Path, room: str) -> list[str]:
    """Return the types of the lines."""
    return [event.type for event in archive.read(folder, room)]


def versions(folder: Path, room: str) -> list[int]:
    """Return the versions of all changes, as written."""
    events = archive.read(folder, room)
    return [event.data["version"] for event in events if event.type == "room.changed"]


async def newest(engine: Engine, room: str) -> str:
    """Return the id of the newest entry."""
    return (await engine.outbox.newest([room]))[room]


async def change(engine: Engine, relay: Relay, room: str, times: int = 3) -> None:
    """Change a room this often, and relay it."""
    for number in range(times):
        await engine.configure(room, capacity=100 + number)
    await relay.relay(room)


async def test_it_follows(engine: Engine, relay: Relay, room: str, tmp_path: Path) -> None:
    """Everything from the outbox is in the files, after a line about the room's state."""
    await engine.create(room, Policy(capacity=5))
    archiving = Archiving(engine, tmp_path)
    await engine.join(room)
    await change(engine, relay, room)
    archiving.wake(room)
    for _ in range(2):
        await archiving.step(lap=False)
    assert ["archive.opened", "people.called", *["room.changed"] * 3] == kinds(tmp_path, room)
    opened, called, *_ = archive.read(tmp_path, room)
    assert 102 == opened.data["policy"]["capacity"]
    assert 1 == opened.data["counters"]["joined"]
    assert [{"id", "at_ms", "place_us"}] == [set(person) for person in called.data["people"]]
    assert await newest(engine, room) == archive.last_id(tmp_path, room)


async def test_two_writers(
    engine: Engine, server: Server, clock: Clock, relay: Relay, room: str, tmp_path: Path
) -> None:
    """Two processes with one folder write each line once, in order."""
    await engine.create(room, Policy())
    async with open_engine(server.url, clock) as other:
        writers = [Archiving(each, tmp_path) for each in (engine, other)]
        for _ in range(5):
            await change(engine, relay, room)
            last = await newest(engine, room)
            await asyncio.gather(*(writer.follow(room, last) for writer in writers))
        assert all([await writer.follow(room, last) for writer in writers])
    assert [*range(2, 17)] == versions(tmp_path, room)


async def test_a_full_disk(
    engine: Engine,
    relay: Relay,
    room: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """It is reported loudly and stops nothing; once there is room, the lines are written."""
    await engine.create(room, Policy())
    errors: list[int] = []
    archiving = Archiving(engine, tmp_path, lambda: errors.append(1))
    await change(engine, relay, room)

    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(archive, "write", full)
        archiving.wake(room)
        for _ in range(2):
            await archiving.step(lap=False)
    assert ("No space left on device", 2) == (archiving.error, len(errors))
    assert 1 == caplog.text.count("cannot be written")
    await archiving.step(lap=False)
    assert None is archiving.error
    assert [2, 3, 4] == versions(tmp_path, room)


async def test_what_the_outbox_dropped(
    engine: Engine, relay: Relay, room: str, tmp_path: Path
) -> None:
    """Entries that were lost before they were written leave a gap."""
    await engine.create(room, Policy())
    archiving = Archiving(engine, tmp_path)
    await change(engine, relay, room, 1)
    await archiving.follow(room, await newest(engine, room))
    await change(engine, relay, room, 3)
    await engine.backend.client.xtrim(keys.room_key(room, "outbox"), maxlen=1, approximate=False)
    last = await newest(engine, room)
    assert await archiving.follow(room, last)
    assert ["archive.opened", "room.changed", "gap", "room.changed"] == kinds(tmp_path, room)
    assert await archiving.follow(room, last)
    assert 4 == len(kinds(tmp_path, room))
