"""What a room was told, compared with what came true, and corrected by it.

Every so often the table of a room is kept. Later its samples show which position of that table has
just been called, so that position's wait is known: it came true. How far off the table was, in
units of its own doubt, is noted for some spans of time. Ranges are then set by the percentiles of
these notes (split conformal prediction), shrunk towards a wide range while there are few, so that
nine of ten hold in any room after a while, whatever its model misses. Pure, stdlib only.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Sequence
from math import exp, log
from typing import NamedTuple

from waitroom.estimate.intervals import Span
from waitroom.estimate.ranges import Table, ordered
from waitroom.estimate.tuning import TUNING

_LEVELS = 0.05, 0.5, 0.95
_Z = TUNING.range_errors


class _Kept(NamedTuple):
    at_s: float
    table: Table


class Calibration:
    """The memory of one room."""

    def __init__(self) -> None:
        self._kept: deque[_Kept] = deque(maxlen=TUNING.tables_kept)
        self._offs = [deque[float](maxlen=TUNING.comparisons_kept) for _ in TUNING.horizons_s]
        self._percentiles: list[tuple[float, float, float, float]] = []

    def forget(self) -> None:
        """Start again: what was told before a change cannot be compared with what came after."""
        self._kept.clear()
        for offs in self._offs:
            offs.clear()
        self._percentiles = []

    def keep(self, now_s: float, table: Table) -> None:
        """Keep what is told now, uncorrected."""
        if not self._kept or now_s > self._kept[-1].at_s:
            self._kept.append(_Kept(now_s, table))

    def learn(self, now_s: float, spans: Sequence[Span]) -> None:
        """Compare kept tables with who has just been called; `spans` are newest first."""
        if not self._kept:
            return
        ends: list[float] = []
        aheads: list[float] = []
        ago_s = ahead = 0.0
        for span in spans:
            # Who gave up is taken to have stood anywhere in the line.
            gone = span.gone / span.waiting if span.waiting else 0.0
            ahead = (ahead + span.calls) / (1.0 - min(0.9, gone))
            ago_s += span.seconds
            ends.append(ago_s)
            aheads.append(ahead)
        times = [kept.at_s for kept in self._kept]
        for horizon_s, offs in zip(TUNING.horizons_s, self._offs, strict=True):
            at = bisect_left(times, now_s - horizon_s)
            if at == 0 and times[0] > now_s - 0.8 * horizon_s:
                break
            kept = self._kept[min(at, len(times) - 1)]
            truth_s = now_s - kept.at_s
            where = bisect_left(ends, truth_s - 0.5)
            if where < len(ends) and 0 < aheads[where] <= kept.table.positions[-1]:
                offs.append(_off(kept.table, aheads[where], truth_s))
        self._percentiles = [
            _percentiles(offs, horizon_s)
            for horizon_s, offs in zip(TUNING.horizons_s, self._offs, strict=True)
            if offs
        ]

    def corrected(self, table: Table) -> Table:
        """Return a table as it should have been, going by those before."""
        times: list[float] = []
        lows: list[float] = []
        highs: list[float] = []
        for span, low, high in zip(table.times, table.lows, table.highs, strict=True):
            below, above = _doubts(span, low, high)
            early, middle, late = self._at(span)
            times.append(span * exp(middle * (below if middle < 0 else above)))
            lows.append(span * exp(early * (below if early < 0 else above)))
            highs.append(span * exp(late * (below if late < 0 else above)))
        return ordered(table.positions, times, lows, highs, table.each_s, TUNING.played_grain_s)

    def _at(self, span_s: float) -> tuple[float, float, float]:
        """Return the three percentiles for waits of a length."""
        first, known = TUNING.first_width, self._percentiles
        if not known:
            return -first, 0.0, first
        at = bisect_right(TUNING.horizons_s, span_s) - 1
        at = max(0, min(len(known) - 1, at))
        early, middle, late, weight = known[at]
        # What was seen over a shorter time says less about a longer one.
        weight *= min(1.0, TUNING.horizons_s[at] / span_s) if span_s > 0 else 1.0
        trust = weight / (weight + TUNING.first_weight)
        return (
            trust * early - (1 - trust) * first,
            trust * middle,
            trust * late + (1 - trust) * first,
        )


def _off(table: Table, position: float, truth_s: float) -> float:
    """Return how far off a table was, in units of its own doubt."""
    told_s, low_s, high_s = (
        max(1.0, _look_up(table.positions, column, position))
        for column in (table.times, table.lows, table.highs)
    )
    below, above = _doubts(told_s, low_s, high_s)
    off = log(truth_s / told_s)
    return off / max(TUNING.least_doubt, below if off < 0 else above)


def _doubts(span: float, low: float, high: float) -> tuple[float, float]:
    """Return the doubt below and above a time, as the logarithm of one standard error."""
    if span < 1.0:
        return 0.0, 0.0
    return log(span / max(1.0, min(low, span))) / _Z, log(max(span, high) / span) / _Z


def _percentiles(offs: Sequence[float], horizon_s: float) -> tuple[float, float, float, float]:
    """Return the three percentiles, and for how many independent comparisons they stand."""
    ranked = sorted(offs)
    last = len(ranked) - 1
    early, middle, late = (ranked[round(level * last)] for level in _LEVELS)
    return early, middle, late, len(ranked) * TUNING.kept_every_s / horizon_s


def _look_up(positions: list[float], values: list[float], position: float) -> float:
    at = min(len(positions) - 1, max(1, bisect_left(positions, position)))
    width = positions[at] - positions[at - 1]
    part = (position - positions[at - 1]) / width if width else 0.0
    return values[at - 1] + part * (values[at] - values[at - 1])
