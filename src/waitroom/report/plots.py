"""Plots of reports as SVG, drawn by hand: no library, no script, no font from elsewhere. Pure.

Colours are classes of the page's style sheet, so that they follow a dark or a light screen.
"""

from __future__ import annotations

import datetime as dt
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from math import ceil
from typing import NamedTuple

from waitroom.charts import Pixel, Scale, path, round_marks
from waitroom.report.waits import part

WIDTH, HEIGHT = 720, 330
LEFT, RIGHT, TOP, BOTTOM = 76, 44, 38, 44  # room for labels, also at the size that phones need
MOST_POINTS = 360
_GROUPS = 60
_DAY_MIN = 1_440
_STEPS_MIN = (1, 2, 5, 10, 15, 30, 60, 120, 240, 480, _DAY_MIN, 2 * _DAY_MIN, 7 * _DAY_MIN)

Points = Sequence[tuple[float, float]]


class Moment(NamedTuple):
    """The room at a moment; a rehearsal also knows what the site behind `takes`."""

    at_ms: int
    waiting: int
    called: int
    inside: int
    no_shows: int
    capacity: int | None
    takes: int | None = None
    holds: bool = False
    mode: str = ""


@dataclass(frozen=True, slots=True)
class Axis:
    """From `low` to `high`, with `marks` written beside it."""

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
    label: str
    points: Points
    other: Points = ()


@dataclass(frozen=True, slots=True)
class Plot:
    """A plot with its legend; the ids of its title and description begin with `name`."""

    name: str
    title: str
    about: str
    unit: str
    x: Axis
    y: Axis
    marks: Sequence[Mark]

    @property
    def svg(self) -> str:
        """The plot as SVG, with a title and a description for people who cannot see it."""
        right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
        across, down = self.x.scale(LEFT, right), self.y.scale(bottom, TOP)

        def pixels(points: Points) -> list[Pixel]:
            return [(across.at(value), down.at(other)) for value, other in points]

        parts = [self._head(), f'<text x="{LEFT}" y="{TOP - 14}">{escape(self.unit)}</text>']
        for value in self.y.marks:
            up = down.at(value)
            parts.append(f'<path class="grid" d="M{LEFT} {up:.1f}H{right}"/>')
            parts.append(_text(LEFT - 8, up + 5, "end", self.y.write(value)))
        for value in self.x.marks:
            over = across.at(value)
            parts.append(f'<path class="grid" d="M{over:.1f} {TOP}V{bottom}"/>')
            parts.append(_text(over, HEIGHT - 12, "middle", self.x.write(value)))
        parts += [_drawn(mark, pixels) for mark in self.marks]
        return "".join([*parts, "</svg>"])

    def _head(self) -> str:
        peaks = [
            f"{mark.label}: at most {self.y.write(max(y for _, y in mark.points))}"
            for mark in self.marks
            if mark.kind == "line"
        ]
        about = " ".join([self.about, "; ".join(peaks)]).strip()
        return (
            f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
            f'aria-labelledby="{self.name}-title" aria-describedby="{self.name}-about">'
            f'<title id="{self.name}-title">{escape(self.title)}</title>'
            f'<desc id="{self.name}-about">{escape(about)}</desc>'
        )


def counts(timeline: Sequence[Moment], starts_ms: int) -> Plot | None:
    """Draw who waits, is called and is inside, against the limits."""
    moments = _thinned(timeline)
    names = ("waiting", "inside", "called")
    lines = [
        Mark("line", name, name, [(m.at_ms, getattr(m, name)) for m in moments]) for name in names
    ]
    about = "Everybody in the room over time."
    return over_time("counts", "Waiting", about, "people", [*_limits(moments), *lines], starts_ms)


def served(timeline: Sequence[Moment], starts_ms: int) -> Plot | None:
    """Draw only called and inside: next to a long line they would look flat."""
    moments = _thinned(timeline)
    both = [(moment.at_ms, moment.called + moment.inside) for moment in moments]
    inside = [(moment.at_ms, moment.inside) for moment in moments]
    lines = (
        Mark("line", "called", "called + inside", both),
        Mark("line", "inside", "inside", inside),
    )
    limits = _limits(moments)
    about = "Dashed: what the room and the site allow." if limits else ""
    title = "Called and inside, against the limits" if limits else "Called and inside"
    return over_time("served", title, about, "people", [*limits, *lines], starts_ms)


def no_shows(timeline: Sequence[Moment], starts_ms: int) -> Plot | None:
    """Draw how many were called and did not come."""
    points = [(moment.at_ms, moment.no_shows) for moment in _thinned(timeline)]
    line = Mark("line", "no-shows", "no-shows so far", points)
    return over_time("no-shows", "Called, and did not come", "", "people", [line], starts_ms)


