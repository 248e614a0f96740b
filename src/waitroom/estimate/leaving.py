"""How a line thins out: who gives up, by how long they have stood in it.

Counts say how many came, were called and gave up, but not who; `cohorts` divides them by age. Who
left said so, at any age. Who just went away was dropped for silence, which takes at least
`presence_s`, so people who closed the page at once show as a likelihood at that age. What other
rooms of the same process showed is assumed beforehand. Pure, stdlib only.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate, pairwise
from math import exp
from typing import NamedTuple

from waitroom.estimate import cohorts
from waitroom.estimate.intervals import Span
from waitroom.estimate.rates import Track
from waitroom.estimate.tuning import TUNING

_PROVEN = TUNING.leaving_ages.index(1.0)
_ALMOST_NONE = 1e-9


class Cohort(NamedTuple):
    """People who came together; `age_s` is how long they have stood in line."""

    people: float
    age_s: float


class Hazard(NamedTuple):
    """A rate per second by age: `rates[i]` from `edges[i]` on."""

    edges: tuple[float, ...]
    rates: tuple[float, ...]
    sums: tuple[float, ...]  # of the rates over the ages up to each edge

    def between(self, age_s: float, more_s: float) -> float:
        """Return the sum of the rates from an age on, for `more_s`."""
        return self._until(age_s + more_s) - self._until(age_s)

    def staying(self, age_s: float, more_s: float) -> float:
        """Return the share of people of an age who are still there after `more_s`."""
        return exp(-self.between(age_s, more_s))

    def _until(self, age_s: float) -> float:
        at = bisect_right(self.edges, age_s) - 1
        return self.sums[at] + (age_s - self.edges[at]) * self.rates[at]


class Ages(NamedTuple):
    """Who gave up by age: by leaving, for silence, and for how many seconds people stood there."""

    left: Sequence[float]
    dropped: Sequence[float]
    stood_s: Sequence[float]


class Leaving(NamedTuple):
    """Who stands in line, oldest first, how they give up, and how sure that is."""

    cohorts: list[Cohort]
    hazard: Hazard
    doubt: Hazard  # standard error of the hazard
    seen: Ages


def leaving_of(
    spans: Sequence[Span], waiting: int, presence_s: float | None, elsewhere: Ages | None = None
) -> Leaving:
    """Return how a line thins out, from the spans of its past, newest first."""
    step_s = presence_s or TUNING.usual_presence_s
    edges = tuple(age * step_s for age in TUNING.leaving_ages)
    width_s, counts = _counts(spans, waiting)
    groups = [
        bisect_right(edges, (age + 0.25) * width_s) - 1
        for age in range(len(counts.came) + len(counts.before))
    ]
    seen = Ages(*([0.0] * len(edges) for _ in range(3)))
    line: list[float] = []
    for _ in range(TUNING.leaving_rounds):
        odds = [[rates[group] for group in groups] for rates in _rates(seen, elsewhere)]
        line, stood, went = cohorts.divided(counts, odds)
        left, dropped = (_grouped(people, groups, len(edges)) for people in went)
        stood_s = [width_s * people for people in _grouped(stood, groups, len(edges))]
        seen = Ages(left, dropped, stood_s)
    rates = [a + b for a, b in zip(*_rates(seen, elsewhere), strict=True)]
    doubts = [_doubt(rate, seconds) for rate, seconds in zip(rates, seen.stood_s, strict=True)]
    return Leaving(
        _scaled(line, width_s, waiting), hazard_of(edges, rates), hazard_of(edges, doubts), seen
    )


def hazard_of(edges: tuple[float, ...], rates: Sequence[float]) -> Hazard:
    """Return rates by age, with their sums."""
    widths = (b - a for a, b in pairwise(edges))
    parts = (rate * width for rate, width in zip(rates, widths, strict=False))
    return Hazard(edges, tuple(rates), tuple(accumulate(parts, initial=0.0)))


def _counts(spans: Sequence[Span], waiting: int) -> tuple[float, cohorts.Counts]:
    seconds = sum([span.seconds for span in spans])
    number = max(1, min(TUNING.cohorts, int(seconds / TUNING.cohort_s)))
    width_s = max(0.001, seconds / number)
    joined, calls, left, dropped = (
        Track(list(zip([span.seconds for span in spans], column, strict=True))).bins(
            width_s, number
        )
        for column in (
            [span.joined for span in spans],
            [span.calls for span in spans],
            [span.gone - span.dropped for span in spans],
            [span.dropped for span in spans],
        )
    )
    before = max(0.0, waiting - sum(joined) + sum(calls) + sum(left) + sum(dropped))
    return width_s, cohorts.Counts(joined, [left, dropped], [before], calls)


def _grouped(values: Sequence[float], groups: Sequence[int], number: int) -> list[float]:
    sums = [0.0] * number
    for value, group in zip(values, groups, strict=True):
        sums[group] += value
    return sums


def _rates(seen: Ages, elsewhere: Ages | None) -> tuple[list[float], list[float]]:
    """Return the shares per second that leave and that are dropped, by age."""
    left = _fading(seen.left, seen.stood_s, elsewhere and elsewhere.left, elsewhere)
    dropped = _fading(seen.dropped, seen.stood_s, elsewhere and elsewhere.dropped, elsewhere)
    dropped[:_PROVEN] = [0.0] * _PROVEN  # nobody is silent for longer than they were there
    return left, dropped


def _fading(
    gone: Sequence[float],
    stood_s: Sequence[float],
    others: Sequence[float] | None,
    elsewhere: Ages | None,
) -> list[float]:
    """Return rates by age; an age that nobody has reached follows the one before it."""
    rates: list[float] = []
    # Nobody is taken to give up before anybody did; but a rate of zero could never rise again.
    prior_s, before = TUNING.hazard_prior_s, _ALMOST_NONE
    for at, (people, seconds) in enumerate(zip(gone, stood_s, strict=True)):
        guess = max(_ALMOST_NONE, before * TUNING.hazard_fading)
        if others is not None and elsewhere is not None:
            guess = (others[at] + guess * prior_s) / (elsewhere.stood_s[at] + prior_s)
        before = (people + guess * prior_s) / (seconds + prior_s)
        rates.append(before)
    return rates


def _doubt(rate: float, stood_s: float) -> float:
    """Return the standard error of a rate: large at ages that hardly anybody has reached."""
    unseen = TUNING.hazard_prior_s / (TUNING.hazard_prior_s + stood_s)
    return TUNING.hazard_drift * rate + unseen * (TUNING.unseen_hazard + rate)


def _scaled(line: Sequence[float], width_s: float, waiting: int) -> list[Cohort]:
    """Return the line with as many people as there are."""
    total, newest = sum(line), len(line) - 1
    if total < 0.5:
        return [Cohort(float(waiting), 0.0)] if waiting else []
    return [
        Cohort(people * waiting / total, (newest - at + 0.5) * width_s)
        for at, people in enumerate(line)
        if people > 0
    ]
