"""What happened in a room between two samples.

Any process makes samples every few seconds, so they may have gaps, repeat, step back in time or
start again from zero; impossible differences are left out. Pure, stdlib only.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import inf
from typing import NamedTuple

from waitroom.estimate.tuning import TUNING
from waitroom.history import sample_of
from waitroom.models import Policy, Sample, Stats


class Span(NamedTuple):
    """What happened between two samples."""

    seconds: float
    joined: int
    calls: int
    released: int  # places given back
    gone: int  # left the line without being called
    dropped: int  # of these, for silence
    entered: int
    no_shows: int
    waiting: float
    called: float
    occupied: float
    busy: bool  # people waited at both ends
    free: bool  # and there was room for them
    same: bool  # the pace was allowed to be what it is now


class Past(NamedTuple):
    """The usable past: its spans, newest first."""

    spans: list[Span]
    whole: int  # how many of the newest follow each other without a gap
    fresh: bool  # when it began, nobody who had entered had left yet


def past_of(policy: Policy, stats: Stats, samples: Sequence[Sample]) -> Past:
    """Return what happened between neighbouring samples, up to now."""
    capacity = inf if policy.capacity is None else policy.capacity
    per_minute = policy.per_minute
    points = _points(stats, samples)
    spans: list[Span] = []
    whole, first = 0, points[0]
    for a, b in pairwise(points):
        seconds = (b.at_ms - a.at_ms) / 1000
        if 0 < seconds <= TUNING.longest_gap_s and _grew(a, b):
            spans.append(_span(a, b, seconds, capacity, per_minute))
            whole += 1
        else:
            whole, first = 0, b
    spans.reverse()
    return Past(spans, whole, first.called_total <= first.called + first.inside)


def _points(stats: Stats, samples: Sequence[Sample]) -> list[Sample]:
    """Return the samples up to now, with the room's current state as the last."""
    now = sample_of(stats)
    oldest, fine = stats.now_ms - TUNING.history_s * 1000, stats.now_ms - TUNING.fine_s * 1000
    coarse_ms = TUNING.coarse_ms
    points: list[Sample] = []
    last = -1
    for sample in samples:
        at = sample.at_ms
        if at == last:
            points[-1] = sample  # of two at the same moment the later one has counted more
        elif oldest <= at <= stats.now_ms:
            if at < fine and last // coarse_ms == at // coarse_ms:
                continue
            points.append(sample)
            last = at
    if last == now.at_ms:
        points.pop()
    return [*points, now]


def _grew(a: Sample, b: Sample) -> bool:
    """Return whether the counters continue; after a loss they start again."""
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


def _span(a: Sample, b: Sample, seconds: float, capacity: float, per_minute: float | None) -> Span:
    occupied_a, occupied_b = a.called + a.inside, b.called + b.inside
    calls, no_shows = b.called_total - a.called_total, b.no_show - a.no_show
    released = max(0, calls - (occupied_b - occupied_a))
    walked = b.left - a.left + b.kicked - a.kicked
    # `left` and `kicked` count people in every state; those who gave a place back were not waiting.
    ended = b.finished - a.finished + b.expired - a.expired + no_shows
    gone = b.abandoned - a.abandoned + walked - min(walked, max(0, released - ended))
    return Span(
        seconds,
        max(0, b.joined - a.joined),
        calls,
        released,
        gone,
        min(gone, b.abandoned - a.abandoned),
        b.entered - a.entered,
        no_shows,
        (a.waiting + b.waiting) / 2,
        (a.called + b.called) / 2,
        (occupied_a + occupied_b) / 2,
        a.waiting > 0 and b.waiting > 0,
        occupied_a < capacity and occupied_b < capacity,
        (a.mode is None or a.per_minute == per_minute)
        and (b.mode is None or b.per_minute == per_minute),
    )
