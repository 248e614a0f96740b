"""How long people stay inside, fitted to counts alone: when people went in, and when they came out.

Single sessions are not known here. Durations are assumed to be lognormal, with a few given scatters
(sigma). For each scatter the search finds the median that best explains how many of those inside
came out when; how well it does so is the weight of that scatter. So a session that still runs
counts as longer than its age, and a room that filled at once is expected to empty at once. Pure,
stdlib only.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import erfc, exp, inf, log, sqrt
from operator import mul
from typing import NamedTuple

from waitroom.estimate.tuning import TUNING

_ROOT = sqrt(2.0)


class Counts(NamedTuple):
    """Entries and exits per bin of `width_s`, the oldest first; `before`: already inside then."""

    width_s: float
    began: Sequence[float]
    ended: Sequence[float]
    before: float


class Component(NamedTuple):
    """Sessions of one scatter `sigma`: their weight, and the logarithm of their median."""

    weight: float
    log_median: float
    sigma: float


class Fit(NamedTuple):
    """The best median for one scatter, how well it explains the counts, and its error."""

    score: float
    log_median: float
    error: float


class Sessions(NamedTuple):
    """How long sessions last; none lasts longer than `most_s`."""

    components: tuple[Component, ...]
    most_s: float
    mean_s: float
    doubt: float  # standard error of the mean, as a part of it

    def lasting(self, age_s: float) -> float:
        """Return the share of sessions that last longer than `age_s`."""
        if age_s <= 0:
            return 1.0
        if age_s >= self.most_s:
            return 0.0
        at = log(age_s)
        return sum([part * _above(at, median, sigma) for part, median, sigma in self.components])


def fitted(counts: Counts, *, rough_s: float, usual_s: float | None, most_s: float) -> Sessions:
    """Return the sessions that explain the counts; the search begins at `rough_s`.

    `usual_s` is assumed as long as the counts say little; None if nothing is known.
    """
    search = _Search(counts, usual_s, most_s)
    fits: list[Fit] = []
    start = log(rough_s)
    for sigma, _ in TUNING.scatters:
        fits.append(search.best(sigma, start))
        start = fits[-1].log_median
    components = _weighed(fits)
    means = [_mean_s(median, sigma, most_s) for _, median, sigma in components]
    mean_s = sum(part.weight * mean for part, mean in zip(components, means, strict=True))
    doubt = sum(
        part.weight * (fit.error * fit.error + log(mean / mean_s) ** 2)
        for part, mean, fit in zip(components, means, fits, strict=True)
    )
    used = tuple(part for part in components if part.weight)
    return Sessions(used, most_s, mean_s, TUNING.error_scale * sqrt(doubt))


def _weighed(fits: Sequence[Fit]) -> list[Component]:
    """Give each scatter its weight, from its prior and its score."""
    scatters, top = TUNING.scatters, max(fit.score for fit in fits)
    weights = [usual * exp(fit.score - top) for fit, (_, usual) in zip(fits, scatters, strict=True)]
    least = TUNING.least_weight * sum(weights)
    weights = [max(0.0, weight - least) for weight in weights]  # so that none drops out with a jump
    total = sum(weights)
    return [
        Component(weight / total, fit.log_median, sigma)
        for weight, fit, (sigma, _) in zip(weights, fits, scatters, strict=True)
    ]


class _Search:
    """The search for the median of one scatter after the other, in the same counts."""

    def __init__(self, counts: Counts, usual_s: float | None, most_s: float) -> None:
        self._width_s, self._began, self._ended, self._before = counts
        self._usual = None if usual_s is None else log(usual_s)
        self._most_s = most_s
        number = len(self._began)
        ages = [(i + 0.5) * self._width_s for i in range(number)]
        self._logs = [log(age) for age in reversed(ages) if age < most_s]
        self._over = [0.0] * (number - len(self._logs))
        inside, self._at_risk = self._before, []
        for began, ended in zip(self._began, self._ended, strict=True):
            self._at_risk.append(inside + began)
            inside += began - ended

    def best(self, sigma: float, start: float) -> Fit:
        """Climb from `start` to the best median, then once more in finer steps."""
        step = TUNING.median_step
        at = step * round(start / step)
        down, best, up = (self._score(at + step * i, sigma) for i in (-1, 0, 1))
        for _ in range(TUNING.most_median_steps):
            if up > best and up >= down:
                at, down, best, up = at + step, best, up, self._score(at + 2 * step, sigma)
            elif down > best:
                at, down, best, up = at - step, self._score(at - 2 * step, sigma), down, best
            else:
                break
        peak, error = _peak(down, best, up, step)
        if error == TUNING.unknown_error:
            return Fit(best, at + peak, error)
        at, near = at + peak, min(step / 2, max(step / 20, error))
        down, best, up = (self._score(at + near * i, sigma) for i in (-1, 0, 1))
        peak, error = _peak(down, best, up, near)
        return Fit(best, at + peak, error)

    def _score(self, log_median: float, sigma: float) -> float:
        """Return the logarithm of how likely the counts are.

        In each bin the model says how old those inside are, and the counts say how many they are.
        So an excess of one bin does not count again in the next. People from before the first bin
        have the ages that people inside have in a room that has been full for long.
        """
        before, at_risk, ended = self._before, self._at_risk, self._ended
        began, scale, least = self._began, 1 / (sigma * _ROOT), TUNING.unexpected
        # The youngest last, as in `began`; each bin needs that many of them, from the end.
        lasting = [*self._over, *[0.5 * erfc((at - log_median) * scale) for at in self._logs]]
        per_bin = before and before * self._width_s / _mean_s(log_median, sigma, self._most_s)
        at, last, rest, likelihood = len(began), before, before, 0.0
        for new, risk, out in zip(began, at_risk, ended, strict=True):
            at -= 1
            left = sum(map(mul, began, lasting[at:]))
            if rest > 0:
                rest -= per_bin * lasting[at]
                left += rest if rest > 0 else 0.0
            there = last + new
            if there > least:
                due = (1 - left / there) * risk + least if left < there else least
                likelihood += out * log(due) - due if out else -due
            last = left
        off = 0.0
        if self._usual is not None:
            off = (log_median - self._usual) / TUNING.usual_spread
        return TUNING.count_trust * likelihood - off * off / 2


def _above(at: float, log_median: float, sigma: float) -> float:
    return 0.5 * erfc((at - log_median) / (sigma * _ROOT))


def _mean_s(log_median: float, sigma: float, most_s: float) -> float:
    """Return the mean of lognormal durations that are cut off at `most_s`."""
    whole = exp(log_median + sigma * sigma / 2)
    if most_s == inf:
        return whole
    at = log(most_s)
    under = 1 - _above(at - sigma * sigma, log_median, sigma)
    return max(0.001, whole * under + most_s * _above(at, log_median, sigma))


def _peak(down: float, best: float, up: float, step: float) -> tuple[float, float]:
    """Return where a parabola through three points is highest, from the middle, and its width."""
    curve = down - 2 * best + up
    if curve > -1e-9:
        return 0.0, TUNING.unknown_error
    move = max(-1.0, min(1.0, (down - up) / (2 * curve)))
    return move * step, min(TUNING.unknown_error, step / sqrt(-curve))
