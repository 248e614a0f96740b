"""Scales and paths of charts."""

from __future__ import annotations

from itertools import pairwise

import pytest

from waitroom.charts import Scale, path, round_marks, round_top


def test_a_scale() -> None:
    """Values lie between its ends in proportion, also where pixels count downwards."""
    assert [10, 60, 110] == [Scale(0, 4, 10, 110).at(value) for value in (0, 2, 4)]
    assert [100, 75, 0] == [Scale(0, 800, 100, 0).at(value) for value in (0, 200, 800)]


def test_a_path() -> None:
    """Each line starts again; an empty one is left out."""
    assert "M0.0 1.0L2.0 3.2M4.0 5.0" == path([(0, 1), (2, 3.2)], [], [(4, 5)])
    assert "" == path() == path([])


@pytest.mark.parametrize(
    ("highest", "top"),
    [(0, 4), (4, 4), (5, 5), (7, 8), (11, 20), (101, 200), (999, 1000), (10, 10)],
)
def test_the_top_of_a_scale(highest: int, top: int) -> None:
    """It is round and contains the highest value."""
    assert top == round_top(highest)


@pytest.mark.parametrize("high", [0, 0.03, 1, 3, 7, 59, 60, 61, 100, 12_345])
def test_marks(high: float) -> None:
    """There are a few, at equal distances, and the last contains the highest value."""
    marks = round_marks(0, high)
    assert 0 == marks[0]
    assert high <= marks[-1]
    assert 3 <= len(marks) <= 9
    steps = [after - before for before, after in pairwise(marks)]
    assert pytest.approx([steps[0]] * len(steps)) == steps
