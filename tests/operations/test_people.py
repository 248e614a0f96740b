"""Actions on people are recorded: every ticket, even if nobody knows the outcome."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest

from tests.support.clock import crowd
from waitroom.engine import Engine
from waitroom.engine.audit import LONGEST_ENTRY, Entry
from waitroom.models import Mode, Policy, State
from waitroom.operations import people, rooms
from waitroom.operations.selection import Selection
from waitroom.operations.trail import Actor, Trail, Way

WAITING = Policy(mode=Mode.PAUSED, presence_s=None)


def trail(engine: Engine, key_id: str = "abc") -> Trail:
    """Return the log, signed by a key."""
    return Trail(engine.audit, Actor(key_id, "box office", "operator", Way.API, "192.0.2.7"))


async def entries(engine: Engine, room: str) -> list[Entry]:
    """Return what was done to a room, oldest first."""
    return [*reversed((await engine.audit.page(room=room, limit=500)).entries)]


@pytest.mark.attack
async def test_every_kicked_ticket_is_recorded(engine: Engine, room: str) -> None:
    """If 791 people are removed at once, the log names each."""
    await engine.create(room, WAITING)
    ids = [view.id for _ in range(7) for view in await crowd(engine, room, 113)]
    now_ms = (await engine.stats(room)).now_ms
    selection = Selection(State.WAITING)
    done = await people.kick_selected(engine, trail(engine), room, selection, now_ms, most=len(ids))
    assert (791, 791) == (done.asked, done.kicked)
    log = await entries(engine, room)
    assert sorted(ids) == sorted(ticket for entry in log for ticket in entry.detail["tickets"])
    assert {"kick"} == {entry.action for entry in log}


@pytest.mark.attack
@pytest.mark.parametrize("length", [16, 64])
async def test_every_named_ticket_is_recorded(engine: Engine, room: str, length: int) -> None:
    """The log takes as many ids as one call, however long they are, here or not."""
    await engine.create(room, WAITING)
    (person,) = await crowd(engine, room, 1)
    ids = [person.id, *(f"{number}".ljust(length, "x") for number in range(499))]
    await people.kick(engine, trail(engine), room, ids)
    log = await entries(engine, room)
    assert ids == [ticket for entry in log for ticket in entry.detail["tickets"]]
    parts = [(entry.detail["part"], entry.detail["parts"]) for entry in log]
    assert [(number, len(log)) for number in range(1, len(log) + 1)] == parts
    assert LONGEST_ENTRY >= max(len(f"{entry.detail}") for entry in log)


@pytest.mark.attack
async def test_what_is_no_id_fills_no_log(engine: Engine, room: str) -> None:
    """Long texts that cannot be an id are counted, but not kept."""
    await engine.create(room, WAITING)
    ids = [f"{number}".ljust(64, "\x01") for number in range(499)]
    await people.kick(engine, trail(engine), room, [*ids, "an-absent-ticket"])
    (entry,) = await entries(engine, room)
    assert (500, ["an-absent-ticket"]) == (entry.detail["asked"], entry.detail["tickets"])


@pytest.mark.attack
async def test_an_op_id_is_of_its_key(engine: Engine, room: str) -> None:
    """Another key with the same op_id acts independently; the same key acts once, per action."""
    await engine.create(room, WAITING)
    first, second, *_ = await crowd(engine, room, 9)
    mine, theirs = trail(engine, "mine"), trail(engine, "theirs")
    for actor in (mine, theirs, mine, theirs):
        done = await people.admit(engine, actor, room, 2, force=True, op_id="doors")
        assert 2 == done.count
    assert 4 == (await engine.stats(room)).called
    assert 1 == (await people.kick(engine, mine, room, [first.id], op_id="doors")).kicked
    assert 1 == (await people.kick(engine, theirs, room, [second.id], op_id="doors")).kicked
    assert 7 == await rooms.clear(engine, mine, room, op_id="doors")
    assert 0 == await rooms.clear(engine, theirs, room, op_id="doors")


async def interrupted(engine: Engine, action: Coroutine[Any, Any, object]) -> None:
    """Stop an action that was sent and has no answer yet: the server holds writes."""
    client = engine.backend.client
    await client.execute_command("CLIENT", "PAUSE", 10_000, "WRITE")
    try:
        task = asyncio.create_task(action)
        for _ in range(100):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.sleep(0)
    finally:
        await client.execute_command("CLIENT", "UNPAUSE")
    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.mark.attack
async def test_who_interrupts_a_kick_is_recorded(engine: Engine, room: str) -> None:
    """A command that is stopped after sending leaves its tickets in the log."""
    await engine.create(room, WAITING)
    (person,) = await crowd(engine, room, 1)
    await interrupted(engine, people.kick(engine, trail(engine), room, [person.id]))
    (entry,) = await entries(engine, room)
    assert ("unknown", [person.id]) == (entry.detail["outcome"], entry.detail["tickets"])


async def test_who_interrupts_a_clear_is_recorded(engine: Engine, room: str) -> None:
    """So does any other action."""
    await engine.create(room, WAITING)
    await interrupted(engine, rooms.clear(engine, trail(engine), room))
    (entry,) = await entries(engine, room)
    assert ("room.clear", {"outcome": "unknown"}) == (entry.action, entry.detail)
