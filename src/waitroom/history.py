"""A room's past in spans of one or ten minutes: made from samples, and read with quiet times.

An idle room is not sampled, so quiet spans are missing from the stored past; `filled` adds them
again. A span that is still missing then is unknown: nobody was there to sample the room. Pure.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from waitroom.models import Sample, Stats

PEOPLE = ("waiting", "called", "inside")
COUNTERS = tuple(
    spec.name
    for spec in dataclasses.fields(Sample)
    if spec.default is dataclasses.MISSING and spec.name not in ("at_ms", *PEOPLE)
)
"""The lifetime counters that are kept, as `Sample` names them."""


class Step(StrEnum):
    """The length of a span."""

    MINUTE = "minute"
    TEN = "ten"

    @property
    def span_ms(self) -> int:
        """The length of a span in ms."""
        return 60_000 if self is Step.MINUTE else 600_000

    @property
    def kept_ms(self) -> int:
        """How far back spans are known: two days, or thirty."""
        return (2 if self is Step.MINUTE else 30) * 86_400_000

    def start(self, at_ms: int) -> int:
        """Return the beginning of the span that contains a moment."""
        return at_ms - at_ms % self.span_ms


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryPoint(Sample):
    """A room in one span, which begins at `at_ms`.

    Numbers are from the last sample: at the end of the span, or so far if it is not over yet.
    """

    span_ms: int
    most_waiting: int
    """The most people who waited at the same time, as far as sampled."""

    idle: bool = False
    """Not sampled, because nobody was there and nothing happened."""

    @property
    def is_empty(self) -> bool:
        """Whether nobody was there."""
        return self.waiting == self.called == self.inside == 0

    @property
    def counters(self) -> tuple[int, ...]:
        """The counters, in the order of `COUNTERS`."""
        return tuple(getattr(self, name) for name in COUNTERS)


def sample_of(stats: Stats) -> Sample:
    """Return a room's stats as a sample."""
    numbers: dict[str, Any] = {name: getattr(stats, name) for name in PEOPLE}
    numbers |= {name: stats.counters.get(name, 0) for name in COUNTERS}
    return Sample(at_ms=stats.now_ms, **numbers)


def point_of(sample: Sample, span_ms: int = 0) -> HistoryPoint:
    """Return a sample as its own span."""
    names = (spec.name for spec in dataclasses.fields(Sample))
    numbers = {name: getattr(sample, name) for name in names}
    return HistoryPoint(**numbers, span_ms=span_ms, most_waiting=sample.waiting)


def folded(points: Iterable[HistoryPoint], step: Step) -> list[HistoryPoint]:
    """Return longer spans made from shorter ones, which come oldest first."""
    spans: dict[int, list[HistoryPoint]] = {}
    for point in points:
        spans.setdefault(step.start(point.at_ms), []).append(point)
    return [_folded(start, step, some) for start, some in sorted(spans.items())]


def _folded(start_ms: int, step: Step, points: Sequence[HistoryPoint]) -> HistoryPoint:
    waits = [point.waited_s for point in points if point.waited_s is not None]
    estimates = [point.told_s for point in points if point.told_s is not None]
    return dataclasses.replace(
        points[-1],
        at_ms=start_ms,
        span_ms=step.span_ms,
        most_waiting=max(point.most_waiting for point in points),
        waited_s=waits[-1] if waits else None,
        told_s=estimates[-1] if estimates else None,
        woke_ms=points[0].woke_ms,
        idle=all(point.idle for point in points),
    )


def filled(points: Iterable[HistoryPoint], now: Stats) -> Iterator[HistoryPoint]:
    """Yield the points of one step with quiet spans filled in; other missing spans stay missing."""
    last: HistoryPoint | None = None
    for point in points:
        if last is not None and last.is_empty:
            yield from _quiet(last, min(point.at_ms, point.woke_ms or 0))
        yield point
        last = point
    if last is not None and last.is_empty and _is_same(last, now):
        yield from _quiet(last, now.now_ms)


def with_rests(samples: Iterable[HistoryPoint], now: Stats) -> Iterator[HistoryPoint]:
    """Yield samples; if nothing happened between two of them, one more after the quiet time."""
    last: HistoryPoint | None = None
    for sample in samples:
        if last is not None and last.is_empty and sample.woke_ms:
            yield _still(last, min(sample.woke_ms, sample.at_ms))
        yield sample
        last = sample
    if last is not None and last.is_empty and _is_same(last, now):
        yield _still(last, max(last.at_ms, now.now_ms))


def _still(last: HistoryPoint, at_ms: int) -> HistoryPoint:
    """Return a point at which nothing had happened since the last one."""
    return dataclasses.replace(
        last, at_ms=at_ms, most_waiting=0, waited_s=None, told_s=None, idle=True
    )


def _quiet(last: HistoryPoint, until_ms: int) -> Iterator[HistoryPoint]:
    """Yield the spans after a point that were over at a moment."""
    for at_ms in range(last.at_ms + last.span_ms, until_ms - last.span_ms + 1, last.span_ms):
        yield _still(last, at_ms)


def _is_same(point: HistoryPoint, now: Stats) -> bool:
    """Return whether nothing has happened since a point."""
    counters = tuple(now.counters[name] for name in COUNTERS)
    return now.waiting == now.called == now.inside == 0 and counters == point.counters
