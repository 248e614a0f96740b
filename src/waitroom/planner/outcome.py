"""What a pace leads to: people inside, load on the origin, the line, and what Waitroom needs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from waitroom.planner.formulas import wait_of
from waitroom.planner.inputs import Inputs, exact

BYTES_PER_WAITER = 138
"""Memory of a waiting person in the backend, measured by `make bench-engine FULL=1`."""
POLL_S = 30.0
"""Assumed: somebody far back in the line asks for their place this often."""
POLL_IN_FRONT_S = 3.0
"""Assumed: people of the next batch ask this often, to enter soon after they are called."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A pace and its results, if every session lasts its full length and nobody gives up."""

    batch: int
    every_s: float
    inside: int
    """Most people inside at once."""
    inside_average: float
    """Little's law: rate × session. Below `inside` if slots do not divide the session."""
    load_tps: float
    """Calls per second on the origin while that many are inside, spread evenly over a visit."""
    most_waiting: int
    last_wait_s: float
    queue_lives_s: float
    memory_bytes: int
    polls_per_s: float

    def wait_of(self, position: int) -> float:
        """Return the wait for a place in the line at this pace, in seconds."""
        return wait_of(position, self.batch, self.every_s)


def slots_inside(given: Inputs) -> int:
    """Return how many batches are inside at the same time."""
    return math.ceil(exact(given.session_s) / exact(given.every_s))


def outcome(given: Inputs, batch: int) -> Outcome:
    """Return what letting in `batch` people per slot leads to."""
    rate = batch / exact(given.every_s)
    inside = batch * slots_inside(given)
    waiting, last_s, lives_s = _line(given, batch)
    return Outcome(
        batch=batch,
        every_s=given.every_s,
        inside=inside,
        inside_average=float(rate * exact(given.session_s)),
        load_tps=float(inside * given.calls_per_visit / exact(given.session_s)),
        most_waiting=waiting,
        last_wait_s=last_s,
        queue_lives_s=lives_s,
        memory_bytes=waiting * BYTES_PER_WAITER,
        polls_per_s=_polls(waiting, batch),
    )


def _line(given: Inputs, batch: int) -> tuple[int, float, float]:
    """Return the most people waiting, the wait of the last one, and how long the line lasts.

    People come evenly over `arrive_s`, and slots end at N, 2 N, …. It is a bound, because the first
    slot of an open room begins with the first person.
    """
    every, arrive = exact(given.every_s), exact(given.arrive_s)
    slots = math.ceil(arrive / every)
    if given.crowd * every <= batch * arrive:  # slower than the pace: gone with the next slot
        per_slot = math.ceil(given.crowd * every / arrive)
        return min(per_slot, given.crowd), given.every_s, float(slots * every)
    lives_s = wait_of(given.crowd, batch, given.every_s)
    waiting = given.crowd - batch * max(slots - 1, 0)
    return waiting, float(Fraction(lives_s) - arrive), lives_s


def _polls(waiting: int, batch: int) -> float:
    front = min(waiting, batch)
    return front / POLL_IN_FRONT_S + (waiting - front) / POLL_S
