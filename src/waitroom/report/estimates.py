"""The wait that newcomers were told, compared with the real wait. Pure.

An estimate counts for people who then waited more than two minutes, as in rehearsals.
"""

from __future__ import annotations

import statistics
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from waitroom.history import HistoryPoint

LEAST_S = 120.0
_NEAR = 0.25
_MOST_PAIRS = 20_000

Pair = tuple[float, float]
"""A real wait, and the wait told at its beginning, in seconds."""


@dataclass(frozen=True, slots=True)
class Estimates:
    """How good the estimates were, as shares 0 to 1; None if nothing could be compared."""

    answers: int = 0
    error: float | None = None
    near: float | None = None
    """Waits that differ from the told wait by no more than a quarter."""


def of_archive(
    points: Sequence[HistoryPoint], joined_ms: array[int], called_ms: array[int]
) -> list[Pair]:
    """Return what called people were told when they came: all of them, or every n-th of many."""
    estimate_at = _Told(points)
    pairs = []
    every = max(1, len(joined_ms) // _MOST_PAIRS)
    for joined, called in zip(joined_ms[::every], called_ms[::every], strict=True):
        estimate = estimate_at(joined)
        if estimate is not None and called > joined:
            pairs.append(((called - joined) / 1000, estimate))
    return pairs


def of_history(points: Sequence[HistoryPoint]) -> list[Pair]:
    """Return what the people who were called last in a span were told when they came."""
    estimate_at = _Told(points)
    pairs = []
    for point in points:
        if point.waited_s:
            came_ms = point.at_ms + point.span_ms - point.waited_s * 1000
            estimate = estimate_at(came_ms)
            pairs += [(float(point.waited_s), estimate)] if estimate is not None else []
    return pairs


def judge(pairs: Iterable[Pair]) -> Estimates:
    """Compare the told waits with the real ones."""
    errors = [abs(estimate - wait) / wait for wait, estimate in pairs if wait > LEAST_S]
    if not errors:
        return Estimates()
    near = sum(error <= _NEAR for error in errors)
    return Estimates(len(errors), statistics.median(errors), near / len(errors))


class _Told:
    """What a newcomer was told at a moment, by the span that contains the moment."""

    def __init__(self, points: Sequence[HistoryPoint]) -> None:
        self._points = points
        self._starts = [point.at_ms for point in points]

    def __call__(self, at_ms: int) -> float | None:
        number = bisect_right(self._starts, at_ms) - 1
        if number < 0 or at_ms >= self._starts[number] + self._points[number].span_ms:
            return None
        estimate = self._points[number].told_s
        return None if estimate is None else float(estimate)
