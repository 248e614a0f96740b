"""How the line of a room moves, from its samples: who is called, who gives up, how sure that is.

Time in which nobody could be called (an empty line, a pause, a hold) says nothing about the rate
and is left out. If people wait for places, see `durations` (how long places are held) and
`forecast` (when they are given back). Pure, stdlib only.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from math import ceil, inf, log, sqrt
from typing import NamedTuple

from waitroom.estimate.forecast import Holding, Occupants, forecast
from waitroom.estimate.intervals import past_of
from waitroom.estimate.leaving import Ages, Leaving, leaving_of
from waitroom.estimate.occupancy import Occupancy
from waitroom.estimate.rates import Rate, Track
from waitroom.estimate.tuning import TUNING
from waitroom.estimate.turns import Calls
from waitroom.models import Mode, Policy, Sample, Stats


class Flow(NamedTuple):
    """The calls to come, and how sure they are."""

    calls: Calls
    doubt: float = TUNING.seen_rate_doubt  # standard error of their rate, as a share of it
    dispersion: float = 1.0  # variance of a count of calls ÷ its mean; 1 = Poisson
    grain_s: float = 0.0  # calls come in steps of this length
    doubts: Sequence[float] = ()  # more of it, at the times of the calls

    def variance(self, at_s: float, called: float) -> float:
        """Return the variance of the time at which so many are called, relative to its square."""
        more = 0.0
        if self.doubts:
            at = min(bisect_left(self.calls.times, at_s), len(self.doubts) - 1)
            more = self.doubts[at]
        return self.doubt * self.doubt + self.dispersion / max(called, 1.0) + more * more


def _steady(rate: float, doubt: float, dispersion: float = 1.0, grain_s: float = 0.0) -> Flow:
    return Flow(Calls((0.0,), (0.0,), rate), doubt, dispersion, grain_s)


class History:
    """The usable past of a room, newest first, under its current policy."""

    def __init__(self, policy: Policy, stats: Stats, samples: Sequence[Sample]) -> None:
        self._policy = policy
        self._occupied = stats.called + stats.inside
        self._waiting = stats.waiting
        past = past_of(policy, stats, samples)
        self._spans = past.spans
        self.whole = past.spans[: past.whole]
        """What happened without a gap, newest first."""

        self.seconds = sum([span.seconds for span in self.whole])
        """For how long that is."""

        self._occupancy = Occupancy(policy, past, stats.called, stats.inside)
        self._limit, self._step_s, self._step = self._limits()
        self._strike_out_pauses()

    def flow(self) -> Flow | None:
        """Return the calls to come, or None if nothing can be said."""
        policy = self._policy
        if policy.capacity is not None and self._occupancy.is_known():
            return self._played(policy.capacity)
        if policy.mode is Mode.MANUAL:  # calls by hand follow no pace
            rate = self._rate(TUNING.shortest_window_s, TUNING.block_s)
            return self._measured(rate) if rate and rate.people else None
        if policy.capacity is None:
            return self._paced() if self._limit < inf else _steady(inf, 0.0)
        return self._unmeasured(policy.capacity)

    def _played(self, capacity: int) -> Flow:
        """Play the room forward, with the sessions that were seen and those that run now."""
        limit = inf if self._policy.mode is Mode.MANUAL else self._limit
        if limit < inf and not self._is_full(capacity):
            limit = self._paced().calls.rate
        holding, occupants = self._occupancy.measured()
        ahead = forecast(holding, occupants, capacity, limit)
        grain_s = max(TUNING.played_grain_s, self._step_s)
        return Flow(ahead.calls, TUNING.model_doubt, grain_s=grain_s, doubts=ahead.doubts)

    def _is_full(self, capacity: int) -> bool:
        """Return whether people wait for places."""
        nearly_full = TUNING.nearly_full * capacity
        if self._occupied < nearly_full or self._limit == inf:
            return self._occupied >= nearly_full
        seconds = 0.0
        for span in self._spans:
            seconds += span.seconds
            if not span.free or seconds > max(TUNING.shortest_window_s, 2 * self._step_s):
                return not span.free
        return self._occupied >= capacity

    def holding_s(self) -> tuple[float | None, float]:
        """Return how long a place is held, from call to end, and its standard error.

        Little's law: people inside ÷ people leaving per second. Until some people have left it is
        `session_s`, and never more, unless sessions can be renewed.
        """
        session_s = self._policy.session_s
        reach_s = max(TUNING.holding_reach_s, 2 * (session_s or 0))
        occupied_s = released = seconds = 0.0
        for span in self._spans:
            seconds += span.seconds
            occupied_s += span.occupied * span.seconds
            released += span.released
            if seconds >= reach_s:
                break
        if released < TUNING.holding_releases:
            return session_s, TUNING.holding_doubt
        holding_s = max(0.001, min(occupied_s / released, self._most_s()))
        # Before a whole session length has passed, only short sessions can have been seen.
        early = TUNING.holding_early * max(0.0, 1 - seconds / (2 * holding_s))
        doubt = 1 / sqrt(released) + TUNING.holding_base + early
        return holding_s, min(TUNING.holding_doubt, doubt)

    def turn_s(self, least: int) -> float | None:
        """Return the mean time between the newest calls, while people waited."""
        track = self._track()
        if track.people < least:
            return None
        people = min(track.people, TUNING.desk_calls)
        seconds = track.seconds if track.people == people else track.time_of(people)
        return max(0.001, seconds / people)

    def _paced(self) -> Flow:
        """Return the flow of a room with a pace, which may be below what its policy allows."""
        limit, step_s = self._limit, self._step_s
        # A pace that is kept has no chance in it but that of its steps.
        kept = _steady(limit, TUNING.kept_rate_doubt, TUNING.least_dispersion, step_s)
        window_s = max(TUNING.shortest_window_s, 2 * step_s)
        rate = self._rate(step_s * ceil(window_s / step_s), self._block_s())
        if rate is None or rate.seconds < 2 * step_s:
            return kept
        due = limit * rate.seconds
        scatter = TUNING.agreement * sqrt(rate.dispersion * due)
        if rate.people >= due - self._step - scatter - 1:
            return kept
        if not rate.people:
            return kept._replace(doubt=TUNING.stalled_doubt)
        return self._measured(rate)._replace(grain_s=step_s)

    def _unmeasured(self, capacity: int) -> Flow | None:
        """Return the flow before any measurement: free places go at the pace, then sessions end."""
        ahead = self._paced() if self._limit < inf else _steady(inf, 0.0)
        fast = ahead.calls.rate
        holding_s, doubt = self.holding_s()
        if holding_s is None:  # nothing is known of sessions, so only the pace counts
            return ahead if fast < inf else None
        free = max(0.0, float(capacity - self._occupied))
        if fast < inf:
            # Until it is full the room holds n with n' = fast - n / holding_s; most = its limit.
            most = fast * holding_s
            if most <= 1.001 * capacity:
                return ahead
            free = most * max(0.0, log((most - capacity + free) / (most - capacity)))
        rate = min(fast, self._bounded(capacity / holding_s, capacity))
        # If places would hardly ever be short, it does not matter how long they are held.
        short = 1.0
        if fast < inf:
            growth = TUNING.slack_growth * (1 - rate / fast)
            short = min(1.0, TUNING.slack_doubt + growth)
        doubt = max(ahead.doubt, short * doubt)
        return ahead._replace(calls=Calls((0.0, free / fast), (0.0, free), rate, free), doubt=doubt)

    def _limits(self) -> tuple[float, float, float]:
        """Return the most calls per second, and the steps in which they come (length, people)."""
        policy, limits = self._policy, (inf, 0.0, 0.0)
        if policy.batch is not None and policy.every_s is not None:
            limits = (policy.batch / policy.every_s, policy.every_s, float(policy.batch))
        if policy.max_entries is not None and policy.per_s is not None:
            entered = sum(span.entered for span in self._spans)
            no_shows = sum(span.no_shows for span in self._spans)
            # Called people who never enter do not use up the limit, so more are called.
            known = entered >= TUNING.few_answers
            extra = min(TUNING.most_extra, 1 + no_shows / entered) if known else 1.0
            # A call uses the limit from its moment until its entry leaves the window.
            called_s = self._called_s() if known else 0.0
            rate = policy.max_entries / (policy.per_s + called_s) * extra
            if rate < limits[0]:
                step_s = limits[1] or policy.per_s
                limits = (rate, step_s, rate * step_s)
        return limits

    def _strike_out_pauses(self) -> None:
        """Mark runs in which people waited, had room, and nobody was called for several steps."""
        policy = self._policy
        if policy.mode is Mode.MANUAL or (self._limit == inf and policy.capacity is None):
            return
        longest = max(TUNING.pause_s, TUNING.pause_steps * self._step_s)
        start, seconds = 0, 0.0
        for at, span in enumerate([*self._spans, None]):
            if span is not None and span.busy and span.free and not span.calls:
                seconds += span.seconds
                continue
            if seconds >= longest:
                for i in range(start, at):
                    self._spans[i] = self._spans[i]._replace(busy=False)
            start, seconds = at + 1, 0.0

    @property
    def limit(self) -> float:
        """The most calls per second that pace and rolling limit allow; infinite without them."""
        return self._limit

    @property
    def released(self) -> int:
        """How many places were given back in the known past."""
        return sum([span.released for span in self._spans])

    def arrivals(self) -> float:
        """Return how many people joined per second recently."""
        joins = Track([(span.seconds, span.joined) for span in self._spans])
        seconds = min(joins.seconds, TUNING.arrivals_s)
        return joins.within(seconds) / seconds if seconds >= 1 else 0.0

    def held(self) -> tuple[Holding, Occupants] | None:
        """Return how long places are held and since when, or None if nothing is known about it."""
        return self._occupancy.held()

    def leaving(self, elsewhere: Ages | None = None) -> Leaving:
        """Return who stands in line, and how the line thins out."""
        return leaving_of(self.whole, self._waiting, self._policy.presence_s, elsewhere)

    def _track(self) -> Track:
        # What another pace allowed says nothing about this one.
        return Track(
            [(span.seconds, span.calls) for span in self._spans if span.busy and span.same]
        )

    def _rate(self, shortest_s: float, block_s: float) -> Rate | None:
        track = self._track()
        return track.rate(shortest_s, block_s) if track.seconds >= 1 else None

    def _measured(self, rate: Rate) -> Flow:
        doubt = sqrt(rate.dispersion / rate.people + TUNING.seen_rate_doubt**2)
        return _steady(rate.per_s, doubt, rate.dispersion)

    def _bounded(self, rate: float, capacity: int) -> float:
        """Keep a rate between that of full-length sessions and what the policy allows."""
        most = self._most_s()
        return min(self._limit, max(rate, 0.0 if most == inf else capacity / most))

    def _most_s(self) -> float:
        """Return the longest time that a place can be held."""
        policy = self._policy
        if policy.longest_stay_s is None or policy.enter_within_s is None:
            return inf
        return policy.longest_stay_s + min(policy.enter_within_s, self._called_s())

    def _called_s(self) -> float:
        """Return how long people take to enter: Little's law again, called ÷ calls per second."""
        answered = sum(span.entered + span.no_shows for span in self._spans)
        if answered < TUNING.few_answers:
            return self._policy.enter_within_s or 0.0
        return sum(span.called * span.seconds for span in self._spans) / answered

    def _block_s(self) -> float:
        step_s, block_s = self._step_s, TUNING.block_s
        return step_s * ceil(block_s / step_s) if step_s else block_s
