"""The charts of the operator page: from samples to paths of SVG, drawn here and not in the browser.

The drawing holds no text, so that it may be stretched to any width; labels stand around it in HTML.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from waitroom.models import Sample

SPAN_MS = 3_600_000
WIDTH, HEIGHT = 600, 100
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
    """One line of a chart: its path, and the values that its description tells."""

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


def points(samples: Sequence[Sample]) -> list[Point]:
    """Return points for drawing: the last sample of each bucket, with the calls of its minute."""
    times = [one.at_ms for one in samples]
    found: dict[int, Point] = {}
    for one in samples:
        before = samples[max(0, bisect_right(times, one.at_ms - _MINUTE_MS) - 1)]
        found[one.at_ms // _BUCKET_MS] = Point(
            one.at_ms, one.waiting, one.called, one.inside, per_minute(before, one)
        )
    return list(found.values())


def per_minute(before: Sample, after: Sample) -> float:
    """Return how many were called per minute between two samples."""
    # Over less than some seconds a single batch would look like a flood.
    passed_ms = max(after.at_ms - before.at_ms, 10_000)
    return max(0, after.called_total - before.called_total) * _MINUTE_MS / passed_ms


def charts(found: Sequence[Point], now_ms: int) -> tuple[Chart, ...]:
    """Return the panels: a long line would flatten all others, so each has its own scale."""
    kinds: dict[str, dict[str, Callable[[Point], float]]] = {
        "waiting": {"waiting": lambda p: p.waiting},
        "places": {"inside": lambda p: p.inside, "called": lambda p: p.called},
        "pace": {"per_minute": lambda p: p.per_minute},
    }
    return tuple(_chart(name, of, found, now_ms) for name, of in kinds.items())


def _chart(
    name: str, of: dict[str, Callable[[Point], float]], found: Sequence[Point], now_ms: int
) -> Chart:
    top = nice(max((get(point) for get in of.values() for point in found), default=0))
    lines = tuple(
        Line(
            line,
            path([(point.at_ms, get(point)) for point in found], now_ms, top),
            get(found[-1]) if found else 0,
            max((get(point) for point in found), default=0),
        )
        for line, get in of.items()
    )
    return Chart(name, top, lines)


def path(values: Sequence[tuple[int, float]], now_ms: int, top: int) -> str:
    """Return the `d` of a path; where nothing was measured the line is broken."""
    words: list[str] = []
    last_ms = 0
    for at_ms, amount in values:
        x = WIDTH * (1 - (now_ms - at_ms) / SPAN_MS)
        if not -0.5 <= x <= WIDTH + 0.5:
            continue
        y = HEIGHT * (1 - amount / top)
        words.append(f"{'L' if words and at_ms - last_ms <= _GAP_MS else 'M'}{x:.1f} {y:.1f}")
        last_ms = at_ms
    return "".join(words)


def nice(highest: float) -> int:
    """Return a round number at or above the highest value, for the top of the scale."""
    if highest <= 4:
        return 4
    size: int = 10 ** (len(str(int(highest))) - 1)
    for step in (1, 2, 4, 5, 6, 8, 10):
        if step * size >= highest:
            return step * size
    return 20 * size


def rows(found: Sequence[Point]) -> list[Point]:
    """Return one point in five minutes, the newest first: the chart as a table."""
    kept: dict[int, Point] = {point.at_ms // _ROW_MS: point for point in found}
    return list(reversed(kept.values()))


def spark(samples: Sequence[Sample], now_ms: int, span_ms: int) -> str:
    """Return a small line of how many waited lately, for the list of rooms."""
    thin = list({one.at_ms // _BUCKET_MS: one for one in samples}.values())
    if len(thin) < 4:
        return ""
    top = max(max(one.waiting for one in thin), 4)
    scale = SPAN_MS / span_ms
    values = [(round(now_ms - (now_ms - one.at_ms) * scale), float(one.waiting)) for one in thin]
    words = path(values, now_ms, top)
    return words.replace("M", "L").replace("L", "M", 1)
