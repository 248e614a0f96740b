"""What the report of a sale reads from Redis is of its period, not of what came after it."""

from __future__ import annotations

import pytest

from tests.support.clock import Clock, crowd
from waitroom.engine import Engine
from waitroom.models import Mode, Policy
from waitroom.operations.reports import records_of
from waitroom.report.gather import gather

QUARTER_S = 900


@pytest.mark.parametrize(
    ("quarters", "timeline", "most"),
    [(1, [2], (2, 0)), (2, [2, 9], (9, 0)), (4, [2, 9, 6], (9, 3))],
)
async def test_samples_end_with_the_period(
    engine: Engine,
    clock: Clock,
    room: str,
    quarters: int,
    timeline: list[int],
    most: tuple[int, int],
) -> None:
    """People who came or were called after the end are not in the report."""
    began_ms = clock.now_ms
    await engine.create(room, Policy(mode=Mode.MANUAL, recover_s=0))
    await crowd(engine, room, 2)
    await engine.sample(room)
    clock.step(2 * QUARTER_S)
    await crowd(engine, room, 7)
    await engine.sample(room)
    clock.step(QUARTER_S)
    await engine.admit(room, 3)
    await engine.sample(room)
    clock.step(QUARTER_S)
    until_ms = began_ms + 1000 * quarters * QUARTER_S
    sale = gather(await records_of(engine, room, began_ms, until_ms), None)
    assert timeline == [point.waiting for point in sale.points]
    assert most == (sale.most_waiting, sale.most_held)
