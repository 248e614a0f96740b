"""History is bounded: the largest numbers of 30 days fit into the bytes that the docs name."""

from __future__ import annotations

import dataclasses

import pytest

from tests.support.clock import Clock
from tests.support.counts import count
from waitroom.engine import Engine, keys
from waitroom.engine.history import MOST, packed
from waitroom.history import COUNTERS, HistoryPoint, Step
from waitroom.models import Mode, Policy

pytestmark = pytest.mark.every_kind

MOST_BYTES = 1_500_000
STREAMS = {Step.MINUTE: "minutes", Step.TEN: "tens"}
LARGEST = HistoryPoint(
    at_ms=0,
    span_ms=0,
    **dict.fromkeys(("waiting", "called", "inside", "most_waiting"), 1_000_000_000),
    **dict.fromkeys(COUNTERS, 10**12),
    waited_s=366 * 86_400,
    told_s=366 * 86_400,
    mode=Mode.MANUAL,
    capacity=1_000_000_000,
    per_minute=6e12,
    woke_ms=1_800_000_000_000,
    idle=False,
)


async def fill(engine: Engine, room: str, now_ms: int) -> None:
    """Write as many spans as are kept, and some more, of numbers that all differ."""
    pipe = engine.backend.client.pipeline(transaction=False)
    for step, name in STREAMS.items():
        key, spans = keys.room_key(room, name), MOST[step] + 200
        first_ms = step.start(now_ms) - spans * step.span_ms
        for n in range(spans):
            numbers = {field: getattr(LARGEST, field) - n for field in ("waiting", *COUNTERS)}
            at_ms = first_ms + n * step.span_ms
            point = dataclasses.replace(LARGEST, **numbers)
            pipe.execute_command(
                "XADD", key, "MAXLEN", MOST[step], f"{at_ms}-0", "v", packed(point)
            )
    await pipe.execute()


async def used(engine: Engine, room: str) -> int:
    """Return how many bytes a room's history takes at the server, all of it looked at."""
    client = engine.backend.client
    sizes = [
        await client.memory_usage(keys.room_key(room, name), samples=0) for name in STREAMS.values()
    ]
    return sum(size or 0 for size in sizes)


async def test_the_largest_numbers(engine: Engine, clock: Clock, room: str) -> None:
    """Rooms full of the largest numbers stay within the bytes, and come back as they were."""
    await engine.create(room, Policy())
    await fill(engine, room, clock.now_ms)
    for step, name in STREAMS.items():
        assert MOST[step] == await engine.backend.client.xlen(keys.room_key(room, name))
        (point,) = await engine.history(
            room, clock.now_ms - step.span_ms, clock.now_ms - step.span_ms, step
        )
        at_ms = step.start(clock.now_ms - step.span_ms)
        numbers = {field: getattr(point, field) for field in ("waiting", *COUNTERS)}
        assert dataclasses.replace(LARGEST, at_ms=at_ms, span_ms=step.span_ms, **numbers) == point
        assert 1_000_000_000 - 199 - MOST[step] == point.waiting
    assert 0 < await used(engine, room) <= MOST_BYTES


async def test_many_rooms(engine: Engine, clock: Clock, room: str) -> None:
    """Thirty days of many rooms stay within the bytes, and go with the rooms."""
    client = engine.backend.client
    await engine.create(room, Policy())
    await fill(engine, room, clock.now_ms)
    dumps = {name: await client.dump(keys.room_key(room, name)) for name in STREAMS.values()}
    rooms = [f"{room}-{n}" for n in range(count("history_rooms"))]
    for other in rooms:
        await engine.create(other, Policy())
        for name, dump in dumps.items():
            await client.restore(keys.room_key(other, name), 0, dump)
    sizes = [await used(engine, other) for other in rooms]
    assert 0 < min(sizes) <= max(sizes) <= MOST_BYTES
    for other in (room, *rooms):
        await engine.drop(other)
        assert 0 == await used(engine, other)