def waits(joined_ms: array[int], called_ms: array[int], starts_ms: int) -> Plot | None:
    """Draw the wait by the time of arrival: the median, and the band of eight in ten."""
    known = [
        (joined, (called - joined) / 60_000)
        for joined, called in zip(joined_ms, called_ms, strict=True)
        if called
    ]
    groups = _grouped(known) if known else []
    middle = [(at, part(values, 0.5)) for at, values in groups]
    low = [(at, part(values, 0.1)) for at, values in groups]
    high = [(at, part(values, 0.9)) for at, values in groups]
    marks = [
        Mark("band", "wait", "eight of ten", low, high),
        Mark("line", "waiting", "median", middle),
    ]
    about = "How long those waited who came at that time."
    return over_time("waits", "Wait by time of arrival", about, "minutes", marks, starts_ms)


def estimates(pairs_s: Sequence[tuple[float, float]], eta: str = "") -> Plot | None:
    """Draw the estimate that was shown against the real wait: pairs of wait and estimate."""
    if not pairs_s:
        return None
    some_s = pairs_s[:: max(1, len(pairs_s) // 1_500)]
    some = [(wait / 60, estimate / 60) for wait, estimate in some_s]
    y = _axis(max(max(pair) for pair in some) * 1.02 or 1.0)
    x = Axis(y.low, y.high, y.marks, _minutes)
    marks = [
        Mark("limit", "exact", "estimate = wait", [(0, 0), (y.high, y.high)]),
        Mark("dots", "told", "one estimate", some),
    ]
    about = "Across: how long it still took. Up: what people were told."
    title = f"Estimate{f' ({eta})' if eta else ''} against the wait that came true"
    return Plot("estimates", title, about, "minutes", x, y, marks)


def _limits(moments: Sequence[Moment]) -> list[Mark]:
    """Return the limits, if there are any."""
    limits = [
        Mark(
            "limit", name, label, [(m.at_ms, getattr(m, name)) for m in moments if getattr(m, name)]
        )
        for name, label in (("takes", "what the site takes"), ("capacity", "capacity of the room"))
    ]
    return [limit for limit in limits if limit.points]


def over_time(
    name: str, title: str, about: str, unit: str, marks: Sequence[Mark], starts_ms: int
) -> Plot | None:
    """Draw marks over the time of day; None if there are fewer than two moments."""
    moments = [x for mark in marks for x, _ in mark.points]
    values = [y for mark in marks for _, y in (*mark.points, *mark.other)]
    if not moments or max(moments) <= min(moments):
        return None
    clock = _clock(min(min(moments), starts_ms), max(moments))
    return Plot(name, title, about, unit, clock, _axis(max(values)), marks)


def _text(x: float, y: float, anchor: str, text: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _drawn(mark: Mark, pixels: Callable[[Points], list[Pixel]]) -> str:
    if mark.kind == "dots":
        dots = "".join(f"M{x:.1f} {y:.1f}h0" for x, y in pixels(mark.points))
        return f'<path class="dots {mark.style}" d="{dots}"/>'
    outline = pixels([*mark.points, *reversed(mark.other)])
    return f'<path class="{mark.kind} {mark.style}" d="{path(outline)}"/>'


def _axis(high: float) -> Axis:
    """Return an axis from zero with round marks."""
    marks = round_marks(0, high)
    return Axis(0, marks[-1], marks, _number)


def _clock(low: float, high: float) -> Axis:
    """Return an axis of times of day, or of days if it is long."""
    minutes = (high - low) / 60_000
    step = next((step for step in _STEPS_MIN if minutes / step <= 8), _STEPS_MIN[-1])
    step_ms = step * 60_000
    first = ceil(low / step_ms) * step_ms
    marks = tuple(float(at) for at in range(int(first), int(high) + 1, step_ms))
    return Axis(low, high, marks, _day if step >= _DAY_MIN else _time)


def _thinned(timeline: Sequence[Moment]) -> list[Moment]:
    """Return few enough moments for a picture, always with the last one and every peak."""
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


def _number(value: float) -> str:
    """Return a number that fits beside an axis: 9,500, 20k, 1.5M."""
    for size, letter in ((1_000_000, "M"), (1_000, "k")):
        if value >= size and value >= 10_000:
            return f"{value / size:.3g}{letter}"
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"


def _minutes(value: float) -> str:
    return f"{_number(value)} min"


def _time(at_ms: float) -> str:
    return dt.datetime.fromtimestamp(at_ms / 1000, dt.UTC).strftime("%H:%M")


def _day(at_ms: float) -> str:
    return dt.datetime.fromtimestamp(at_ms / 1000, dt.UTC).strftime("%m-%d")
