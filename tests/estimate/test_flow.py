"""How a line moves: by its pace, by its places, or as it was seen to."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import pytest

from tests.support.room_simulator import Line
from waitroom.estimate.flow import Flow, History
from waitroom.models import Mode, Policy

PACED = Policy(batch=20, every_s=10, presence_s=None)


def history(line: Line) -> History:
    """Return the past of a simulated room."""
    return History(line.policy, line.stats(), line.samples)


def flow(line: Line) -> Flow:
    """Return how its line moves, which must be known."""
    moves = history(line).flow()
    assert moves is not None
    return moves


@pytest.mark.parametrize(
    ("policy", "rate"),
    [
        (Policy(), inf),
        (PACED, 2.0),
        (Policy(max_entries=60, per_s=60), 1.0),
        (Policy(batch=20, every_s=10, max_entries=60, per_s=60), 1.0),  # the slower one
        (Policy(capacity=50, session_s=100, enter_within_s=None), 0.5),
        (Policy(capacity=50, session_s=None), None),  # nobody knows when a place comes back
        (Policy(mode=Mode.MANUAL), None),  # nor when a host calls
    ],
)
def test_before_anything_was_seen(policy: Policy, rate: float | None) -> None:
    """Without a past the policy alone says how the line moves, if it says anything."""
    moves = history(Line(policy, 500)).flow()
    assert rate == (moves and moves.calls.rate)


def test_a_host_is_judged_by_what_was_seen() -> None:
    """Calls by hand follow no pace: their rate is the measured one."""
    line = Line(Policy(mode=Mode.MANUAL), 9000, pace=2.0)
    line.run(900)
    assert 2.0 == pytest.approx(flow(line).calls.rate, rel=0.1)


def test_a_pause_does_not_slow_the_pace() -> None:
    """Time in which nobody could be called says nothing about the rate."""
    line = Line(PACED, 9000)
    line.run(300)
    line.policy = PACED.change(mode="paused")
    line.run(300)
    line.policy = PACED
    line.run(30)
    assert 2.0 == flow(line).calls.rate


def test_another_pace_says_nothing() -> None:
    """After a change only what was seen under the new pace counts; until then it is believed."""
    line = Line(PACED, 9000)
    line.run(600)
    line.samples = [replace(each, mode=Mode.OPEN, per_minute=120.0) for each in line.samples]
    line.policy = PACED.change(batch=40)
    assert 4.0 == flow(line).calls.rate


@pytest.mark.parametrize(("seconds", "holding_s"), [(0, 600.0), (900, 60.0)])
def test_how_long_a_place_is_held(seconds: int, holding_s: float) -> None:
    """It is `session_s` until some have left, and then people inside ÷ people leaving."""
    line = Line(Policy(capacity=50, session_s=600), 2000, session=lambda _: 60.0)
    line.run(seconds)
    held_s, doubt = history(line).holding_s()
    assert holding_s == pytest.approx(held_s, rel=0.1)
    assert 0 < doubt <= 0.6


def test_the_time_between_calls() -> None:
    """It is known once enough were called, and only of the time in which people waited."""
    line = Line(Policy(mode=Mode.MANUAL), 9000, pace=0.5)
    line.run(10)
    assert history(line).turn_s(10) is None
    line.run(890)
    assert 2.0 == pytest.approx(history(line).turn_s(10), rel=0.2)
