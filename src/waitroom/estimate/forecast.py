"""When places will be given back, and who gets them: a room with a capacity, played forward.

A place here is one of the `capacity`; where somebody stands in line is a position. The room is
played in steps, with fractional counts: of those who hold a place now, by how long they have held
it, and of those who will be called into the places that they leave. So a room that filled at once
stands still, then moves at once. Pure, stdlib only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import exp, inf
from operator import mul
from typing import NamedTuple

from waitroom.estimate.durations import Sessions
from waitroom.estimate.tuning import TUNING

_MOST_EXPONENT = 500.0  # e to the power of more is too large for a float


class Holding(NamedTuple):
    """How long a place is held: a share is called, never comes, and loses it; the others enter."""

    sessions: Sessions
    absent: float
    enter_within_s: float
    enter_s: float  # how long those who come take

    @property
    def mean_s(self) -> float:
        """Return the mean time from call to end."""
        stays_s = self.sessions.mean_s + self.enter_s
        return max(0.001, self.absent * self.enter_within_s + (1 - self.absent) * stays_s)

    def lasting(self, age_s: float) -> float:
        """Return the share of places that are held for longer than `age_s`."""
        inside = (1 - self.absent) * self.sessions.lasting(age_s - self.enter_s)
        return inside + self.absent if age_s < self.enter_within_s else inside


class Occupants(NamedTuple):
    """Who holds a place: calls per bin of `width_s`, the oldest first, and those from before."""

    width_s: float
    calls: Sequence[float]
    before: float
    occupied: int


class Forecast(NamedTuple):
    """Who is called by when: `positions` grow with `times`, and by `rate` after the last one."""

    times: list[float]
    positions: list[float]  # in line now, called by that time; includes people who give up
    doubts: list[float]  # variance of the time ÷ its square
    rate: float


def forecast(
    holding: Holding, occupants: Occupants, capacity: int, limit: float, hazard: float
) -> Forecast:
    """Play a room forward; at most `limit` are called per second, a share `hazard` gives up."""
    free, width_s = max(0.0, float(capacity - occupants.occupied)), occupants.width_s
    at_once = free if limit == inf else 0.0
    times, positions, doubts = [0.0], [0.0], [0.0]
    if at_once:
        times, positions, doubts = [0.0, 0.0], [0.0, at_once], [0.0, 0.0]
    position = called = at_once
    at_s = waited = 0.0
    for calls, short, _ in played(holding, occupants, free, at_once, limit * width_s):
        at_s += width_s
        called += calls
        waited += calls if short else 0.0
        position += calls * exp(min(_MOST_EXPONENT, hazard * (at_s - width_s / 2)))
        times.append(at_s)
        positions.append(position)
        blur = (TUNING.step_blur * width_s / at_s) ** 2
        doubts.append(_doubt(holding.sessions.doubt, called, waited) + blur)
    return Forecast(times, positions, doubts, min(limit, capacity / holding.mean_s))


def played(
    holding: Holding, occupants: Occupants, free: float, at_once: float, most: float
) -> Iterator[tuple[float, bool, float]]:
    """Yield how many are called in each step, whether places limit them, and those still free.

    `free` is below zero where more places are taken than there are.
    """
    number, steps, width_s = len(occupants.calls), TUNING.forecast_steps, occupants.width_s
    lasting = [holding.lasting((i + 0.5) * width_s) for i in range(number + steps + 1)]
    ending = [1 - lasting[0], *(a - b for a, b in pairwise(lasting))]
    ending.reverse()
    people, rest = _now(holding, occupants, lasting)
    free -= at_once
    for step in range(steps):
        people.append(0.0 if step else at_once)
        free += sum(map(mul, people, ending[steps - step :])) + rest * lasting[number + step]
        calls = max(0.0, free if free < most else most)
        short = free < most
        people[-1] += calls
        free += calls * ending[-1] - calls  # some of them end at once
        yield calls, short, free


def _now(
    holding: Holding, occupants: Occupants, lasting: Sequence[float]
) -> tuple[list[float], float]:
    """Return how many of each bin's calls still hold a place, and of those from before, per bin.

    They are scaled so that their sum is the number of places held now. Nothing is known about those
    from before, so they get the ages of people in a room that has been full for long.
    """
    number, part = len(occupants.calls), occupants.width_s / holding.mean_s
    still = [*reversed(lasting[:number])]
    since = sum(map(mul, occupants.calls, still))
    before = occupants.before * max(0.0, 1 - part * sum(still))
    if since + before < 0.001:
        return [0.0] * number, occupants.occupied * part / (lasting[number] or 1.0)
    scale = occupants.occupied / (since + before)
    return [calls * scale for calls in occupants.calls], occupants.before * part * scale


def _doubt(doubt: float, called: float, waited: float) -> float:
    """Return how far off a time may be: from the sessions' mean, and from chance in each end."""
    if not called:
        return 1.0
    base = TUNING.model_doubt
    return base * base + (doubt * waited / called) ** 2 + min(1.0, waited / (called * called))
