"""Rooms from a file: created on start, changed by file and by hand, never against the operator."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.clock import open_engine
from tests.support.servers import Server, start_server
from waitroom.engine import Engine, keys
from waitroom.engine.audit import Entry
from waitroom.models import Mode, Policy
from waitroom.operations.declared import apply_declared
from waitroom.operations.trail import CONFIG, Trail

FILE = Policy(capacity=500, batch=10, every_s=6, title="Concert")


async def apply(engine: Engine, declared: dict[str, Policy]) -> dict[str, dict[str, Any]]:
    """Apply what a file declares, as a starting server does."""
    return await apply_declared(engine, Trail(engine.audit, CONFIG), declared)


async def log_of(engine: Engine, room: str) -> list[Entry]:
    """Return a room's entries in the audit log, oldest first."""
    return [*reversed((await engine.audit.page(room=room)).entries)]


async def test_a_new_room_is_made(engine: Engine, room: str) -> None:
    """The first time a room is created as declared, and all its fields are listed; then nothing."""
    assert {room: FILE.as_dict()} == await apply(engine, {room: FILE})
    assert FILE == (await engine.room(room)).policy
    assert {} == await apply(engine, {room: FILE})
    assert 1 == (await engine.room(room)).version


async def test_a_room_made_by_hand_follows_the_file(engine: Engine, room: str) -> None:
    """A file that is new to a room wins in every field, and only differences are changed."""
    await engine.create(room, replace(FILE, capacity=9, mode=Mode.PAUSED))
    done = await apply(engine, {room: FILE})
    assert {room: {"capacity": 500, "mode": Mode.OPEN}} == done
    assert FILE == (await engine.room(room)).policy


async def test_what_an_operator_changed_stays(engine: Engine, room: str) -> None:
    """A restart with the same file, or with another field changed in it, leaves it alone."""
    await apply(engine, {room: FILE})
    await engine.configure(room, capacity=800, mode=Mode.PAUSED)
    assert {} == await apply(engine, {room: FILE})
    changed = replace(FILE, title="Second night")
    assert {room: {"title": "Second night"}} == await apply(engine, {room: changed})
    expected = replace(changed, capacity=800, mode=Mode.PAUSED)
    assert expected == (await engine.room(room)).policy


async def test_a_field_changed_in_the_file_wins(engine: Engine, room: str) -> None:
    """What the file changed since last time is applied, whatever an operator did to it."""
    await apply(engine, {room: FILE})
    await engine.configure(room, capacity=800, batch=20)
    changed = replace(FILE, capacity=600)
    assert {room: {"capacity": 600}} == await apply(engine, {room: changed})
    policy = (await engine.room(room)).policy
    assert (600, 20) == (policy.capacity, policy.batch)


async def test_changes_that_do_not_fit_together(engine: Engine, room: str) -> None:
    """If file and operator together make no valid policy, the whole file wins: it must start."""
    await apply(engine, {room: FILE})
    await engine.configure(room, batch=None, every_s=None, capacity=800)
    changed = replace(FILE, batch=20)
    done = await apply(engine, {room: changed})
    assert {room: {"batch": 20, "every_s": 6, "capacity": 500}} == done
    assert changed == (await engine.room(room)).policy


async def test_it_is_in_the_audit_log(engine: Engine, room: str) -> None:
    """A room created or changed by the file has its entry; an unchanged one has none."""
    for policy in (FILE, FILE, replace(FILE, capacity=600)):
        await apply(engine, {room: policy})
    lines = await log_of(engine, room)
    assert ["room.create", "room.change"] == [entry.action for entry in lines]
    assert {("config", "config")} == {(entry.key_id, entry.way) for entry in lines}
    assert {"capacity": {"old": 500, "new": 600}} == lines[1].detail["changed"]


async def test_a_dropped_room_is_made_again(engine: Engine, room: str) -> None:
    """A room that is still declared comes back at the next start, as the file says."""
    await apply(engine, {room: FILE})
    await engine.drop(room)
    assert {room: FILE.as_dict()} == await apply(engine, {room: FILE})


@pytest.mark.parametrize("spoilt", ["{", "[1]", "7", ""])
async def test_a_spoilt_memory_is_no_memory(engine: Engine, room: str, spoilt: str) -> None:
    """If the previous content of the file cannot be read, the file wins, as the first time."""
    await apply(engine, {room: FILE})
    await engine.configure(room, capacity=800)
    await engine.backend.client.execute_command("HSET", keys.DECLARED, room, spoilt)
    assert {room: {"capacity": 500}} == await apply(engine, {room: FILE})


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Run a server for this module only, for several engines."""
    with start_server("valkey", Path(tmp_path_factory.mktemp("own"))) as server:
        yield server


async def test_two_servers_start_at_once(own: Server, room: str) -> None:
    """Servers with the same file may start together: one creates each room, nobody fails."""
    rooms = {f"{room}-{n}": replace(FILE, capacity=100 + n) for n in range(20)}
    async with open_engine(own.url) as a, open_engine(own.url) as b, open_engine(own.url) as c:
        done = await asyncio.gather(*(apply(engine, rooms) for engine in (a, b, c)))
        assert set(rooms) == set().union(*done)
        for name, policy in rooms.items():
            room_now = await a.room(name)
            assert (policy, 1) == (room_now.policy, room_now.version)
            assert 1 == sum(name in made for made in done)
            assert 1 == len(await log_of(a, name))
