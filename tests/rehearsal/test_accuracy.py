"""How good an estimate is: which ones count, and what is an error, a hit or a jump."""

from __future__ import annotations

import pytest

from tests.support.room_simulator import Line
from waitroom.models import Eta, Policy
from waitroom.rehearsal.accuracy import Told, Watch, judge

CALLED_MS = [1_800_000, 0]
"""Person 0 is called after half an hour, person 1 never."""


def told(
    likely: int, at_s: int = 0, spread: int = 50, person: int = 0, *, explained: bool = False
) -> Told:
    """Return an estimate with a range of this many seconds on both sides."""
    return Told(person, at_s * 1000, likely - spread, likely, likely + spread, explained)


@pytest.mark.parametrize(
    ("estimates", "expected"),
    [
        ([], (0, None, None, None)),
        ([told(1800, person=1)], (0, None, None, None)),  # never called: there is no truth
        ([told(100, at_s=1700)], (0, None, None, None)),  # less than two minutes before the call
        ([told(1800)], (1, 0.0, 1.0, 0.0)),
        ([told(900)], (1, 0.5, 0.0, 0.0)),  # half of the truth, which is out of range
        ([told(1800, spread=1000)], (1, 0.0, 1.0, 0.0)),  # at first a range may be wide
        ([told(1800), told(1200, 600, 700)], (2, 0.0, 0.5, 0.0)),  # later a wide one is a miss
        ([told(1700), told(1200, 600)], (2, 0.0, 0.5, 0.0)),  # the error counts from then on
        ([told(1800), told(1700, at_s=100)], (2, 0.0, 1.0, 0.0)),
        ([told(1800), told(850, at_s=100)], (2, 0.25, 0.5, 1.0)),  # it moved by 850 s
        ([told(1800), told(850, 100, explained=True)], (2, 0.25, 0.5, 0.0)),  # and people know why
        ([told(1800), told(850, 100), told(840, 110, explained=True)], (3, 0.5, 1 / 3, 0.0)),
    ],
    ids=[
        *("none", "never", "soon", "right", "half", "wide", "wide later", "first", "steady"),
        *("jump", "explained", "explained soon"),
    ],
)
def test_judge(estimates: list[Told], expected: tuple[float | None, ...]) -> None:
    """The median error, the share of ranges that contain the truth, and the share of jumps."""
    found = judge(estimates, CALLED_MS)
    actual = (found.answers, found.error, found.covered, found.jumps)
    assert expected == pytest.approx(actual, abs=0.03) if found.answers else expected == actual


def test_minutes() -> None:
    """What was told is counted by the minute, the first ten also for themselves."""
    found = judge([told(1800), told(900, 30), told(1200, 600, 100)], CALLED_MS)
    assert 0.5 == found.first_covered
    assert 1 / 6 == pytest.approx(found.width)
    assert [(2, 1), (1, 1)] == [(m.answers, m.covered) for m in found.minutes if m.answers]
    assert 11 == len(found.minutes)


@pytest.mark.parametrize(("people", "watched"), [(1, 1), (300, 300), (3_000, 300), (3_299, 330)])
def test_some_hundred_are_watched(people: int, watched: int) -> None:
    """However many come, every n-th is asked."""
    assert watched == len(range(0, people, Watch(people).every_nth))


@pytest.mark.parametrize(
    ("etas", "noted"), [((), [Eta.BATCH]), ((Eta.BATCH, Eta.RATE), [Eta.BATCH])]
)
def test_formulas_that_the_policy_cannot_use_are_left_out(
    etas: tuple[Eta, ...], noted: list[Eta]
) -> None:
    """If the policy lacks the numbers for an estimate, nothing is recorded."""
    policy = Policy(batch=10, every_s=10, eta=Eta.BATCH)
    line, watch = Line(policy, 100), Watch(100, etas)
    watch.ask(policy, line.stats(), (), [(0, 1), (1, 25)])
    assert noted == list(watch.estimates)
    assert [(0, 10), (1, 30)] == [(each.person, each.likely) for each in watch.estimates[Eta.BATCH]]
