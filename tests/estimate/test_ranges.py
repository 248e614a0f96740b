"""Ranges around a wait: as wide as the doubt, in order, and never without a meaning."""

from __future__ import annotations

from itertools import pairwise

import pytest

from tests.estimate.test_turns import STEADY, line
from waitroom.estimate.flow import Flow
from waitroom.estimate.leaving import hazard_of
from waitroom.estimate.ranges import Table, bounded, ordered, table_of


def test_the_more_doubt_the_wider() -> None:
    """A rate that is less sure makes wider ranges, on both sides of the same wait."""
    sure, unsure = (table_of(Flow(STEADY, doubt), line(1_000)) for doubt in (0.05, 0.3))
    assert sure.times == unsure.times
    assert unsure.lows[-1] < sure.lows[-1] < sure.times[-1] < sure.highs[-1] < unsure.highs[-1]


def test_nobody_waits_longer_than_if_all_stayed() -> None:
    """Doubt about who gives up makes a wait shorter than told, but not longer than without it."""
    doubtful = line(1_000)._replace(doubt=hazard_of((0.0,), (0.002,)))
    plain, wide = (table_of(Flow(STEADY, 0.05), who) for who in (line(1_000), doubtful))
    assert plain.highs[-1] == pytest.approx(wide.highs[-1])
    assert wide.lows[-1] < 0.7 * plain.lows[-1]


def test_in_order() -> None:
    """Nobody further back has an earlier time; a range is as wide as the steps of the calls."""
    table = ordered([0, 1, 2, 3], [0, 50, 40, 60], [0, 45, 20, 59], [0, 55, 50, 61], 1.0, 10.0)
    for column in (table.times, table.lows, table.highs):
        assert all(a <= b for a, b in pairwise(column))
    assert (40, 70) == (table.lows[1], table.highs[-1])


def test_a_range_that_says_nothing() -> None:
    """At first a range may be wider than its estimate, after ten minutes it may not."""
    wide = Table([0.0, 100.0], [0.0, 600.0], [0.0, 100.0], [0.0, 1_900.0], 6.0, 3.0)
    assert wide is bounded(wide, 300)
    narrow = bounded(wide, 900)
    assert narrow.highs[-1] - narrow.lows[-1] <= 600 == narrow.times[-1]
    assert narrow.lows[-1] < 600 < narrow.highs[-1]
