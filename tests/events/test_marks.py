"""Marks: what happens to a room by itself is on its timeline, once, at the right time."""

from __future__ import annotations

import pytest

from tests.support.clock import Clock, advance_all, crowd
from waitroom import moments
from waitroom.engine import Engine
from waitroom.events.relay import Relay
from waitroom.models import Mode, Policy

pytestmark = pytest.mark.every_kind

FOREVER_MS = 10**15


async def kinds(engine: Engine, room: str) -> list[str]:
    """Return the kinds of a room's marks."""
    return [mark.kind for mark in await engine.marks.read(room, 0, FOREVER_MS)]


async def test_opening_and_end(engine: Engine, clock: Clock, relay: Relay, room: str) -> None:
    """They are marked at their planned time, however late somebody notices."""
    opens_ms, ends_ms = clock.now_ms + 60_000, clock.now_ms + 120_000
    opens_at, ends_at = moments.from_ms(opens_ms), moments.from_ms(ends_ms)
    await engine.create(room, Policy(opens_at=opens_at, ends_at=ends_at))
    await engine.join(room)
    clock.step(90)
    await advance_all(engine, room)
    clock.step(90)
    await advance_all(engine, room)
    for _ in range(2):
        await relay.relay(room)
    marks = await engine.marks.read(room, 0, FOREVER_MS)
    assert [(opens_ms, "room.opened"), (ends_ms, "room.ended")] == [
        (mark.at_ms, mark.kind) for mark in marks
    ]
    assert marks[1:] == await engine.marks.read(room, opens_ms + 1, ends_ms)


async def test_limits_and_outages(engine: Engine, relay: Relay, room: str) -> None:
    """A full room and a backend that was away are marked, with what is known about it."""
    await engine.create(room, Policy(capacity=2))
    await crowd(engine, room, 3)
    await relay.relay(room)
    (full,) = await engine.marks.read(room, 0, FOREVER_MS)
    assert ("room.limit_reached", "capacity", 2) == (
        full.kind,
        full.data["limit"],
        full.data["value"],
    )
    relay.note_outage(engine.node_of(room), 5_000, 9_000)
    await relay.step(lap=False)
    away, back = await engine.marks.read(room, 5_000, 9_000)
    assert [(5_000, "backend.away"), (9_000, "backend.back")] == [
        (mark.at_ms, mark.kind) for mark in (away, back)
    ]


async def test_what_operators_do_is_no_mark(engine: Engine, relay: Relay, room: str) -> None:
    """The audit log has it, even an end by hand."""
    await engine.create(room, Policy())
    await engine.configure(room, mode=Mode.PAUSED, message="A short pause.")
    await engine.configure(room, mode=Mode.ENDED)
    await relay.relay(room)
    assert [] == await kinds(engine, room)


async def test_marks_go_with_the_room(engine: Engine, relay: Relay, room: str) -> None:
    """A room of the same name starts without marks, and unused ones expire."""
    await engine.create(room, Policy(capacity=1))
    await crowd(engine, room, 2)
    await relay.relay(room)
    assert ["room.limit_reached"] == await kinds(engine, room)
    assert 0 < await engine.backend.client.ttl(f"wr:{{{room}}}:marks") <= 30 * 86_400
    await engine.clear(room)
    assert ["room.limit_reached"] == await kinds(engine, room)
    await engine.drop(room)
    await relay.relay(room)
    assert [] == await kinds(engine, room)
