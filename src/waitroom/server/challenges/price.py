"""What a place costs at the moment: in how many counters the solution of a proof of work lies.

It follows the joins per second of the room, as its samples tell them: the same in every process,
and nothing is kept for it. All tuned numbers of priced entry are here; `make bench-fair` measures
them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from waitroom.engine import NarrowDoor
from waitroom.models import Sample

COST = 300
"""Iterations per counter. A counter takes a native solver 70 µs and a browser 100: with far fewer
iterations a browser would do little but overhead. Issuing tries one counter too, mostly ahead of
time (`puzzles.py`); all of issuing and verifying together takes about 100 µs."""

FLOOR, CEILING = 1_000, 20_000
"""Counters, of which half are tried on average: 35 ms of a native core, and 0.7 s."""

QUIET_PER_S = 5.0
"""Up to so many joins per second the floor is asked. Beyond, the price grows with them, so that
whoever joins twice as often pays four times as much. The ceiling is reached at 100 per second. It
is a multiple of the floor, so that puzzles that were made ahead fit every price."""

WINDOW_MS = 10_000
"""The joins of this time count: two samples."""

GRACE_MS = 60_000
"""A price that was asked within this time is enough: a slow phone may need half of it at
the ceiling. An older challenge must cost what a place costs now, so that nobody can solve hundreds
in the quiet minutes before a rush."""

RIPE_S = (15, 60)
"""How long a page ripens that cannot solve anything, at the floor and at the ceiling."""

RIPENING = NarrowDoor(own=6, around=60)
"""How many pages of an address, and of the network around it, may begin to ripen, and how many of
them get a place in a room. Time is no price to somebody with many connections, so this is what
makes the door without a script narrow. The room counts places, for all processes together; each
process counts beginnings, so that most people who would wait in vain are told at once."""


class Price(NamedTuple):
    """The counters that a new challenge asks for, and the fewest that are still enough."""

    asked: int
    least: int

    @property
    def ripe_s(self) -> int:
        """How long a page ripens at this price."""
        share = (self.asked - FLOOR) / (CEILING - FLOOR)
        return round(RIPE_S[0] + share * (RIPE_S[1] - RIPE_S[0]))


def counters_at(joins_per_s: float) -> int:
    """Return the price at a rate of joins."""
    return min(CEILING, FLOOR * max(1, round(joins_per_s / QUIET_PER_S)))


def price_of(samples: Sequence[Sample], now: Sample) -> Price:
    """Return the price after these samples; `now` is the newest."""
    asked = least = _counters(samples, now)
    for sample in reversed(samples):
        if sample.at_ms < now.at_ms - GRACE_MS or least == FLOOR:
            break
        least = min(least, _counters(samples, sample))
    else:
        least = FLOOR  # the room is younger than that
    return Price(asked, least)


def _counters(samples: Sequence[Sample], at: Sample) -> int:
    for sample in reversed(samples):
        span_ms = at.at_ms - sample.at_ms
        if span_ms >= WINDOW_MS:
            return counters_at((at.joined - sample.joined) * 1000 / span_ms)
    return FLOOR
