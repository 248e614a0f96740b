"""The charts of the operator page."""

from __future__ import annotations

import re

from tests.server.operator.boards import NOW_MS, sample
from waitroom.server.operator.room import chart


def test_charts() -> None:
    """Lines have round scales, break where nothing was measured, and stay within the frame."""
    samples = [sample(3_600 - 5 * n, waiting=n, inside=3, called_total=n) for n in range(300)]
    samples += [
        sample(1_200 - 5 * n, waiting=700, inside=3, called_total=300 + n) for n in range(240)
    ]
    points = chart.points(samples)
    assert len(points) <= 182
    waiting, places, pace = chart.charts(points, NOW_MS)
    assert (800, 4, 20) == (waiting.top, places.top, pace.top)
    (line,) = waiting.lines
    assert 2 == line.path.count("M")
    assert (700, 700) == (line.now, line.highest)
    xs = [float(x) for x in re.findall(r"[ML]([\d.-]+)", line.path)]
    assert sorted(xs) == xs
    assert 0 <= xs[0] <= xs[-1] <= 600
    assert 13 >= len(chart.rows(points))
    assert 0 == len(chart.charts([], NOW_MS)[0].lines[0].path)
