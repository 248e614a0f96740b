"""Counts of those who came and went, divided by age."""

from __future__ import annotations

import pytest

from waitroom.estimate.cohorts import Counts, divided, lasting


def test_nobody_is_lost() -> None:
    """Whoever came is there, was taken, or went; in each bin as many go as were counted."""
    counts = Counts([10, 20, 30, 0], [[0, 3, 5, 7], [1, 0, 2, 0]], [4], [0, 6, 0, 9])
    seen = divided(counts, [[0.1] * 5, [0.0, 0.2, 0.2, 0.2, 0.2]])
    assert 64 - 15 - 18 == pytest.approx(sum(seen.line))
    assert [15, 3] == [pytest.approx(sum(went)) for went in seen.went]


def test_the_oldest_are_taken_first() -> None:
    """Calls are made from the head: the first cohort is gone before the second is touched."""
    seen = divided(Counts([10, 10], [], [], [0, 12]), [])
    assert [0, 8] == seen.line


def test_who_is_likelier_goes() -> None:
    """If only people of one age go, those who went were of that age."""
    seen = divided(Counts([10, 10, 10], [[0, 0, 5]]), [[0.0, 0.5, 0.0]])
    assert [10, 5, 10] == seen.line
    assert [0, 5, 0] == seen.went[0]
    assert [30, 20, 10] == seen.stood


def test_a_cohort_cannot_lose_more_than_it_has() -> None:
    """What is too much for the likeliest goes from the others."""
    seen = divided(Counts([10, 10], [[0, 15]]), [[0.0, 1.0]])
    assert [0, 5] == [pytest.approx(people) for people in seen.line]


def test_lasting() -> None:
    """The share that reaches an age is the product of those who passed the ages before."""
    assert [1.0, 0.5, 0.25, 0.0] == lasting([0.5, 0.5, 1.0])
