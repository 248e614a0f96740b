"""The charts of the operator page: from samples to SVG paths, drawn here, not in the browser.

The drawing holds no text, so that it can be stretched to any width; labels around it are HTML.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from waitroom.charts import Pixel, Scale, path, round_top
from waitroom.models import Sample

SPAN_MS = 3_600_000
WIDTH, HEIGHT = 600, 100
SPARK_WIDTH, SPARK_HEIGHT = 120, 28
_BUCKET_MS = 20_000  # three points a minute: more would be finer than a pixel
_GAP_MS = 90_000
_MINUTE_MS = 60_000
_ROW_MS = 300_000
MOST = 1_000
"""Most samples of an hour: one every few seconds."""


@dataclass(frozen=True, slots=True)
class Point:
    """A room at a moment."""

    at_ms: int
    waiting: int
    called: int
    inside: int
    per_minute: float


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a chart: its path, and the values for its description."""

    name: str
    path: str
    now: float
    highest: float


@dataclass(frozen=True, slots=True)
class Chart:
    """One panel: lines on a common scale from 0 to `top`."""

    name: str
    top: int
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Spark:
    """A small chart without a scale: its line, and the area below it."""

    line: str
    area: str


def points(samples: Sequence[Sample]) -> list[Point]:
    """Return points for drawing: the last sample of each bucket, with the calls of its minute."""
    times = [sample.at_ms for sample in samples]
    last: dict[int, Point] = {}
    for sample in samples:
        before = samples[max(0, bisect_right(times, sample.at_ms - _MINUTE_MS) - 1)]
        last[sample.at_ms // _BUCKET_MS] = Point(
            sample.at_ms,
            sample.waiting,
            sample.called,
            sample.inside,
            per_minute(before, sample),
        )
    return list(last.values())


def per_minute(before: Sample, after: Sample) -> float:
    """Return how many were called per minute between two samples."""
    # Over just a few seconds a single batch would look like a flood.
    passed_ms = max(after.at_ms - before.at_ms, 10_000)
    return max(0, after.called_total - before.called_total) * _MINUTE_MS / passed_ms


def charts(points: Sequence[Point], now_ms: int) -> tuple[Chart, ...]:
    """Return the panels: a high line would flatten all others, so each has its own scale."""
    panels: dict[str, dict[str, Callable[[Point], float]]] = {
        "waiting": {"waiting": lambda p: p.waiting},
        "places": {"inside": lambda p: p.inside, "called": lambda p: p.called},
        "pace": {"per_minute": lambda p: p.per_minute},
    }
    return tuple(_chart(name, of, points, now_ms) for name, of in panels.items())


def _chart(
    name: str, of: dict[str, Callable[[Point], float]], points: Sequence[Point], now_ms: int
) -> Chart:
    top = round_top(max((get(point) for get in of.values() for point in points), default=0))
    lines = tuple(
        Line(
            line,
            _path([(point.at_ms, get(point)) for point in points], now_ms, SPAN_MS, top, _GAP_MS),
            get(points[-1]) if points else 0,
            max((get(point) for point in points), default=0),
        )
        for line, get in of.items()
    )
    return Chart(name, top, lines)


def _path(
    values: Iterable[tuple[int, float]], now_ms: int, span_ms: int, top: int, gap_ms: float
) -> str:
    """Return the path of values over time; the line is broken where nothing was measured."""
    x, y = Scale(now_ms - span_ms, now_ms, 0, WIDTH), Scale(0, top, HEIGHT, 0)
    lines: list[list[Pixel]] = []
    last_ms = 0
    for at_ms, value in values:
        if not -0.5 <= x.at(at_ms) <= WIDTH + 0.5:
            continue
        if not lines or at_ms - last_ms > gap_ms:
            lines.append([])
        lines[-1].append((x.at(at_ms), y.at(value)))
        last_ms = at_ms
    return path(*lines)


def rows(points: Sequence[Point]) -> list[Point]:
    """Return one point per five minutes, newest first: the chart as a table."""
    last = {point.at_ms // _ROW_MS: point for point in points}
    return list(reversed(last.values()))


def spark(samples: Sequence[Sample], now_ms: int, span_ms: int) -> Spark | None:
    """Return a small line of recent waiting counts, for the list of rooms; None if too short."""
    by_minute = list({sample.at_ms // _MINUTE_MS: sample for sample in samples}.values())
    if len(by_minute) < 2:
        return None
    x = Scale(now_ms - span_ms, now_ms, 0, SPARK_WIDTH)
    y = Scale(0, max(4, *(sample.waiting for sample in by_minute)), SPARK_HEIGHT, 0)
    pixels = [(x.at(sample.at_ms), y.at(sample.waiting)) for sample in by_minute]
    line = path(pixels)
    return Spark(line, f"{line}V{SPARK_HEIGHT}H{pixels[0][0]:.1f}Z")
