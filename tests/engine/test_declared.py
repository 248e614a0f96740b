"""Rooms of a file: made on start, changed by the file and by hand, never against the operator."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.clock import open_engine
from tests.support.servers import Server, start_server
from waitroom.engine import Engine, keys
from waitroom.engine.declared import apply_declared
from waitroom.models import Mode, Policy

FILE = Policy(capacity=500, batch=10, every_s=6, title="Concert")


async def test_a_new_room_is_made(engine: Engine, room: str) -> None:
    """The first time a room is made as declared, and all its fields are told; then nothing."""
    assert {room: FILE.as_dict()} == await apply_declared(engine, {room: FILE})
    assert FILE == (await engine.room(room)).policy
    assert {} == await apply_declared(engine, {room: FILE})
    assert 1 == (await engine.room(room)).version


async def test_a_room_made_by_hand_follows_the_file(engine: Engine, room: str) -> None:
    """A file that is new to a room wins in every field, and only what differs is changed."""
    await engine.create(room, replace(FILE, capacity=9, mode=Mode.PAUSED))
    done = await apply_declared(engine, {room: FILE})
    assert {room: {"capacity": 500, "mode": Mode.OPEN}} == done
    assert FILE == (await engine.room(room)).policy


async def test_what_an_operator_changed_stays(engine: Engine, room: str) -> None:
    """A restart with the same file, or with another field changed in it, leaves it as it is."""
    await apply_declared(engine, {room: FILE})
    await engine.configure(room, capacity=800, mode=Mode.PAUSED)
    assert {} == await apply_declared(engine, {room: FILE})
    changed = replace(FILE, title="Second night")
    assert {room: {"title": "Second night"}} == await apply_declared(engine, {room: changed})
    expected = replace(changed, capacity=800, mode=Mode.PAUSED)
    assert expected == (await engine.room(room)).policy


async def test_a_field_changed_in_the_file_wins(engine: Engine, room: str) -> None:
    """What the file says differently than last time is changed, whatever an operator did to it."""
    await apply_declared(engine, {room: FILE})
    await engine.configure(room, capacity=800, batch=20)
    changed = replace(FILE, capacity=600)
    assert {room: {"capacity": 600}} == await apply_declared(engine, {room: changed})
    policy = (await engine.room(room)).policy
    assert (600, 20) == (policy.capacity, policy.batch)


async def test_changes_that_do_not_fit_together(engine: Engine, room: str) -> None:
    """Where file and operator together make no policy, the file wins as a whole: it must start."""
    await apply_declared(engine, {room: FILE})
    await engine.configure(room, batch=None, every_s=None, capacity=800)
    changed = replace(FILE, batch=20)
    done = await apply_declared(engine, {room: changed})
    assert {room: {"batch": 20, "every_s": 6, "capacity": 500}} == done
    assert changed == (await engine.room(room)).policy


async def test_a_dropped_room_is_made_again(engine: Engine, room: str) -> None:
    """A room that is still declared comes back with the next start, as the file says."""
    await apply_declared(engine, {room: FILE})
    await engine.drop(room)
    assert {room: FILE.as_dict()} == await apply_declared(engine, {room: FILE})


@pytest.mark.parametrize("spoilt", ["{", "[1]", "7", ""])
async def test_a_spoilt_memory_is_no_memory(engine: Engine, room: str, spoilt: str) -> None:
    """If what the file said last time cannot be read, the file wins, as the first time."""
    await apply_declared(engine, {room: FILE})
    await engine.configure(room, capacity=800)
    await engine.runner.command("HSET", keys.DECLARED, room, spoilt)
    assert {room: {"capacity": 500}} == await apply_declared(engine, {room: FILE})


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Run a server of this module's own, for several engines."""
    with start_server("valkey", Path(tmp_path_factory.mktemp("own"))) as server:
        yield server


async def test_two_servers_start_at_once(own: Server, room: str) -> None:
    """Servers with the same file may start together: one makes each room, nobody fails."""
    rooms = {f"{room}-{n}": replace(FILE, capacity=100 + n) for n in range(20)}
    async with open_engine(own.url) as one, open_engine(own.url) as two, open_engine(own.url) as x:
        done = await asyncio.gather(*(apply_declared(engine, rooms) for engine in (one, two, x)))
        assert set(rooms) == set().union(*done)
        for name, policy in rooms.items():
            found = await one.room(name)
            assert (policy, 1) == (found.policy, found.version)
            assert 1 == sum(name in made for made in done)
