"""Whose turn it is when: calls to come, and a line that thins out while it waits for them.

Somebody is called once as many calls were made as there were people in front of them who had not
given up by their own turn. So the line is walked from its head: each group is called when the calls
for those before it are used up, and by then a part of it is gone. Pure, stdlib only.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from math import inf
from typing import NamedTuple

from waitroom.estimate.leaving import Cohort, Leaving
from waitroom.estimate.tuning import TUNING

LONGEST_S = 366 * 86_400.0


class Calls(NamedTuple):
    """Calls to come: as many as `calls[i]` until `times[i]`, then `rate` per second."""

    times: Sequence[float]
    calls: Sequence[float]
    rate: float
    free: float = 0.0  # how many of them go into places that are free now

    def time_of(self, number: float) -> float:
        """Return when so many people will have been called."""
        times, calls = self.times, self.calls
        if number > calls[-1]:
            if self.rate <= 0:
                return LONGEST_S
            more_s = (number - calls[-1]) / self.rate if self.rate < inf else 0.0
            return min(LONGEST_S, times[-1] + more_s)
        at = bisect_left(calls, number)
        if at == 0 or calls[at] == calls[at - 1]:
            return times[at]
        part = (number - calls[at - 1]) / (calls[at] - calls[at - 1])
        return times[at - 1] + part * (times[at] - times[at - 1])


class Turns(NamedTuple):
    """When each position is called: `times` grow with `positions`, and by `each_s` after the last.

    `called` is how many of those in front are called until then; the others give up.
    """

    positions: list[float]
    times: list[float]
    called: list[float]
    doubts: list[float]  # of `called`, as a share of it
    each_s: float

    def time_of(self, position: float) -> float:
        """Return when it is a position's turn."""
        positions, times = self.positions, self.times
        if position >= positions[-1]:
            return min(LONGEST_S, times[-1] + (position - positions[-1]) * self.each_s)
        at = bisect_left(positions, position)
        if at == 0:
            return times[0]
        part = (position - positions[at - 1]) / (positions[at] - positions[at - 1])
        return times[at - 1] + part * (times[at] - times[at - 1])

    def position_at(self, at_s: float) -> float:
        """Return which position is called at a time."""
        positions, times = self.positions, self.times
        if at_s >= times[-1]:
            more = (at_s - times[-1]) / self.each_s if self.each_s else 0.0
            return positions[-1] + more
        at = bisect_left(times, at_s)
        if at == 0:
            return positions[0]
        part = (at_s - times[at - 1]) / (times[at] - times[at - 1])
        return positions[at - 1] + part * (positions[at] - positions[at - 1])


def turns_of(calls: Calls, leaving: Leaving) -> Turns:
    """Walk a line from its head, and some newcomers behind it."""
    hazard, doubtful = leaving.hazard, leaving.doubt
    positions, times, called, doubts = [0.0], [calls.time_of(0.0)], [0.0], [0.0]
    position = number = unsure = 0.0
    staying = 1.0
    line = sum([people for people, _ in leaving.cohorts])
    # Whoever comes next is asked about too.
    beyond = Cohort(max(1.0, line / 8, calls.free - line), 0.0)
    for people, age_s in (*leaving.cohorts, beyond):
        left = people
        while left > 1e-9:
            # Fine steps at the head, where a person's turn is near, and coarse ones behind.
            each = min(left, max(1.0, TUNING.turn_step * position))
            if number < calls.free - 1e-6 < number + each * staying:
                each = (calls.free - number) / staying
            # The middle of a group is called a little later than its head.
            middle_s = calls.time_of(number + staying * each / 2)
            staying = hazard.staying(age_s, middle_s)
            number += staying * each
            unsure += staying * each * doubtful.between(age_s, middle_s)
            position += each
            left -= each
            positions.append(position)
            times.append(calls.time_of(number))
            called.append(number)
            doubts.append(unsure / number if number > 0 else 0.0)
    each_s = staying / calls.rate if calls.rate > 0 else LONGEST_S
    return Turns(positions, times, called, doubts, each_s)
