"""Who holds the places of a room, and for how long, from its samples alone."""

from __future__ import annotations

import pytest

from tests.support.room_simulator import Line
from waitroom.estimate.intervals import past_of
from waitroom.estimate.occupancy import Occupancy
from waitroom.models import Mode, Policy


def occupancy(line: Line) -> Occupancy:
    """Return what is known of a simulated room now."""
    stats = line.stats()
    past = past_of(line.policy, stats, line.samples)
    return Occupancy(line.policy, past, stats.called, stats.inside)


@pytest.mark.parametrize(
    ("policy", "seconds", "pace", "known"),
    [
        (Policy(capacity=20), 300, None, True),
        (Policy(capacity=20), 0, None, False),  # no past
        (Policy(batch=5, every_s=10), 300, None, False),  # no places to wait for
        (Policy(capacity=20, session_s=None), 30, None, False),  # nobody has left yet
        (Policy(capacity=20, session_s=None), 300, None, True),
        (Policy(mode=Mode.MANUAL, capacity=20), 300, 9.0, True),  # a host who fills every place
        (Policy(mode=Mode.MANUAL, capacity=20), 300, 0.05, False),  # one who leaves most free
    ],
)
def test_is_known(policy: Policy, seconds: int, pace: float | None, known: bool) -> None:
    """Places tell something where people wait for them and some were given back."""
    line = Line(policy, 500, session=lambda _: 60.0, pace=pace)
    line.run(seconds)
    assert known is occupancy(line).is_known()


@pytest.mark.parametrize("session_s", [40.0, 120.0])
def test_how_long_places_are_held(session_s: float) -> None:
    """The length of sessions is found without any single session being known."""
    line = Line(Policy(capacity=50, session_s=600), 2000, session=lambda _: session_s)
    line.run(900)
    holding, occupants = occupancy(line).measured()
    assert session_s == pytest.approx(holding.mean_s, rel=0.1)
    assert (50, 0.0) == (occupants.occupied, holding.absent)


def test_everybody_with_a_place_is_counted_once() -> None:
    """In a room that just filled, all were called in the past that is known, none before."""
    line = Line(Policy(capacity=50, session_s=600), 2000)
    line.run(60)
    _, occupants = occupancy(line).measured()
    assert (50, 0.0) == (round(sum(occupants.calls)), occupants.before)


def test_who_never_comes() -> None:
    """A third of those called did not come: that share is absent, for `enter_within_s`."""
    line = Line(Policy(capacity=50, enter_within_s=30), 5000, session=lambda _: 60.0)
    for _ in range(600):
        line.step()
        line.count["no_show"] = line.count["called_total"] // 3
        line.count["entered"] = line.count["called_total"] - line.count["no_show"]
    holding, _ = occupancy(line).measured()
    assert 1 / 3 == pytest.approx(holding.absent, abs=0.05)
    assert 30 == holding.enter_within_s
