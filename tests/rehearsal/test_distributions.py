"""Distributions of durations: each draws what its name says, and a seed is repeatable."""

from __future__ import annotations

import random
from statistics import median

import pytest

from waitroom.rehearsal.distributions import Spread, fixed

DRAWS = 4_001


@pytest.mark.parametrize("spread", [Spread("lognormal", 30, 0.5), Spread("exponential", 30)])
def test_the_median_is_the_given_one(spread: Spread) -> None:
    """Half of the durations are shorter than the median, and they differ."""
    draw = spread.drawn_by(random.Random(3))
    durations = [draw() for _ in range(DRAWS)]
    assert 28 < median(durations) < 32
    assert DRAWS == len(set(durations))
    again = spread.drawn_by(random.Random(3))
    assert durations == [again() for _ in range(DRAWS)]


def test_fixed_is_fixed() -> None:
    """Every duration is the same."""
    draw = fixed(4.5).drawn_by(random.Random(3))
    assert {4.5} == {draw() for _ in range(10)}


def test_values_of_a_csv() -> None:
    """Only values that are in it are drawn, and all of them."""
    draw = Spread("csv", values=(1.0, 2.0, 8.0)).drawn_by(random.Random(3))
    assert {1.0, 2.0, 8.0} == {draw() for _ in range(100)}
