"""What was told, compared with what came true: too long, too short, or right."""

from __future__ import annotations

import pytest

from tests.estimate.test_leaving import span
from waitroom.estimate.calibration import Calibration
from waitroom.estimate.intervals import Span
from waitroom.estimate.ranges import Table

LINE = Table([0.0, 10_000.0], [0.0, 10_000.0], [0.0, 8_000.0], [0.0, 12_500.0], 1.0, 1.25)
"""What is told: a second for each position, within a quarter."""


def learnt(per_s: float, minutes: int, scatter: float = 0.0) -> Calibration:
    """Return the memory of a room that calls so many people per second."""
    calibration = Calibration()
    spans: list[Span] = []
    for step in range(4 * minutes):
        factor = 1 + scatter * (-1) ** (step // 32)
        spans.insert(0, span(seconds=15.0, calls=15.0 * per_s * factor))
        calibration.learn(15.0 * (step + 1), spans)
        calibration.keep(15.0 * (step + 1), LINE)
    return calibration


def told(calibration: Calibration) -> tuple[float, float, float]:
    """Return what is told now for position 600."""
    table = Table([0.0, 600.0], [0.0, 600.0], [0.0, 480.0], [0.0, 750.0], 1.0, 1.25)
    now = calibration.corrected(table)
    return now.lows[-1], now.times[-1], now.highs[-1]


def test_before_anything_came_true() -> None:
    """The range is wider than the model's own, around the same wait."""
    low, likely, high = told(Calibration())
    assert low < 480 < 600 == pytest.approx(likely)
    assert 750 < high


def test_it_comes_true() -> None:
    """A room that keeps what it says gets narrower ranges than the model's own."""
    low, likely, high = told(learnt(1.0, 60))
    assert 600 == pytest.approx(likely, rel=0.03)
    assert 480 < low < likely < high < 750


@pytest.mark.parametrize("per_s", [0.8, 1.25])
def test_a_model_that_is_off_is_corrected(per_s: float) -> None:
    """Where people always wait longer or shorter than told, that is told after a while."""
    low, likely, high = told(learnt(per_s, 60))
    assert 600 / per_s == pytest.approx(likely, rel=0.1)
    assert low < 600 / per_s < high


def test_scatter_makes_ranges_wider() -> None:
    """A room that moves to and fro gets wider ranges than a steady one."""
    steady, moving = (told(learnt(1.0, 60, scatter)) for scatter in (0.0, 0.6))
    assert steady[2] - steady[0] < moving[2] - moving[0]


def test_after_a_change_it_begins_again() -> None:
    """What came true before a change says nothing about what comes after it."""
    calibration = learnt(0.8, 60)
    calibration.forget()
    assert told(Calibration()) == told(calibration)
