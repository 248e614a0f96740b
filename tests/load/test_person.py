"""One visitor: their random habits, what they see, and how their visit ends."""

from __future__ import annotations

import random
from math import inf, isnan

import pytest

from waitroom.load.person import Person, Stage, moment
from waitroom.load.plan import Plan
from waitroom.load.target import Target
from waitroom.load.visits import NEVER, End

TARGET = Target("http://127.0.0.1:1", "127.0.0.1", 1, "127.0.0.1")


def person(**changes: object) -> Person:
    """Return somebody who stays a second, comes when called and never gives up."""
    made = Person(stay_s=1.0, comes=True, patience_s=inf)
    for name, value in changes.items():
        setattr(made, name, value)
    return made


@pytest.mark.parametrize(
    ("no_show", "leave", "comes", "waits_for_ever"),
    [(0, 0, True, True), (1, 0, False, True), (0, 1, True, False)],
)
def test_make(no_show: float, leave: float, comes: bool, waits_for_ever: bool) -> None:
    """The shares of the plan decide who never comes and who gives up."""
    plan = Plan(target=TARGET, room="x", stay_s=10, arrive_s=30, no_show=no_show, leave=leave)
    for seed in range(20):
        made = Person.make(plan, random.Random(seed))
        assert (comes, waits_for_ever) == (made.comes, made.patience_s == inf)
        assert 5 <= made.stay_s <= 15
        assert waits_for_ever or 0 <= made.patience_s <= 30


def test_positions() -> None:
    """Every position counts, and so does each rise."""
    visitor = person()
    for position in (5, 3, 3, 4, None, 2):
        visitor.saw_position(position)
    assert (5, 1, 2) == (visitor.positions, visitor.rises, visitor.position)


@pytest.mark.parametrize(
    ("stage", "failing_since", "end"),
    [
        (Stage.COMING, NEVER, End.NOT_COME),
        (Stage.COMING, 95.0, End.NOT_COME),
        (Stage.COMING, 80.0, End.UNREACHED),
        (Stage.WAITING, 80.0, End.WAITING),
        (Stage.CALLED, NEVER, End.CALLED),
        (Stage.INSIDE, NEVER, End.INSIDE),
    ],
)
def test_still(stage: Stage, failing_since: float, end: End) -> None:
    """Where the test stops them; anybody who got only errors for ten seconds was never reached."""
    assert end is person(stage=stage, failing_since=failing_since).still(now=100.0)


@pytest.mark.parametrize(
    ("end", "changes", "held_until"),
    [
        (End.SERVED, {"called": 5.0, "held_until": 9.0}, 9.0),
        (End.SERVED, {"called": 5.0, "held_until": 9.0, "deadline": 8.0}, 8.0),
        (End.INSIDE, {"called": 5.0}, 20.0),  # the test ended first
        (End.NO_SHOW, {"called": 5.0}, inf),
    ],
)
def test_how_long_a_place_was_surely_held(
    end: End, changes: dict[str, float], held_until: float
) -> None:
    """Until it was given back or ran out, or until nobody checked any more."""
    assert held_until == person(**changes).visit(end, now=20.0).held_until


def test_who_was_never_called_held_no_place() -> None:
    """Their visit has no such moment."""
    assert isnan(person().visit(End.WAITING, now=20.0).held_until)


@pytest.mark.parametrize(
    ("text", "at"), [("1970-01-01T00:01:40+00:00", 89.75), (None, inf), (7, inf), ("soon", inf)]
)
def test_moment(text: object, at: float) -> None:
    """A server time by our clock, a little early; infinite if there is none."""
    assert at == moment(text, offset_s=10.0)
