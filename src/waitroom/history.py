"""What the series of a room says about its pace: who is called, who gives up, how sure that is.

Samples are made every few seconds by any process, so they may lie apart, repeat, step back in time
or begin again from zero; what cannot be true between two of them is left out. Time in which nobody
could be called (an empty line, a pause, a hold) says nothing about the pace and is left out too.
Pure, stdlib only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from itertools import pairwise
from math import ceil, exp, inf, log, sqrt
from typing import NamedTuple

from waitroom.models import Mode, Policy, Sample, Stats
from waitroom.windows import AGREE, Seen, Track

DRIFT = 0.3
"""How wrong the share of people who give up may be, as a part of itself."""

_SURE = 0.03  # doubt of a pace that the room itself keeps
_UNSURE = 0.08  # doubt of a pace that was only seen: it may change meanwhile
_SHORTEST_S = 60.0  # window that a change of pace has to fill before it is believed in full
_LONGEST_S = 3600.0
_BLOCK_S = 15.0
_STOPPED_S = 15.0
_EVERY_S = 30
_HASTY = 0.002
_SHARP = 20  # one of two explanations is chosen, but no answer may jump when they change places
_FORGET_S = 500.0  # how fast people give up changes as they wait longer
_GAP_S = 300.0  # samples further apart than this were made by a room that we know nothing of
_FIELDS = tuple(spec.name for spec in fields(Sample))


class Flow(NamedTuple):
    """How the line moves: `free` people at `fast` per second, then the others at `rate`."""

    rate: float
    hazard: float = 0.0  # share of those waiting who give up per second
    dispersion: float = 1.0  # variance of a count of calls ÷ its mean; 1 = Poisson
    doubt: float = _UNSURE  # standard error of `rate`, as a part of it
    grain_s: float = 0.0  # calls come in steps of this length
    free: float = 0.0
    fast: float = inf
    ghosts: float = 0.0  # share of newcomers who were never there: they fall out by themselves
    proven: float = inf  # people in front who have been there for long enough


class Leaving(NamedTuple):
    """How a line thins out: a share of newcomers who are not there, and a hazard of all others."""

    hazard: float = 0.0
    ghosts: float = 0.0
    proven: float = inf


class _Span(NamedTuple):
    """What happened between two samples."""

    seconds: float
    joined: int
    calls: int
    released: int  # places given back
    gone: int  # left the line without being called
    entered: int
    no_shows: int
    waiting: float
    called: float
    occupied: float
    busy: bool  # people waited at both ends
    free: bool  # and there was room for them


class History:
    """The usable past of a room, the newest first, under the policy that it has now."""

    def __init__(self, policy: Policy, stats: Stats, samples: Sequence[Sample]) -> None:
        self._policy = policy
        self._occupied = stats.called + stats.inside
        self._waiting = stats.waiting
        self._spans = _spans(policy, _points(stats, samples))
        self._limit, self._step_s, self._step = self._limits()
        self._strike_out_pauses()

    def flow(self) -> Flow | None:
        """Return how the line moves, or None if nothing can be said."""
        leaving = self._leaving()
        flow = self._flow(leaving.hazard)
        return flow and flow._replace(ghosts=leaving.ghosts, proven=leaving.proven)

    def _flow(self, hazard: float) -> Flow | None:
        policy = self._policy
        if policy.mode is Mode.MANUAL:  # whoever calls by hand is bound by no pace
            seen = self._seen(_SHORTEST_S, _BLOCK_S)
            return self._as_seen(seen, hazard) if seen and seen.people else None
        if policy.capacity is None:
            return self._paced(hazard) if self._limit < inf else Flow(inf)
        if self._is_full(policy.capacity):
            return self._full(policy.capacity, hazard)
        return self._filling(policy.capacity, hazard)

    def _is_full(self, capacity: int) -> bool:
        """Tell whether places are what people wait for."""
        if self._occupied < 0.9 * capacity or self._limit == inf:
            return self._occupied >= 0.9 * capacity
        seconds = 0.0
        for span in self._spans:
            seconds += span.seconds
            if not span.free or seconds > max(_SHORTEST_S, 2 * self._step_s):
                return not span.free
        return self._occupied >= capacity

    def slot_s(self) -> tuple[float | None, float]:
        """Return how long a place is held, from call to end, and the doubt of it.

        Little's law: people inside ÷ people leaving per second. Until some have left it is
        `session_s`, and never more, unless sessions can be renewed.
        """
        session_s = self._policy.session_s
        reach_s = max(900.0, 2 * (session_s or 0))
        held = released = seconds = 0.0
        for span in self._spans:
            seconds += span.seconds
            held += span.occupied * span.seconds
            released += span.released
            if seconds >= reach_s:
                break
        if released < 5:
            return session_s, 0.6
        slot_s = max(0.001, min(held / released, self._most_s()))
        # Long sessions end late: before one whole has gone by, short ones are all that was seen.
        early = 0.5 * max(0.0, 1 - seconds / (2 * slot_s))
        return slot_s, min(0.6, 1 / sqrt(released) + 0.05 + early)

    def turn_s(self, least: int) -> float | None:
        """Return the mean time between two calls while people waited, of the last 150 calls."""
        track = self._track()
        if track.people < least:
            return None
        people = min(track.people, 150.0)
        seconds = track.seconds if track.people == people else track.time_of(people)
        return max(0.001, seconds / people)

    def _paced(self, hazard: float) -> Flow:
        """A room with a pace, which may be short of what its policy allows."""
        limit, step_s = self._limit, self._step_s
        kept = Flow(limit, hazard, 1.0, _SURE, step_s)
        seen = self._seen(step_s * ceil(max(_SHORTEST_S, 2 * step_s) / step_s), self._block_s())
        if seen is None or seen.seconds < 2 * step_s:
            return kept
        due = limit * seen.seconds
        if seen.people >= due - self._step - AGREE * sqrt(seen.dispersion * due) - 1:
            return kept
        if not seen.people:
            return kept._replace(doubt=0.5)
        return self._as_seen(seen, hazard)._replace(grain_s=step_s)

    def _full(self, capacity: int, hazard: float) -> Flow | None:
        """Every place is taken, so the line moves as they are given back."""
        slot_s, doubt = self.slot_s()
        track = self._track(full=True)
        # Places taken together end together: then the line stands still, and moves at once.
        uneven = track.dispersion(_BLOCK_S)
        shortest_s = max(_SHORTEST_S, slot_s or 0.0) if uneven > 3 else _SHORTEST_S
        block_s = max(_BLOCK_S, min(shortest_s, _LONGEST_S / 4) / 2)
        seen = Seen(0, 0, 1)
        if track.seconds >= 1:
            seen = track.pace(min(1800.0, shortest_s), block_s)
        if slot_s is not None:  # until some have left, they count like a few who left on time
            seen = Seen(seen.people + 3, seen.seconds + 3 * slot_s / capacity, seen.dispersion)
        if not seen.people:
            return None
        rate = self._bounded(seen.rate, capacity)
        if track.people < 5:
            return Flow(rate, hazard, 1.0, doubt, 0.1 * (slot_s or 0.0))
        burst_s = max(0.0, 0.8 * (uneven - 1) / rate)
        flow = self._as_seen(seen, hazard)
        grain_s = min(burst_s, slot_s or inf)
        return flow._replace(rate=rate, grain_s=grain_s, doubt=max(flow.doubt, doubt))

    def _filling(self, capacity: int, hazard: float) -> Flow | None:
        """Places are free: they go as fast as the pace allows, the rest wait for others to end."""
        ahead = self._paced(hazard) if self._limit < inf else Flow(inf, hazard)
        slot_s, doubt = self.slot_s()
        if slot_s is None:  # nothing is known of sessions, so only the pace counts
            return ahead if ahead.rate < inf else None
        free = float(capacity - self._occupied)
        if ahead.rate < inf:
            # Until it is full the room holds n with n' = rate - n / slot_s; most = where that ends.
            most = ahead.rate * slot_s
            if most <= 1.001 * capacity:
                return ahead
            free = most * log((most - self._occupied) / (most - capacity))
        rate = min(ahead.rate, self._bounded(capacity / slot_s, capacity))
        # Where places would hardly ever be short, it does not matter how long they are held.
        short = 1.0 if ahead.rate == inf else min(1.0, 0.2 + 3 * (1 - rate / ahead.rate))
        doubt = max(ahead.doubt, short * doubt)
        return ahead._replace(rate=rate, doubt=doubt, free=free, fast=ahead.rate)

    def _limits(self) -> tuple[float, float, float]:
        """Return the most calls per second, and the steps in which they come (length, people)."""
        policy, found = self._policy, (inf, 0.0, 0.0)
        if policy.batch is not None and policy.every_s is not None:
            found = (policy.batch / policy.every_s, policy.every_s, float(policy.batch))
        if policy.max_entries is not None and policy.per_s is not None:
            entered = sum(span.entered for span in self._spans)
            no_shows = sum(span.no_shows for span in self._spans)
            # Who is called and never enters does not use the limit up, so more are called.
            extra = min(5.0, 1 + no_shows / entered) if entered >= 20 else 1.0
            # A call uses the limit up from the moment it is made until its entry leaves the window.
            held_s = self._called_s() if entered >= 20 else 0.0
            rate = policy.max_entries / (policy.per_s + held_s) * extra
            if rate < found[0]:
                step_s = found[1] or policy.per_s
                found = (rate, step_s, rate * step_s)
        return found

    def _strike_out_pauses(self) -> None:
        """Mark runs in which people waited, had room, and nobody was called for several steps."""
        policy = self._policy
        if policy.mode is Mode.MANUAL or (self._limit == inf and policy.capacity is None):
            return
        longest = max(_STOPPED_S, 3 * self._step_s)
        start, seconds = 0, 0.0
        for at, span in enumerate([*self._spans, None]):
            if span is not None and span.busy and span.free and not span.calls:
                seconds += span.seconds
                continue
            if seconds >= longest:
                for i in range(start, at):
                    self._spans[i] = self._spans[i]._replace(busy=False)
            start, seconds = at + 1, 0.0

    def _leaving(self) -> Leaving:
        """Return how the line thins out.

        Who closes the page at once is dropped between one and two `presence_s` later. So what goes
        is a share of those who came then, and a hazard of all who wait; least squares tell which.
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
        entered, no_shows = (
            sum(each)
            for each in ([span.entered for span in spans], [span.no_shows for span in spans])
        )
        # Before any could be dropped, those who were called and did not come are all that tells.
        share = no_shows / (entered + no_shows) if entered + no_shows >= 20 else 0.0
        sums = self._sums(presence_s)
        known = min(1.0, max(0.0, sum(span.seconds for span in spans) / presence_s - 1))
        if not known or not sums:
            return share
        by_share, off_share = _fit([(gone, came) for gone, came, _ in sums])
        hazard, off_hazard = _fit([(gone, stood) for gone, _, stood in sums])
        off_hazard *= 1 + hazard / _HASTY  # people who give up after a minute or two are unlikely
        trust = 1 / (1 + min(1e9, off_share / (off_hazard or 1e-9)) ** _SHARP)
        return known * min(0.98, trust * by_share) + (1 - known) * share

    def _sums(self, presence_s: float) -> list[tuple[float, float, float]]:
        """Return who had gone, who may have fallen out, and who had stood how long, by and by.

        Sums since the beginning: people are dropped by the page, which a minute's count shows.
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
            for ago in range(0, int(gone.seconds), _EVERY_S)
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
            weight = exp(-seconds / _FORGET_S)
            due = 0.0
            if ghosts:
                due = self._due(came, seconds + span.seconds / 2, span.waiting, presence_s)
                due *= ghosts * span.seconds
            seconds += span.seconds
            gone += weight * (span.gone - due)
            exposed += weight * span.waiting * span.seconds
            if seconds >= 1800:
                break
        if gone <= 0 or not exposed:
            return 0.0
        return gone / (exposed * (1 + 30 / seconds))  # a first few seconds prove little

    def _track(self, full: bool = False) -> Track:
        busy = (span for span in self._spans if span.busy)
        return Track([(span.seconds, span.released if full else span.calls) for span in busy])

    def _seen(self, shortest_s: float, block_s: float, full: bool = False) -> Seen | None:
        track = self._track(full)
        return track.pace(shortest_s, block_s) if track.seconds >= 1 else None

    def _as_seen(self, seen: Seen, hazard: float) -> Flow:
        doubt = sqrt(seen.dispersion / seen.people + _UNSURE * _UNSURE)
        return Flow(seen.rate, hazard, seen.dispersion, doubt)

    def _bounded(self, rate: float, capacity: int) -> float:
        """Keep a pace between what sessions that run to their end give and what the policy lets."""
        most = self._most_s()
        return min(self._limit, max(rate, 0.0 if most == inf else capacity / most))

    def _most_s(self) -> float:
        """Return the longest that a place can be held."""
        policy = self._policy
        if policy.session_s is None or policy.enter_within_s is None or policy.renewable:
            return inf
        return policy.session_s + min(policy.enter_within_s, self._called_s())

    def _called_s(self) -> float:
        """Return how long people take to enter: Little's law again, called ÷ calls per second."""
        answered = sum(span.entered + span.no_shows for span in self._spans)
        if answered < 20:
            return self._policy.enter_within_s or 0.0
        return sum(span.called * span.seconds for span in self._spans) / answered

    def _block_s(self) -> float:
        return self._step_s * ceil(_BLOCK_S / self._step_s) if self._step_s else _BLOCK_S


