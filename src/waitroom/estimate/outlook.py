"""What a room would do under another policy: who is called at once, who waits how long, and where
the number of people called and inside levels off.

The estimates that people see follow what was observed, which a change has not had time to alter.
Here the limits of a policy are played forward instead, with the sessions that were seen, so that
two policies can be compared. Raising a limit never gives a longer wait. Pure, stdlib only.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import inf
from typing import NamedTuple

from waitroom.estimate.flow import History
from waitroom.estimate.forecast import Holding, Occupants, played
from waitroom.estimate.methods import delay_of
from waitroom.estimate.tuning import TUNING
from waitroom.estimate.turns import Calls, turns_of
from waitroom.models import Mode, Policy, Sample, Stats

_NO_CAPACITY = 1_000_000_000


class Bound(StrEnum):
    """What keeps a line from moving faster."""

    CAPACITY = "capacity"
    PACE = "pace"
    ENTRIES = "entries"
    NOTHING = "nothing"


class Course(NamedTuple):
    """A room played forward: the calls to come, and places taken at each of their times."""

    calls: Calls
    taken: Sequence[float]

    def taken_at(self, seconds: float) -> float:
        """Return how many places are taken at a time, or at the end of what was played."""
        times = self.calls.times
        at = bisect_left(times, seconds)
        if at == 0 or at >= len(times):
            return self.taken[min(at, len(times) - 1)]
        start, end = times[at - 1], times[at]
        part = (seconds - start) / (end - start) if end > start else 1.0
        return self.taken[at - 1] + part * (self.taken[at] - self.taken[at - 1])


@dataclass(frozen=True, slots=True)
class Outlook:
    """A room under one policy, from now on."""

    at_once: int
    """How many people may be called as soon as it applies."""

    rate: float | None
    """Calls per second once it has levelled off; None if nobody is called automatically."""

    level: int | None
    """Places taken by then, as long as people wait; None if unknown."""

    last_s: float | None
    """How long the last in line waits, or a newcomer if nobody waits."""

    bound: Bound


class Prospects:
    """The room as it is now, measured once, to be played forward under any policy."""

    def __init__(self, policy: Policy, stats: Stats, samples: Sequence[Sample]) -> None:
        self._stats, self._samples = stats, samples
        history = History(policy, stats, samples)
        self._leaving = history.leaving()
        self._held = history.held()
        self.arrivals = history.arrivals()
        """Newcomers per second."""

        self.is_measured = history.released >= TUNING.holding_releases
        """Whether the length of sessions was seen; until then it is a guess."""

    @property
    def session_s(self) -> float | None:
        """How long a place is held, from the call on; None if unknown."""
        return None if self._held is None else self._held[0].mean_s

    def under(self, policy: Policy, *, admitted: int = 0) -> Outlook:
        """Return what a policy would do; `admitted` people are called by hand first."""
        stats = self._stats
        position = max(1, stats.waiting)
        at_once = calls_at_once(policy, stats)
        mode = policy.mode_at(stats.now_ms)
        if mode not in (Mode.OPEN, Mode.BYPASS):
            return Outlook(0, None, None, None, Bound.NOTHING)
        delay_s = delay_of(policy, stats)
        if mode is Mode.BYPASS or delay_s < 0:
            taken = stats.called + stats.inside + stats.waiting
            return Outlook(at_once, inf, taken, 0.0, Bound.NOTHING)
        course = self._course(policy, admitted)
        bound = self._bound(policy)
        if course is None:
            return Outlook(at_once, None, None, None, bound)
        turns = turns_of(course.calls, self._leaving)
        last_s = 0.0 if admitted >= position else turns.time_of(position)
        level = self._level(course, last_s) if self._held else None
        return Outlook(at_once, course.calls.rate, level, last_s + delay_s, bound)

    def still_waiting(self, policy: Policy, seconds: float) -> int | None:
        """Return how many people in line now still wait after some time."""
        course = self._course(policy, 0)
        if course is None or delay_of(policy, self._stats) < 0:
            return None
        left = max(0.0, seconds - delay_of(policy, self._stats))
        called = turns_of(course.calls, self._leaving).position_at(left)
        return max(0, self._stats.waiting - int(called))

    def _course(self, policy: Policy, admitted: int) -> Course | None:
        limit = History(policy, self._stats, self._samples).limit
        if self._held is None:  # it is unknown when a place is given back
            if policy.capacity is not None:
                return None
            return Course(Calls([0.0], [float(admitted)], limit), [0.0])
        return _course(*self._held, policy.capacity, limit, admitted)

    def _level(self, course: Course, last_s: float) -> int:
        """Return how many places are taken when the last one is called, or later if more come."""
        if self._stats.waiting and self.arrivals < course.calls.rate:
            return round(course.taken_at(last_s))
        return round(course.taken[-1])

    def _bound(self, policy: Policy) -> Bound:
        limits = {}
        if policy.capacity is not None:
            session_s = self.session_s
            limits[Bound.CAPACITY] = 0.0 if session_s is None else policy.capacity / session_s
        if policy.batch is not None and policy.every_s is not None:
            limits[Bound.PACE] = policy.batch / policy.every_s
        if policy.max_entries is not None and policy.per_s is not None:
            limits[Bound.ENTRIES] = policy.max_entries / policy.per_s
        return min(limits, key=lambda name: limits[name], default=Bound.NOTHING)


def calls_at_once(policy: Policy, stats: Stats) -> int:
    """Return how many may be called this moment, if nothing of the pace's slot is used yet."""
    mode = policy.mode_at(stats.now_ms)
    delay_s = delay_of(policy, stats)
    if mode is Mode.BYPASS or (delay_s < 0 and mode in (Mode.OPEN, Mode.MANUAL)):
        return stats.waiting
    if mode is not Mode.OPEN or delay_s > 0:
        return 0
    number = min(stats.waiting, room_left(policy, stats))
    return number if policy.batch is None else min(number, policy.batch)


def room_left(policy: Policy, stats: Stats) -> int:
    """Return for how many people there is room: these limits apply to calls by hand too."""
    left = _NO_CAPACITY
    if policy.capacity is not None:
        left = min(left, policy.capacity - stats.called - stats.inside)
    if policy.max_entries is not None:
        left = min(left, policy.max_entries - stats.entries_in_window - stats.called)
    return max(0, left)


def _course(
    holding: Holding, occupants: Occupants, capacity: int | None, limit: float, admitted: int
) -> Course:
    places = _NO_CAPACITY if capacity is None else capacity
    free = float(places - occupants.occupied - admitted)
    if capacity is None and limit == inf:
        return Course(Calls([0.0], [inf], inf), [float(occupants.occupied)])
    at_once = admitted + (max(0.0, free) if limit == inf else 0.0)
    called = at_once
    times, calls, taken = [0.0], [called], [occupants.occupied + at_once]
    steps = played(
        holding, occupants, float(places - occupants.occupied), at_once, limit * occupants.width_s
    )
    for step, (more, _, left) in enumerate(steps, 1):
        called += more
        times.append(step * occupants.width_s)
        calls.append(called)
        taken.append(places - left)
    return Course(Calls(times, calls, min(limit, places / holding.mean_s), at_once), taken)
