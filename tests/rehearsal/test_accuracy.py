"""How good an estimate is: which ones count, and what is an error, a hit or a jump."""

from __future__ import annotations

import pytest

from tests.support.room_simulator import Line
from waitroom.models import Eta, Policy
from waitroom.rehearsal.accuracy import Accuracy, Told, Watch, judge

CALLED_MS = [600_000, 0]
"""Person 0 is called after ten minutes, person 1 never."""


def told(likely: int, at_s: int = 0, spread: int = 50, person: int = 0) -> Told:
    """Return an estimate with a range of so many seconds on both sides."""
    return Told(person, at_s * 1000, likely - spread, likely, likely + spread)


@pytest.mark.parametrize(
    ("estimates", "expected"),
    [
        ([], Accuracy(0)),
        ([told(600, person=1)], Accuracy(0)),  # never called: there is no truth
        ([told(100, at_s=500)], Accuracy(0)),  # less than two minutes before the call
        ([told(600)], Accuracy(1, 0.0, 1.0, 0.0)),
        ([told(300)], Accuracy(1, 0.5, 0.0, 0.0)),  # half of the truth, which is out of range
        ([told(600, spread=350)], Accuracy(1, 0.0, 0.0, 0.0)),  # a range that says nothing
        ([told(600), told(500, at_s=100)], Accuracy(2, 0.0, 1.0, 0.0)),
        ([told(600), told(250, at_s=100)], Accuracy(2, 0.25, 0.5, 1.0)),  # it moved by 250 s
    ],
    ids=["none", "never", "soon", "right", "half", "wide", "steady", "jump"],
)
def test_judge(estimates: list[Told], expected: Accuracy) -> None:
    """The median error, the share of ranges that hold the truth, and the share of jumps."""
    assert expected == judge(estimates, CALLED_MS)


@pytest.mark.parametrize(("people", "watched"), [(1, 1), (300, 300), (3_000, 300), (3_299, 330)])
def test_some_hundred_are_watched(people: int, watched: int) -> None:
    """However many come, every n-th of them is asked."""
    assert watched == len(range(0, people, Watch(people).every_nth))


@pytest.mark.parametrize(
    ("etas", "noted"), [((), [Eta.BATCH]), ((Eta.BATCH, Eta.RATE), [Eta.BATCH])]
)
def test_formulas_that_the_policy_cannot_use_are_left_out(
    etas: tuple[Eta, ...], noted: list[Eta]
) -> None:
    """Asked for one that the policy lacks the numbers for, nothing is noted."""
    policy = Policy(batch=10, every_s=10, eta=Eta.BATCH)
    line, watch = Line(policy, 100), Watch(100, etas)
    watch.ask(policy, line.stats(), (), [(0, 1), (1, 25)])
    assert noted == list(watch.estimates)
    assert [(0, 10), (1, 30)] == [(each.person, each.likely) for each in watch.estimates[Eta.BATCH]]