def _fit(pairs: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Return the factor by which the second of each pair explains the first, and its error."""
    factor = sum(a * b for a, b in pairs) / (sum(b * b for _, b in pairs) or 1.0)
    return factor, sum((a - factor * b) ** 2 for a, b in pairs)


def _lap_s(waiting: float, presence_s: float) -> float:
    """Return how long `advance` takes to look at everybody once: by pages of 500."""
    return presence_s * min(1.0, (ceil(waiting / 500) or 1) / max(4, ceil(waiting / 400)))


def _points(stats: Stats, samples: Sequence[Sample]) -> list[Sample]:
    """Return the samples up to now, and the room as it is now as the last of them."""
    live = {"at_ms": stats.now_ms, "waiting": stats.waiting}
    live |= {"called": stats.called, "inside": stats.inside}
    now = Sample(**{name: live.get(name, stats.counters.get(name, 0)) for name in _FIELDS})
    oldest = stats.now_ms - _LONGEST_S * 1000
    found: list[Sample] = []
    for one in (*samples, now):
        if found and found[-1].at_ms == one.at_ms:
            found[-1] = one  # of two in one moment the later one has counted more
        elif oldest <= one.at_ms <= stats.now_ms:
            found.append(one)
    return found


def _spans(policy: Policy, points: Sequence[Sample]) -> list[_Span]:
    """Return what happened between neighbours, the newest first."""
    places = inf if policy.capacity is None else policy.capacity
    found = []
    for a, b in pairwise(points):
        seconds = (b.at_ms - a.at_ms) / 1000
        if 0 < seconds <= _GAP_S and _grew(a, b):
            found.append(_span(a, b, seconds, places))
    found.reverse()
    return found


def _grew(a: Sample, b: Sample) -> bool:
    """Tell whether the counters run on; after a loss they begin again."""
    return (
        a.called_total <= b.called_total
        and a.entered <= b.entered
        and a.finished <= b.finished
        and a.left <= b.left
        and a.kicked <= b.kicked
        and a.expired <= b.expired
        and a.no_show <= b.no_show
        and a.abandoned <= b.abandoned
    )


def _span(a: Sample, b: Sample, seconds: float, places: float) -> _Span:
    held_a, held_b = a.called + a.inside, b.called + b.inside
    calls, no_shows = b.called_total - a.called_total, b.no_show - a.no_show
    released = max(0, calls - (held_b - held_a))
    walked = b.left - a.left + b.kicked - a.kicked
    # `left` and `kicked` count people of every state; those that gave a place back did not wait.
    ended = b.finished - a.finished + b.expired - a.expired + no_shows
    gone = b.abandoned - a.abandoned + walked - min(walked, max(0, released - ended))
    return _Span(
        seconds=seconds,
        joined=max(0, b.joined - a.joined),
        calls=calls,
        released=released,
        gone=gone,
        entered=b.entered - a.entered,
        no_shows=no_shows,
        waiting=(a.waiting + b.waiting) / 2,
        called=(a.called + b.called) / 2,
        occupied=(held_a + held_b) / 2,
        busy=a.waiting > 0 and b.waiting > 0,
        free=held_a < places and held_b < places,
    )
