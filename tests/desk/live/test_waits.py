"""Observed waits: what the engine saw of a line, updated in the background and cheap to read."""

from __future__ import annotations

import asyncio
import secrets

import pytest

from tests.desk.live.test_line import party
from tests.support.clock import Clock
from waitroom.desk.live import waits
from waitroom.desk.live.line import LiveLines, room_of, settled
from waitroom.desk.live.waits import ObservedWaits
from waitroom.desk.models import Range, Status
from waitroom.engine import Engine


async def seat_every_minute(engine: Engine, room: str, clock: Clock, parties: int) -> LiveLines:
    """Fill a line and seat a party every minute, with the samples that a ticker makes."""
    lines = LiveLines(engine)
    await lines.settle(room, [settled(party(n)) for n in range(1, 2 * parties)], turnover="0:0")
    for number in range(1, parties):
        for _ in range(12):
            clock.step(5)
            await engine.sample(room)
        await lines.settle(room, [settled(party(number, Status.CALLED, 2))])
        await lines.settle(room, [settled(party(number, Status.SEATED, 3))])
    return lines


async def test_observed_range(engine: Engine, clock: Clock) -> None:
    """A line that moves by a party a minute says so, based on the engine's samples."""
    room = room_of(f"s-{secrets.token_hex(6)}", "dine-in")
    await seat_every_minute(engine, room, clock, 40)
    observed = ObservedWaits(engine)
    wait = await observed.fresh(room, 10)
    assert wait is not None
    assert wait.low < wait.likely <= wait.high
    assert 7 <= wait.likely <= 13
    assert wait == observed.range(room, 10)


async def test_observed_is_unknown_at_first(engine: Engine) -> None:
    """Nothing is said about a line in which nobody was ever called, or that does not exist."""
    observed = ObservedWaits(engine)
    room = room_of(f"s-{secrets.token_hex(6)}", "dine-in")
    assert None is await observed.fresh(room, 1)
    await LiveLines(engine).settle(room, [settled(party())])
    assert None is observed.range(room, 1)
    await observed.stop()


async def test_a_burst_is_no_pace(engine: Engine, clock: Clock) -> None:
    """Ten calls within a minute say nothing about an evening; nor do a few within minutes."""
    room = room_of(f"s-{secrets.token_hex(6)}", "dine-in")
    lines = LiveLines(engine)
    await lines.settle(room, [settled(party(n)) for n in range(1, 40)], turnover="0:0")
    for number in range(1, 13):
        clock.step(5)
        await engine.sample(room)
        await lines.settle(room, [settled(party(number, Status.CALLED, 2))])
    assert None is await ObservedWaits(engine).fresh(room, 3)

    slow = room_of(f"s-{secrets.token_hex(6)}", "dine-in")
    await seat_every_minute(engine, slow, clock, 8)
    assert None is await ObservedWaits(engine).fresh(slow, 3)


async def test_a_crowd_is_one_look(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many ask, a line is read once per period, and nobody waits for it."""
    monkeypatch.setattr(waits, "OBSERVED_S", 600.0)  # all of the test, however slow the machine is
    room = room_of(f"s-{secrets.token_hex(6)}", "dine-in")
    await LiveLines(engine).settle(room, [settled(party())])
    calls: list[str] = []
    engine.on_script(lambda verb, _s, _n: calls.append(verb))
    observed = ObservedWaits(engine)
    ranges: set[Range | None] = set()
    asked: list[str] = []
    async with asyncio.timeout(60):
        while not calls or len(asked) < 50:
            asked.append(room)
            ranges |= {observed.range(room, 1) for _ in range(100)}
            await asyncio.sleep(0.001)
    await asyncio.sleep(0.05)
    assert {None} == ranges
    assert ["stats"] == calls
    await observed.stop()
