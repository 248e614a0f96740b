"""When places will be given back, and who gets them: a room with a capacity, played forward.

A place here is one of the `capacity`; where somebody stands in line is a position. The room is
played in steps, with fractional counts: of people who hold a place now, by how long they have held
it, and of people who will be called into the places that become free. So a room that filled all at
once stands still, then moves all at once. Who is called then is told by `turns`. Pure, stdlib only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import inf
from operator import mul
from typing import NamedTuple

from waitroom.estimate.durations import Sessions
from waitroom.estimate.tuning import TUNING
from waitroom.estimate.turns import Calls


class Holding(NamedTuple):
    """How long a place is held: a share is called, never comes, and loses it; the others enter."""

    sessions: Sessions
    absent: float
    enter_within_s: float
    enter_s: float  # how long people who come take

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
    """Who holds a place: calls per bin of `width_s`, oldest first, and those from before."""

    width_s: float
    calls: Sequence[float]
    before: float
    occupied: int


class Forecast(NamedTuple):
    """The calls to come, and at each of their times the doubt that sessions bring into it."""

    calls: Calls
    doubts: list[float]  # standard error of the time, as a share of it


def forecast(holding: Holding, occupants: Occupants, capacity: int, limit: float) -> Forecast:
    """Play a room forward, as long as people wait; at most `limit` are called per second."""
    free, width_s = max(0.0, float(capacity - occupants.occupied)), occupants.width_s
    at_once = free if limit == inf else 0.0
    times, calls, doubts = [0.0], [at_once], [0.0]
    called, waited = at_once, 0.0
    for step, (more, short, _) in enumerate(
        played(holding, occupants, free, at_once, limit * width_s), 1
    ):
        called += more
        waited += more if short else 0.0
        times.append(step * width_s)
        calls.append(called)
        # Before anybody is called, all of the time that passes hangs on how long sessions last.
        part = waited / called if called else 1.0
        doubts.append(holding.sessions.doubt * part)
    return Forecast(Calls(times, calls, min(limit, capacity / holding.mean_s), at_once), doubts)


def played(
    holding: Holding, occupants: Occupants, free: float, at_once: float, most: float
) -> Iterator[tuple[float, bool, float]]:
    """Yield how many are called in each step, whether places limit them, and those still free.

    `free` is below zero if more places are taken than there are.
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
    """Return how many of each bin's calls, and of those from before, still hold a place, per bin.

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
