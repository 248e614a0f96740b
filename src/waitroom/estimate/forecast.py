"""When places will be given back, and who gets them: a room with a capacity, played forward.

The room is played in steps, with counts that need not be whole: of those who hold a place now, by
how long they have held it, and of those who will be called into the places that they leave. So
a room that filled up at once stands still, then moves at once. Pure, stdlib only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import exp, inf
from operator import mul
from typing import NamedTuple

from waitroom.estimate.durations import Sessions

STEPS = 40
_MOST = 500.0  # the exponential of more is beyond all numbers
_BASE = 0.08  # of the wait: what no model knows
_BLUR = 0.4  # of a step: when people within it were called is not known better


class Slot(NamedTuple):
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


class Held(NamedTuple):
    """Calls per bin of `width_s`, the oldest first, and who had a place before all of them."""

    width_s: float
    calls: Sequence[float]
    before: float
    occupied: int


class Outlook(NamedTuple):
    """Who is called by when: `places` grow with `times`, and with `rate` when these have ended."""

    times: list[float]
    places: list[float]  # the place in line whose turn it is then, others in front giving up
    doubts: list[float]  # variance of the time ÷ its square
    rate: float


def outlook(slot: Slot, held: Held, capacity: int, limit: float, hazard: float) -> Outlook:
    """Play a room forward; at most `limit` are called per second, a share `hazard` gives up."""
    free, width_s = max(0.0, float(capacity - held.occupied)), held.width_s
    at_once = free if limit == inf else 0.0
    times, places, doubts = [0.0], [0.0], [0.0]
    if at_once:
        times, places, doubts = [0.0, 0.0], [0.0, at_once], [0.0, 0.0]
    place = called = at_once
    at_s = waited = 0.0
    for calls, short in _calls(slot, held, free, at_once, limit * width_s):
        at_s += width_s
        called += calls
        waited += calls if short else 0.0
        place += calls * exp(min(_MOST, hazard * (at_s - width_s / 2)))
        times.append(at_s)
        places.append(place)
        doubts.append(_doubt(slot.sessions.doubt, called, waited) + (_BLUR * width_s / at_s) ** 2)
    return Outlook(times, places, doubts, min(limit, capacity / slot.mean_s))


def _calls(
    slot: Slot, held: Held, free: float, at_once: float, most: float
) -> Iterator[tuple[float, bool]]:
    """Give how many are called in each step, and whether places limit them, not the pace."""
    number = len(held.calls)
    lasting = [slot.lasting((i + 0.5) * held.width_s) for i in range(number + STEPS + 1)]
    ending = [1 - lasting[0], *(a - b for a, b in pairwise(lasting))]
    ending.reverse()
    people, rest = _now(slot, held, lasting)
    free -= at_once
    for step in range(STEPS):
        people.append(0.0 if step else at_once)
        free += sum(map(mul, people, ending[STEPS - step :])) + rest * lasting[number + step]
        calls = free if free < most else most
        yield calls, free < most
        people[-1] += calls
        free += calls * ending[-1] - calls  # some of them end at once


def _now(slot: Slot, held: Held, lasting: Sequence[float]) -> tuple[list[float], float]:
    """Return who must have been called when, to be as many as there are; and from before, per bin.

    Of people from before nothing is known, so they are as old as people are at any moment.
    """
    number, part = len(held.calls), held.width_s / slot.mean_s
    still = [*reversed(lasting[:number])]
    since = sum(map(mul, held.calls, still))
    before = held.before * max(0.0, 1 - part * sum(still))
    if since + before < 0.001:
        return [0.0] * number, held.occupied * part / (lasting[number] or 1.0)
    scale = held.occupied / (since + before)
    return [each * scale for each in held.calls], held.before * part * scale


def _doubt(doubt: float, called: float, waited: float) -> float:
    """Return how far off a time may be: the mean of sessions, and the chance of when each ends."""
    if not called:
        return 1.0
    return _BASE * _BASE + (doubt * waited / called) ** 2 + min(1.0, waited / (called * called))
