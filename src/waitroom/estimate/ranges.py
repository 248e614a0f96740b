"""When each position is called, with a range: from the calls to come and the line. Pure."""

from __future__ import annotations

from math import exp, sqrt
from typing import NamedTuple

from waitroom.estimate.flow import Flow
from waitroom.estimate.leaving import Leaving
from waitroom.estimate.tuning import TUNING
from waitroom.estimate.turns import turns_of


class Table(NamedTuple):
    """Times by position, in seconds; after the last each position takes `each_s` longer.

    There a range gets wider by the factor `spread`, on both sides.
    """

    positions: list[float]
    times: list[float]
    lows: list[float]
    highs: list[float]
    each_s: float
    spread: float


def table_of(flow: Flow, leaving: Leaving) -> Table:
    """Return the turns of a line, with a range that nine of ten should hold."""
    turns = turns_of(flow.calls, leaving)
    widest, errors = TUNING.widest_range, TUNING.range_errors
    lows: list[float] = []
    highs: list[float] = []
    for position, span, called, leaving_doubt in zip(
        turns.positions, turns.times, turns.called, turns.doubts, strict=True
    ):
        doubt = flow.variance(span, called)
        calls = exp(min(widest, errors * sqrt(doubt)))
        both = exp(min(widest, errors * sqrt(doubt + leaving_doubt * leaving_doubt)))
        lows.append(span / both)
        # Nobody waits longer than if nobody in front of them gave up.
        highs.append(min(span * both, flow.calls.time_of(position) * calls))
    return ordered(turns.positions, turns.times, lows, highs, turns.each_s, flow.grain_s)


def ordered(
    positions: list[float],
    times: list[float],
    lows: list[float],
    highs: list[float],
    each_s: float,
    grain_s: float,
) -> Table:
    """Return a table in which nobody further back has an earlier time, nor a range of no width."""
    likely_s = low_s = high_s = 0.0
    kept: tuple[list[float], list[float], list[float]] = ([], [], [])
    for time_s, early_s, late_s in zip(times, lows, highs, strict=True):
        likely_s = max(likely_s, time_s)
        low_s = max(low_s, min(early_s, likely_s - grain_s))
        high_s = max(high_s, late_s, likely_s + grain_s)
        for column, value in zip(kept, (likely_s, low_s, high_s), strict=True):
            column.append(value)
    # Steps do not grow with the time, so they are left out of what a range grows by.
    spread = max(1.0, highs[-1] / times[-1]) if times[-1] else 1.0
    return Table(positions, *kept, each_s, spread)


def bounded(table: Table, seconds: float) -> Table:
    """Return a table without ranges that say nothing, once a room is known for some minutes.

    Until then a range may be as wide as the doubt; after that it is no wider than its estimate.
    """
    if seconds < TUNING.wide_s:
        return table
    lows: list[float] = []
    highs: list[float] = []
    for likely, low, high in zip(table.times, table.lows, table.highs, strict=True):
        part = 1.0
        if likely > 60 and high - low > likely:
            part = (likely - 2.0) / (high - low)  # less what rounding adds
        lows.append(likely - part * (likely - low))
        highs.append(likely + part * (high - likely))
    spread = min(table.spread, highs[-1] / table.times[-1] if table.times[-1] > 60 else 2.0)
    return ordered(table.positions, table.times, lows, highs, table.each_s, 0.0)._replace(
        spread=max(1.0, spread)
    )
