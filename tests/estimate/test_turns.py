"""Whose turn it is when: calls that come, and a line that thins out."""

from __future__ import annotations

from itertools import pairwise
from math import inf, log1p

import pytest

from waitroom.estimate.leaving import Ages, Cohort, Leaving, hazard_of
from waitroom.estimate.turns import LONGEST_S, Calls, turns_of

STEADY = Calls((0.0,), (0.0,), 2.0)


def line(people: float, hazard: float = 0.0, age_s: float = 60.0) -> Leaving:
    """Return people who came together, of whom a share gives up per second."""
    rates = hazard_of((0.0,), (hazard,))
    nothing = Ages((), (), ())
    return Leaving([Cohort(people, age_s)], rates, hazard_of((0.0,), (0.0,)), nothing)


@pytest.mark.parametrize("position", [1, 10, 500, 1_000, 5_000])
def test_nobody_gives_up(position: int) -> None:
    """It is position ÷ rate, also for newcomers behind the line."""
    assert position / 2.0 == pytest.approx(turns_of(STEADY, line(1_000)).time_of(position))


def test_people_who_give_up_make_way() -> None:
    """With a share h that gives up per second it is ln(1 + h × position ÷ c) ÷ h."""
    turns = turns_of(STEADY, line(4_000, hazard=0.001))
    for position in (100, 1_000, 4_000):
        expected = log1p(0.001 * position / 2.0) / 0.001
        assert expected == pytest.approx(turns.time_of(position), rel=0.02)


def test_nobody_behind_is_called_earlier() -> None:
    """Times grow with positions, wherever calls come in jumps."""
    calls = Calls((0.0, 0.0, 100.0, 100.0), (0.0, 50.0, 50.0, 80.0), 0.5, 50.0)
    turns = turns_of(calls, line(300, hazard=0.002))
    assert all(a <= b for a, b in pairwise(turns.times))
    assert 0.0 == turns.time_of(50)
    assert 90 < turns.time_of(60) <= 100


def test_a_position_at_a_time() -> None:
    """Which position is called at a time is the other way round."""
    turns = turns_of(STEADY, line(1_000, hazard=0.0005))
    for position in (10, 400, 1_000, 2_000):
        assert position == pytest.approx(turns.position_at(turns.time_of(position)), rel=0.01)


@pytest.mark.parametrize(("rate", "expected"), [(inf, 0.0), (0.0, LONGEST_S)])
def test_no_limit_and_no_calls(rate: float, expected: float) -> None:
    """Everybody is called at once, or nobody ever."""
    assert expected == turns_of(Calls((0.0,), (0.0,), rate), line(10)).time_of(9)
