"""Plots of a rehearsal as SVG, drawn by hand: no library, no script, no font from elsewhere. Pure.

Colours are classes of the page's style sheet, so that they follow a dark or a light screen.
"""

from __future__ import annotations

import datetime as dt
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from math import ceil

from waitroom.charts import Pixel, Scale, path, round_marks
from waitroom.rehearsal.accuracy import Told
from waitroom.rehearsal.outcome import Moment

WIDTH, HEIGHT = 720, 260
LEFT, RIGHT, TOP, BOTTOM = 64, 12, 12, 34
MOST_POINTS = 360
_GROUPS = 60

Points = Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Axis:
    """From `low` to `high`, with `marks` that are written beside it."""

    low: float
    high: float
    marks: Sequence[float]
    write: Callable[[float], str]

    def scale(self, start: float, end: float) -> Scale:
        """Return the scale in pixels."""
        return Scale(self.low, self.high, start, end)


@dataclass(frozen=True, slots=True)
class Mark:
    """One thing in a plot: a line, a dashed limit, a band between two lines, or dots."""

    kind: str
    style: str
    points: Points
    other: Points = ()


def counts(timeline: Sequence[Moment], starts_ms: int) -> str:
    """Draw who waits, is called and is inside, against the limits."""
    moments = _thinned(timeline)
    names = ("waiting", "inside", "called")
    lines = [Mark("line", name, [(m.at_ms, getattr(m, name)) for m in moments]) for name in names]
    return _plot([*_limits(moments), *lines], starts_ms, _number)


def served(timeline: Sequence[Moment], starts_ms: int) -> str:
    """Draw called and inside alone: next to a long line they would look flat."""
    moments = _thinned(timeline)
    both = [(moment.at_ms, moment.called + moment.inside) for moment in moments]
    inside = [(moment.at_ms, moment.inside) for moment in moments]
    lines = (Mark("line", "called", both), Mark("line", "inside", inside))
    return _plot([*_limits(moments), *lines], starts_ms, _number)


def no_shows(timeline: Sequence[Moment], starts_ms: int) -> str:
    """Draw how many were called and did not come."""
    points = [(moment.at_ms, moment.no_shows) for moment in _thinned(timeline)]
    return _plot([Mark("line", "no-shows", points)], starts_ms, _number)


def waits(joined_ms: array[int], called_ms: array[int], starts_ms: int) -> str:
    """Draw the wait by the time of arrival: the median, and the band of eight in ten."""
    known = [
        (joined, (called - joined) / 60_000)
        for joined, called in zip(joined_ms, called_ms, strict=True)
        if called
    ]
    if not known:
        return ""
    groups = _grouped(known)
    middle = [(at, _part(values, 0.5)) for at, values in groups]
    low = [(at, _part(values, 0.1)) for at, values in groups]
    high = [(at, _part(values, 0.9)) for at, values in groups]
    marks = [Mark("band", "wait", low, high), Mark("line", "waiting", middle)]
    return _plot(marks, starts_ms, _minutes)


