"""Plots of a rehearsal as SVG, drawn by hand: no library, no script, no font from elsewhere. Pure.

Colours are classes of the page's style sheet, so that they follow a dark or a light screen.
"""

from __future__ import annotations

import datetime as dt
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, floor, log10

from waitroom.rehearsal.accuracy import Told
from waitroom.rehearsal.outcome import Moment

WIDTH, HEIGHT = 720, 260
LEFT, RIGHT, TOP, BOTTOM = 64, 12, 12, 34
MOST_POINTS = 360
_GROUPS = 60

Points = Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Axis:
    """Numbers to pixels: from `low` to `high`, with a mark at every `marks`."""

    low: float
    high: float
    marks: tuple[float, ...]
    write: Callable[[float], str]

    def along(self, value: float, start: float, length: float) -> float:
        """Return where a value lies."""
        return start + length * (value - self.low) / (self.high - self.low)


@dataclass(frozen=True, slots=True)
class Mark:
    """One thing in a plot: a line, a dashed limit, a band between two lines, or dots."""

    kind: str
    style: str
    points: Points
    other: Points = ()


def counts(timeline: Sequence[Moment], starts_ms: int) -> str:
    """Draw who waits, is called and is inside, against the limits."""
    some = _thinned(timeline)
    lines: list[Mark] = []
    for name in ("capacity", "takes"):
        limit = [(one.at_ms, getattr(one, name)) for one in some if getattr(one, name)]
        lines.append(Mark("limit", name, limit))
    for name in ("waiting", "inside", "called"):
        lines.append(Mark("line", name, [(one.at_ms, getattr(one, name)) for one in some]))
    return _plot(lines, starts_ms, _number)


def served(timeline: Sequence[Moment], starts_ms: int) -> str:
    """Draw who is called and inside alone: beside a long line they would be a flat one."""
    some = _thinned(timeline)
    lines = [
        Mark("limit", name, [(one.at_ms, getattr(one, name)) for one in some if getattr(one, name)])
        for name in ("capacity", "takes")
    ]
    both = [(one.at_ms, one.called + one.inside) for one in some]
    lines.append(Mark("line", "called", both))
    lines.append(Mark("line", "inside", [(one.at_ms, one.inside) for one in some]))
    return _plot(lines, starts_ms, _number)


def no_shows(timeline: Sequence[Moment], starts_ms: int) -> str:
    """Draw how many were called and did not come."""
    points = [(one.at_ms, one.no_shows) for one in _thinned(timeline)]
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


def estimates(told: Sequence[Told], called_ms: Sequence[int]) -> str:
    """Draw the estimate that was shown against the wait that came true."""
    pairs = [
        ((called_ms[one.person] - one.at_ms) / 60_000, one.likely / 60)
        for one in told
        if called_ms[one.person] > one.at_ms
    ]
    if not pairs:
        return ""
    some = pairs[:: max(1, len(pairs) // 1_500)]
    most = max(max(pair) for pair in some) * 1.02 or 1.0
    axis = _axis(0, most, _minutes)
    marks = [
        Mark("limit", "capacity", [(0, 0), (axis.high, axis.high)]),
        Mark("dots", "told", some),
    ]
    return _svg(marks, axis, axis)


def _plot(marks: Sequence[Mark], starts_ms: int, write: Callable[[float], str]) -> str:
    moments = [x for mark in marks for x, _ in mark.points]
    values = [y for mark in marks for _, y in (*mark.points, *mark.other)]
    if not moments or max(moments) <= min(moments):
        return ""
    return _svg(
        marks, _clock(min(min(moments), starts_ms), max(moments)), _axis(0, max(values), write)
    )


def _svg(marks: Sequence[Mark], x: Axis, y: Axis) -> str:
    width, height = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM

    def at(point: tuple[float, float]) -> tuple[float, float]:
        return x.along(point[0], LEFT, width), y.along(point[1], TOP + height, -height)

    parts = [f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img">']
    for value in y.marks:
        up = at((x.low, value))[1]
        parts.append(f'<path class="grid" d="M{LEFT} {up:.1f}H{WIDTH - RIGHT}"/>')
        text = escape(y.write(value))
        parts.append(f'<text x="{LEFT - 6}" y="{up + 4:.1f}" text-anchor="end">{text}</text>')
    for value in x.marks:
        over = at((value, y.low))[0]
        parts.append(f'<path class="grid" d="M{over:.1f} {TOP}V{TOP + height}"/>')
        text = escape(x.write(value))
        parts.append(f'<text x="{over:.1f}" y="{HEIGHT - 12}" text-anchor="middle">{text}</text>')
    parts += [_drawn(mark, at) for mark in marks if mark.points]
    return "".join([*parts, "</svg>"])


def _drawn(mark: Mark, at: Callable[[tuple[float, float]], tuple[float, float]]) -> str:
    if mark.kind == "dots":
        dots = "".join(f"M{px:.1f} {py:.1f}h0" for px, py in map(at, mark.points))
        return f'<path class="dots {mark.style}" d="{dots}"/>'
    points = [*mark.points, *reversed(mark.other)]
    path = "L".join(f"{px:.1f} {py:.1f}" for px, py in map(at, points))
    return f'<path class="{mark.kind} {mark.style}" d="M{path}"/>'


def _axis(low: float, high: float, write: Callable[[float], str]) -> Axis:
    """Return an axis with four to eight round marks."""
    high = high if high > low else low + 1
    size = 10 ** floor(log10(high - low))
    step = next(size * part for part in (0.1, 0.2, 0.5, 1, 2) if (high - low) / (size * part) <= 6)
    top = ceil(high / step) * step
    return Axis(
        low, top, tuple(low + step * n for n in range(round((top - low) / step) + 1)), write
    )


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
    return [max(group, key=lambda one: one.called + one.inside) for group in groups]


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
