"""Counts of people over windows of time, and the rate that follows from them. Pure.

The rate is that of a minute, smoothed with longer windows if they agree with it, as in Belomestny
and Spokoiny's stagewise aggregation. It needs no model of how a rate changes.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate, pairwise
from math import sqrt
from typing import NamedTuple

from waitroom.estimate.tuning import TUNING


class Rate(NamedTuple):
    """A measured rate: `people` within `seconds`."""

    people: float
    seconds: float
    dispersion: float

    @property
    def per_s(self) -> float:
        """Return people per second."""
        return self.people / self.seconds


class Track:
    """Seconds and people counted back from now, so that any window is two look-ups."""

    def __init__(self, spans: Sequence[tuple[float, float]]) -> None:
        self._seconds = list(accumulate([seconds for seconds, _ in spans], initial=0.0))
        self._people = list(accumulate([people for _, people in spans], initial=0.0))
        self.seconds, self.people = self._seconds[-1], self._people[-1]

    def within(self, seconds: float) -> float:
        """Return how many people there were in the last `seconds`."""
        at = bisect_left(self._seconds, seconds)
        if at >= len(self._seconds):
            return self.people
        if at == 0:
            return 0.0
        start, end = self._seconds[at - 1], self._seconds[at]
        part = (seconds - start) / (end - start)
        return self._people[at - 1] + part * (self._people[at] - self._people[at - 1])

    def time_of(self, people: float) -> float:
        """Return the seconds that the last `people` took."""
        at = bisect_left(self._people, people)
        return self.seconds if at >= len(self._people) else self._seconds[at]

    def bins(self, width_s: float, number: int) -> list[float]:
        """Return the people per bin of time, oldest first; the last bin ends now."""
        edges = [self.within(width_s * i) for i in range(number, -1, -1)]
        return [a - b for a, b in pairwise(edges)]

    def dispersion(self, block_s: float) -> float:
        """Return variance ÷ mean of the people per block.

        Neighbouring blocks are compared, so that a changed rate does not look like a noisy one.
        """
        number = min(TUNING.most_blocks, int(self.seconds / block_s))
        counts = self.bins(block_s, number)
        total = sum(counts)
        if number < 2 or total <= 0:
            return 1.0
        squares = sum((b - a) ** 2 for a, b in pairwise(counts)) / 2
        measured = squares / (number - 1) / (total / number)
        prior = TUNING.dispersion_prior  # a few blocks prove little
        return (measured * (number - 1) + prior) / (number - 1 + prior)

    def rate(self, shortest_s: float, block_s: float) -> Rate:
        """Return the rate of the last minute, smoothed with every longer window that agrees.

        A steady room is judged by an hour, a changed room by the time since the change. The weight
        of a longer window falls smoothly with its difference; otherwise estimates would jump.
        """
        spread = max(
            self.dispersion(block_s), self.dispersion(4 * block_s), TUNING.least_dispersion
        )
        # In a slow room a minute has too few people to say anything.
        enough_s = self.time_of(TUNING.window_people)
        seconds = max(shortest_s, min(enough_s, TUNING.longest_start * shortest_s))
        seconds = min(seconds, self.seconds)
        rate, weight = self.within(seconds) / seconds, seconds
        fade = TUNING.agreement_fade
        while seconds < self.seconds:
            seconds = min(TUNING.window_growth * seconds, self.seconds)
            longer = self.within(seconds) / seconds
            error = TUNING.agreement * sqrt(spread * max(rate * weight, spread)) / weight
            share = max(0.0, min(1.0, fade - fade * abs(longer - rate) / error))
            rate += share * (longer - rate)
            weight += share * (seconds - weight)
        return Rate(rate * weight, weight, spread)
