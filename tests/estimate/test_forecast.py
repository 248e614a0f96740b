"""A room with places, played forward: when places are given back, and whose turn it is then."""

from __future__ import annotations

import math
from bisect import bisect_left
from itertools import pairwise

import pytest

from waitroom.estimate.durations import Sessions
from waitroom.estimate.forecast import Forecast, Holding, Occupants, forecast


def holding(median_s: float = 300.0, sigma: float = 0.2, absent: float = 0.0) -> Holding:
    """Return how long places are held: about so long."""
    mean_s = median_s * math.exp(sigma * sigma / 2)
    width_s = 5.0
    ages = [max(1.0, (i - 0.5) * width_s) for i in range(400)]
    lasts = [0.5 * math.erfc(math.log(age / median_s) / (sigma * math.sqrt(2))) for age in ages]
    sessions = Sessions(width_s, lasts, mean_s, 0.05)
    return Holding(sessions, absent, 60.0, 0.0)


def turn_s(ahead: Forecast, place: float) -> float:
    """Return when it is somebody's turn, to the step."""
    return ahead.calls.times[bisect_left(ahead.calls.calls, place)]


def test_filled_together_ends_together() -> None:
    """A room that filled just now stands still for a session, and then all its places come."""
    ahead = forecast(holding(), Occupants(25.0, [0.0, 100.0], 0.0, 100), 100, math.inf)
    assert 200 <= turn_s(ahead, 10) <= 250
    assert 275 <= turn_s(ahead, 50) <= 325
    assert 450 <= turn_s(ahead, 110) <= 575


def test_steady() -> None:
    """In a room that has been full for long, places come at people ÷ session."""
    ahead = forecast(holding(), Occupants(50.0, [], 100.0, 100), 100, math.inf)
    assert 100 / holding().mean_s == pytest.approx(ahead.calls.rate)
    for place in (50, 200, 600):
        assert place / ahead.calls.rate == pytest.approx(turn_s(ahead, place), abs=60)


def test_free_places_come_first() -> None:
    """Free places go at once, or at the pace if there is one."""
    occupants = Occupants(25.0, [0.0, 40.0], 0.0, 40)
    assert 0 == turn_s(forecast(holding(), occupants, 100, math.inf), 60)
    assert 125 == turn_s(forecast(holding(), occupants, 100, 0.5), 60)


def test_the_pace_holds() -> None:
    """Nobody is called faster than the pace, however many places come back."""
    ahead = forecast(holding(), Occupants(25.0, [0.0, 100.0], 0.0, 100), 100, 0.2)
    steps = zip(pairwise(ahead.calls.times), pairwise(ahead.calls.calls), strict=True)
    assert all(b - a <= 0.2 * (end - start) + 1e-9 for (start, end), (a, b) in steps)
    assert 0.2 == ahead.calls.rate


def test_absent_people_free_places_sooner() -> None:
    """Who is called and never comes holds a place for a minute only."""
    occupants = Occupants(25.0, [], 100.0, 100)
    some = forecast(holding(absent=0.3), occupants, 100, math.inf)
    assert turn_s(some, 200) < turn_s(forecast(holding(), occupants, 100, math.inf), 200)


def test_doubt_comes_from_sessions() -> None:
    """Free places do not hang on how long sessions last; the longer the wait, the more it does."""
    occupants = Occupants(25.0, [0.0, 40.0], 0.0, 40)
    doubts = forecast(holding(), occupants, 100, math.inf).doubts
    assert 0.0 == doubts[0]
    assert 0.0 < doubts[20] < 0.05
    full = forecast(holding(), Occupants(25.0, [], 100.0, 100), 100, math.inf).doubts
    assert 0.05 == pytest.approx(full[-1])
