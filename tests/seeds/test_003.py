"""Seed 003, the restaurant waitlist: what the engine shows of it; the rest comes with the desk."""

from __future__ import annotations

import pytest

from tests.harness import Clock, crowd
from waitroom.engine import Engine, keys
from waitroom.models import Reason, State, preset

SIX_HOURS = 21_600


@pytest.mark.seed("003-03")
async def test_queue_disappears(engine: Engine, clock: Clock, room: str) -> None:
    """003-03: six hours after its last use an empty queue's keys are gone; its policy stays."""
    await engine.create(room, preset("desk"))
    guest = await engine.join(room)
    await engine.leave(room, guest.ticket)
    live = [keys.room_key(room, n) for n in keys.ROOM_KEYS if n not in ("config", "meta")]
    clock.step(SIX_HOURS - 1)
    await engine.advance(room)
    assert 0 < await engine.runner.client.exists(*live)
    clock.step(1)
    await engine.advance(room)
    assert 0 == await engine.runner.client.exists(*live)
    assert preset("desk") == (await engine.room(room)).policy


@pytest.mark.seed("003-03")
async def test_who_waits_is_not_dropped(engine: Engine, clock: Clock, room: str) -> None:
    """003-03: a queue in which anybody still waits is kept, although nobody polls."""
    await engine.create(room, preset("desk"))
    guest = await engine.join(room)
    for _ in range(8):
        clock.step(3_600)
        await engine.advance(room)
    assert 1 == (await engine.poll(room, guest.ticket)).position


@pytest.mark.seed("003-04")
async def test_position(engine: Engine, room: str) -> None:
    """003-04: my position now is rank + 1, and none when I do not wait."""
    await engine.create(room, preset("desk"))
    guests = await crowd(engine, room, 3)
    assert [1, 2, 3] == [(await engine.poll(room, one.ticket)).position for one in guests]
    await engine.call(room, guests[0].id)
    assert [None, 1, 2] == [(await engine.poll(room, one.ticket)).position for one in guests]


@pytest.mark.seed("003-05")
async def test_removed_when_seated(engine: Engine, room: str) -> None:
    """003-05: who is seated leaves the queue, and those behind move up."""
    await engine.create(room, preset("desk"))
    first, second = await crowd(engine, room, 2)
    await engine.call(room, first.id)
    seated = await engine.enter(room, first.ticket)
    assert (State.INSIDE, None) == (seated.state, seated.session_ends_at_ms)
    await engine.finish(room, first.ticket)
    assert State.GONE is (await engine.poll(room, first.ticket)).state
    assert 1 == (await engine.poll(room, second.ticket)).position


@pytest.mark.seed("003-05")
async def test_removed_when_cancelled(engine: Engine, room: str) -> None:
    """003-05: who cancels leaves the queue and is not back by a later look."""
    await engine.create(room, preset("desk"))
    first, second = await crowd(engine, room, 2)
    await engine.leave(room, first.ticket)
    assert Reason.LEFT is (await engine.poll(room, first.ticket)).reason
    assert 1 == (await engine.poll(room, second.ticket)).position
