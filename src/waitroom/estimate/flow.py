"""How the line of a room moves, from its samples: who is called, who gives up, how sure that is.

Time in which nobody could be called (an empty line, a pause, a hold) says nothing about the rate
and is left out. Where places are what people wait for, see `durations` (how long they are
held) and `forecast` (when they are given back). Pure, stdlib only.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, exp, inf, log, sqrt
from typing import NamedTuple

from waitroom.estimate.forecast import Forecast, Holding, Occupants, forecast
from waitroom.estimate.intervals import past_of
from waitroom.estimate.occupancy import Occupancy
from waitroom.estimate.rates import Rate, Track
from waitroom.estimate.tuning import TUNING
from waitroom.models import Mode, Policy, Sample, Stats


class Flow(NamedTuple):
    """How the line moves: `free` people at `fast` per second, then the others at `rate`."""

    rate: float
    hazard: float = 0.0  # share of those waiting who give up per second
    dispersion: float = 1.0  # variance of a count of calls ÷ its mean; 1 = Poisson
    doubt: float = TUNING.seen_rate_doubt  # standard error of `rate`, as a part of it
    grain_s: float = 0.0  # calls come in steps of this length
    free: float = 0.0
    fast: float = inf
    ghosts: float = 0.0  # share of newcomers who were never there, and are dropped for silence
    proven: float = inf  # people in front who have been there for long enough
    forecast: Forecast | None = None  # if given, it says who is called when; `rate` counts after it


class Leaving(NamedTuple):
    """How a line thins out: a share of newcomers who are not there, and a hazard of all others."""

    hazard: float = 0.0
    ghosts: float = 0.0
    proven: float = inf


class History:
    """The usable past of a room, the newest first, under the policy that it has now."""

    def __init__(self, policy: Policy, stats: Stats, samples: Sequence[Sample]) -> None:
        self._policy = policy
        self._occupied = stats.called + stats.inside
        self._waiting = stats.waiting
        past = past_of(policy, stats, samples)
        self._spans = past.spans
        self._occupancy = Occupancy(policy, past, stats.called, stats.inside)
        self._limit, self._step_s, self._step = self._limits()
        self._strike_out_pauses()

    def flow(self) -> Flow | None:
        """Return how the line moves, or None if nothing can be said."""
        leaving = self.leaving()
        flow = self._flow(leaving.hazard)
        return flow and flow._replace(ghosts=leaving.ghosts, proven=leaving.proven)

    def _flow(self, hazard: float) -> Flow | None:
        policy = self._policy
        if policy.capacity is not None and self._occupancy.is_known():
            return self._played(policy.capacity, hazard)
        if policy.mode is Mode.MANUAL:  # calls by hand follow no pace
            rate = self._rate(TUNING.shortest_window_s, TUNING.block_s)
            return self._measured(rate, hazard) if rate and rate.people else None
        if policy.capacity is None:
            return self._paced(hazard) if self._limit < inf else Flow(inf)
        return self._unmeasured(policy.capacity, hazard)

    def _played(self, capacity: int, hazard: float) -> Flow:
        """Play the room forward, with the sessions that were seen and those that run now."""
        limit = inf if self._policy.mode is Mode.MANUAL else self._limit
        if limit < inf and not self._is_full(capacity):
            limit = self._paced(hazard).rate
        holding, occupants = self._occupancy.measured()
        ahead = forecast(holding, occupants, capacity, limit, hazard)
        grain_s = max(TUNING.played_grain_s, self._step_s)
        return Flow(ahead.rate, hazard, grain_s=grain_s, forecast=ahead)

    def _is_full(self, capacity: int) -> bool:
        """Tell whether places are what people wait for."""
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

        Little's law: people inside ÷ people leaving per second. Until some have left it is
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

    def _paced(self, hazard: float) -> Flow:
        """Return the flow of a room with a pace, which may be below what its policy allows."""
        limit, step_s = self._limit, self._step_s
        kept = Flow(limit, hazard, 1.0, TUNING.kept_rate_doubt, step_s)
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
        return self._measured(rate, hazard)._replace(grain_s=step_s)

    def _unmeasured(self, capacity: int, hazard: float) -> Flow | None:
        """Return the flow before any measurement: free places go at the pace, then sessions end."""
        ahead = self._paced(hazard) if self._limit < inf else Flow(inf, hazard)
        holding_s, doubt = self.holding_s()
        if holding_s is None:  # nothing is known of sessions, so only the pace counts
            return ahead if ahead.rate < inf else None
        free = max(0.0, float(capacity - self._occupied))
        if ahead.rate < inf:
            # Until it is full the room holds n with n' = rate - n / holding_s; most = its limit.
            most = ahead.rate * holding_s
            if most <= 1.001 * capacity:
                return ahead
            free = most * max(0.0, log((most - capacity + free) / (most - capacity)))
        rate = min(ahead.rate, self._bounded(capacity / holding_s, capacity))
        # Where places would hardly ever be short, it does not matter how long they are held.
        short = 1.0
        if ahead.rate < inf:
            growth = TUNING.slack_growth * (1 - rate / ahead.rate)
            short = min(1.0, TUNING.slack_doubt + growth)
        doubt = max(ahead.doubt, short * doubt)
        return ahead._replace(rate=rate, doubt=doubt, free=free, fast=ahead.rate)

    def _limits(self) -> tuple[float, float, float]:
        """Return the most calls per second, and the steps in which they come (length, people)."""
        policy, limits = self._policy, (inf, 0.0, 0.0)
        if policy.batch is not None and policy.every_s is not None:
            limits = (policy.batch / policy.every_s, policy.every_s, float(policy.batch))
        if policy.max_entries is not None and policy.per_s is not None:
            entered = sum(span.entered for span in self._spans)
            no_shows = sum(span.no_shows for span in self._spans)
            # Those called who never enter do not use up the limit, so more are called.
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
        """Return how many people joined per second lately."""
        joins = Track([(span.seconds, span.joined) for span in self._spans])
        seconds = min(joins.seconds, TUNING.arrivals_s)
        return joins.within(seconds) / seconds if seconds >= 1 else 0.0

    def held(self) -> tuple[Holding, Occupants] | None:
        """Return how long places are held and since when, or None if nothing is known of it."""
        return self._occupancy.held()

    def leaving(self) -> Leaving:
        """Return how the line thins out.

        Those who close the page at once are dropped one to two `presence_s` later. So the
        losses are a share of those who came then, plus a hazard of all who wait; least squares
        separate the two.
        """
        presence_s = self._policy.presence_s
        if presence_s is None:
            return Leaving(self._hazard(0.0))
        ghosts = self._ghosts(presence_s)
        joins = Track([(span.seconds, span.joined) for span in self._spans])
        young = min(float(self._waiting), joins.within(presence_s))
        return Leaving(self._hazard(ghosts), ghosts, self._waiting - young)

    def _ghosts(self, presence_s: float) -> float:
        spans = self._spans
        no_shows = sum([span.no_shows for span in spans])
        answered = sum([span.entered for span in spans]) + no_shows
        # Before anybody could be dropped, only no-shows tell something.
        share = no_shows / answered if answered >= TUNING.few_answers else 0.0
        sums = self._sums(presence_s)
        known = min(1.0, max(0.0, sum(span.seconds for span in spans) / presence_s - 1))
        if not known or not sums:
            return share
        by_share, off_share = _fit([(gone, came) for gone, came, _ in sums])
        hazard, off_hazard = _fit([(gone, stood) for gone, _, stood in sums])
        # People who give up after a minute or two are unlikely.
        off_hazard *= 1 + hazard / TUNING.hasty_hazard
        trust = 1 / (1 + min(1e9, off_share / (off_hazard or 1e-9)) ** TUNING.fit_sharpness)
        return known * min(TUNING.most_absent, trust * by_share) + (1 - known) * share

    def _sums(self, presence_s: float) -> list[tuple[float, float, float]]:
        """Return running sums: who had gone, who was due to be dropped, how long people had waited.

        Sums since the beginning, because people are dropped in pages, and short counts vary.
        """
        gone = Track([(span.seconds, span.gone) for span in self._spans])
        came = Track([(span.seconds, span.joined) for span in self._spans])
        stood = Track([(span.seconds, span.waiting * span.seconds) for span in self._spans])
        late_s = presence_s + _lap_s(stood.people / (stood.seconds or 1), presence_s) / 2
        return [
            (
                gone.people - gone.within(ago),
                came.people - came.within(ago + late_s),
                stood.people - stood.within(ago),
            )
            for ago in range(0, int(gone.seconds), TUNING.ghost_step_s)
        ]

    def _due(self, came: Track, ago_s: float, waiting: float, presence_s: float) -> float:
        """Return how many per second were due to be dropped, if nobody who came had been there."""
        lap_s = _lap_s(waiting, presence_s)
        first_s = ago_s + presence_s
        return (came.within(first_s + lap_s) - came.within(first_s)) / lap_s

    def _hazard(self, ghosts: float) -> float:
        """Return the share of those waiting who give up per second; the last minutes count most."""
        presence_s = self._policy.presence_s or 0.0
        came = Track([(span.seconds, span.joined) for span in self._spans])
        seconds = gone = exposed = 0.0
        for span in self._spans:
            weight = exp(-seconds / TUNING.hazard_memory_s)
            due = 0.0
            if ghosts > TUNING.few_ghosts:
                due = self._due(came, seconds + span.seconds / 2, span.waiting, presence_s)
                due *= ghosts * span.seconds
            seconds += span.seconds
            gone += weight * (span.gone - due)
            exposed += weight * span.waiting * span.seconds
            if seconds >= TUNING.hazard_reach_s:
                break
        if gone <= 0 or not exposed:
            return 0.0
        return gone / (exposed * (1 + TUNING.hazard_prior_s / seconds))  # a few prove little

    def _track(self) -> Track:
        return Track([(span.seconds, span.calls) for span in self._spans if span.busy])

    def _rate(self, shortest_s: float, block_s: float) -> Rate | None:
        track = self._track()
        return track.rate(shortest_s, block_s) if track.seconds >= 1 else None

    def _measured(self, rate: Rate, hazard: float) -> Flow:
        doubt = sqrt(rate.dispersion / rate.people + TUNING.seen_rate_doubt**2)
        return Flow(rate.per_s, hazard, rate.dispersion, doubt)

    def _bounded(self, rate: float, capacity: int) -> float:
        """Keep a rate between that of full-length sessions and what the policy allows."""
        most = self._most_s()
        return min(self._limit, max(rate, 0.0 if most == inf else capacity / most))

    def _most_s(self) -> float:
        """Return the longest that a place can be held."""
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


def _fit(pairs: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Return the factor by which the second of each pair explains the first, and its error."""
    factor = sum(a * b for a, b in pairs) / (sum(b * b for _, b in pairs) or 1.0)
    return factor, sum((a - factor * b) ** 2 for a, b in pairs)


def _lap_s(waiting: float, presence_s: float) -> float:
    """Return how long `advance` takes to look at everybody once: by pages of 500."""
    return presence_s * min(1.0, (ceil(waiting / 500) or 1) / max(4, ceil(waiting / 400)))
