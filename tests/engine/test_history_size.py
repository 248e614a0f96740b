"""History is bounded: 30 days of the largest numbers fit into the bytes that the docs name."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

import pytest

from tests.support.clock import Clock
from tests.support.counts import count
from waitroom.engine import Engine, keys
from waitroom.engine.history import MOST, packed
from waitroom.engine.marks import MOST as MOST_MARKS
from waitroom.engine.outbox import Draft
from waitroom.history import COUNTERS, PEOPLE, HistoryPoint, Step
from waitroom.models import Mode, Policy

pytestmark = pytest.mark.every_kind

STREAMS = {Step.MINUTE: "minutes", Step.TEN: "tens"}
ALL = ("series", *STREAMS.values(), "marks")
MOST_BYTES, MOST_IN_ALL = 1_500_000, 1_700_000
"""Of the minutes and tens, and with the samples and marks beside them."""

SAMPLES, SAMPLE_MS = 1_440, 5_000  # as in sample.lua
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
    """Write as many samples, spans and marks as are kept, and some more, that all differ."""
    await fill_series(engine, room, now_ms)
    await fill_marks(engine, room, now_ms)
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


async def fill_series(engine: Engine, room: str, now_ms: int) -> None:
    """Write samples with the fields of a real one."""
    await engine.join(room)
    await engine.sample(room)
    key, client = keys.room_key(room, "series"), engine.backend.client
    ((_, fields),) = await client.xrange(key)
    await client.delete(key)
    largest = dict.fromkeys((name.decode() for name in fields), 10**12)
    largest |= dict.fromkeys((*PEOPLE, "capacity"), 1_000_000_000)
    largest |= {"waited_ms": 366 * 86_400_000, "told_s": 366 * 86_400, "woke_at": now_ms}
    pipe = client.pipeline(transaction=False)
    for n in range(SAMPLES + 200):
        at_ms = now_ms - (SAMPLES + 200 - n) * SAMPLE_MS
        numbers = {name: number - n for name, number in largest.items()}
        texts = {"at": at_ms, "mode": "manual", "per_minute": f"{6e12 - n:.3f}"}
        flat = [part for pair in (numbers | texts).items() for part in pair]
        pipe.execute_command("XADD", key, "MAXLEN", "~", SAMPLES, f"{at_ms}-0", *flat)
    await pipe.execute()


async def fill_marks(engine: Engine, room: str, now_ms: int) -> None:
    """Write marks of the longest kind."""
    numbers = dict.fromkeys(("value", "count", "waiting"), 1_000_000_000)
    reached = [
        Draft("room.limit_reached", now_ms + n, {"limit": "queue_limit"} | numbers)
        for n in range(MOST_MARKS + 200)
    ]
    await engine.marks.note(room, reached)


async def used(engine: Engine, room: str, names: Iterable[str] = ALL) -> int:
    """Return how many bytes a room's history takes on the server, measured without sampling."""
    client = engine.backend.client
    sizes = [await client.memory_usage(keys.room_key(room, name), samples=0) for name in names]
    return sum(size or 0 for size in sizes)


async def test_the_largest_numbers(engine: Engine, clock: Clock, room: str) -> None:
    """Rooms full of the largest numbers stay within the limit, and are read back unchanged."""
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
    assert SAMPLES <= await engine.backend.client.xlen(keys.room_key(room, "series"))
    assert MOST_MARKS <= await engine.backend.client.xlen(keys.room_key(room, "marks"))
    assert 0 < await used(engine, room, STREAMS.values()) <= MOST_BYTES
    assert await used(engine, room) <= MOST_IN_ALL


async def test_many_rooms(engine: Engine, clock: Clock, room: str) -> None:
    """Thirty days of many rooms stay within the limit, and go with the rooms."""
    client = engine.backend.client
    await engine.create(room, Policy())
    await fill(engine, room, clock.now_ms)
    dumps = {name: await client.dump(keys.room_key(room, name)) for name in ALL}
    rooms = [f"{room}-{n}" for n in range(count("history_rooms"))]
    for other in rooms:
        await engine.create(other, Policy())
        for name, dump in dumps.items():
            await client.restore(keys.room_key(other, name), 0, dump)
    sizes = [await used(engine, other, STREAMS.values()) for other in rooms]
    assert 0 < min(sizes) <= max(sizes) <= MOST_BYTES
    assert max([await used(engine, other) for other in rooms]) <= MOST_IN_ALL
    for other in (room, *rooms):
        await engine.drop(other)
        assert 0 == await used(engine, other)