def estimates(answers: Sequence[Told], called_ms: Sequence[int]) -> str:
    """Draw the estimate that was shown against the real wait."""
    pairs = [
        ((called_ms[estimate.person] - estimate.at_ms) / 60_000, estimate.likely / 60)
        for estimate in answers
        if called_ms[estimate.person] > estimate.at_ms
    ]
    if not pairs:
        return ""
    some = pairs[:: max(1, len(pairs) // 1_500)]
    most = max(max(pair) for pair in some) * 1.02 or 1.0
    axis = _axis(most, _minutes)
    marks = [
        Mark("limit", "capacity", [(0, 0), (axis.high, axis.high)]),
        Mark("dots", "told", some),
    ]
    return _svg(marks, axis, axis)


def _limits(moments: Sequence[Moment]) -> list[Mark]:
    """Return the limits, where there are any."""
    return [
        Mark("limit", name, [(m.at_ms, getattr(m, name)) for m in moments if getattr(m, name)])
        for name in ("capacity", "takes")
    ]


def _plot(marks: Sequence[Mark], starts_ms: int, write: Callable[[float], str]) -> str:
    moments = [x for mark in marks for x, _ in mark.points]
    values = [y for mark in marks for _, y in (*mark.points, *mark.other)]
    if not moments or max(moments) <= min(moments):
        return ""
    return _svg(
        marks, _clock(min(min(moments), starts_ms), max(moments)), _axis(max(values), write)
    )


def _svg(marks: Sequence[Mark], x: Axis, y: Axis) -> str:
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    across, down = x.scale(LEFT, right), y.scale(bottom, TOP)

    def pixels(points: Points) -> list[Pixel]:
        return [(across.at(value), down.at(other)) for value, other in points]

    parts = [f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img">']
    for value in y.marks:
        up = down.at(value)
        parts.append(f'<path class="grid" d="M{LEFT} {up:.1f}H{right}"/>')
        text = escape(y.write(value))
        parts.append(f'<text x="{LEFT - 6}" y="{up + 4:.1f}" text-anchor="end">{text}</text>')
    for value in x.marks:
        over = across.at(value)
        parts.append(f'<path class="grid" d="M{over:.1f} {TOP}V{bottom}"/>')
        text = escape(x.write(value))
        parts.append(f'<text x="{over:.1f}" y="{HEIGHT - 12}" text-anchor="middle">{text}</text>')
    parts += [_drawn(mark, pixels) for mark in marks if mark.points]
    return "".join([*parts, "</svg>"])


def _drawn(mark: Mark, pixels: Callable[[Points], list[Pixel]]) -> str:
    if mark.kind == "dots":
        dots = "".join(f"M{x:.1f} {y:.1f}h0" for x, y in pixels(mark.points))
        return f'<path class="dots {mark.style}" d="{dots}"/>'
    outline = pixels([*mark.points, *reversed(mark.other)])
    return f'<path class="{mark.kind} {mark.style}" d="{path(outline)}"/>'


def _axis(high: float, write: Callable[[float], str]) -> Axis:
    """Return an axis from zero with round marks."""
    marks = round_marks(0, high)
    return Axis(0, marks[-1], marks, write)


def _clock(low: float, high: float) -> Axis:
    """Return an axis of times of day."""
    minutes = (high - low) / 60_000
    step = next((step for step in (1, 2, 5, 10, 15, 30, 60, 120) if minutes / step <= 8), 240)
    step_ms = step * 60_000
    first = ceil(low / step_ms) * step_ms
    marks = tuple(float(at) for at in range(int(first), int(high) + 1, step_ms))
    return Axis(low, high, marks, _time)


def _thinned(timeline: Sequence[Moment]) -> list[Moment]:
    """Return few enough moments for a picture, always with the last, and with every peak."""
    every = ceil(len(timeline) / MOST_POINTS) or 1
    groups = [timeline[start : start + every] for start in range(0, len(timeline), every)]
    return [max(group, key=lambda moment: moment.called + moment.inside) for group in groups]


def _grouped(known: list[tuple[int, float]]) -> list[tuple[float, list[float]]]:
    low, high = min(known)[0], max(known)[0]
    width = max(1, (high - low) // _GROUPS + 1)
    groups: dict[int, list[float]] = {}
    for at, wait in known:
        groups.setdefault((at - low) // width, []).append(wait)
    return [(low + (n + 0.5) * width, sorted(groups[n])) for n in sorted(groups)]


def _part(values: Sequence[float], part: float) -> float:
    return values[min(len(values) - 1, int(len(values) * part))]


def _number(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:g}"


def _minutes(value: float) -> str:
    return f"{value:g} min"


def _time(at_ms: float) -> str:
    return dt.datetime.fromtimestamp(at_ms / 1000, dt.UTC).strftime("%H:%M")
