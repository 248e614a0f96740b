"""How long people stay inside, told from counts alone: when some went in, and when some came out.

Nobody's own session is known here. Lengths are taken to be lognormal, of a few given scatters; for
each of these the median is sought that best explains how many came out when, of those who were
inside then. How well it does is the weight of that scatter. So sessions that still run count for
what they are, longer than their age, and a room that filled up at once is seen to empty at once.
Pure, stdlib only.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import erfc, exp, inf, log, sqrt
from operator import mul
from typing import NamedTuple

USUAL = 0.3
"""People are taken to finish in about so much of `session_s`, before any of them has."""

_USUAL_SPREAD = 0.6  # by which factor that may be wrong, in logarithms
_SCATTERS = ((0.2, 0.15), (0.35, 0.25), (0.5, 0.25), (0.7, 0.25), (0.95, 0.1))  # with weights
_TRUST = 0.2  # of what a bin says: people come and go together, and habits change
_SURER = 0.75  # so the error that it shows is larger than the one that came true
_LEAST = 0.02  # kinds that weigh less are left out
_STEP = 0.3  # between two medians that are tried, in logarithms
_MOST_STEPS = 10
_UNKNOWN = 0.5
_ROOT = sqrt(2.0)
_FLOOR = 1e-3  # of people: what nobody expected happens too


class Counts(NamedTuple):
    """Who went in and came out per bin of `width_s`, the oldest first; `before`: inside by then."""

    width_s: float
    began: Sequence[float]
    ended: Sequence[float]
    before: float


class Kind(NamedTuple):
    """Sessions of one scatter: its weight, and the logarithm of their median."""

    weight: float
    middle: float
    sigma: float


class Sessions(NamedTuple):
    """How long sessions last; none lasts longer than `most_s`."""

    kinds: tuple[Kind, ...]
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
        return sum([part * _above(at, middle, sigma) for part, middle, sigma in self.kinds])


def fitted(counts: Counts, *, rough_s: float, usual_s: float | None, most_s: float) -> Sessions:
    """Return the sessions that explain the counts; `rough_s` is where the search begins.

    `usual_s` is what they are taken for as long as the counts say little; None if nothing is known.
    """
    fit = _Fit(counts, usual_s, most_s)
    found, start = [], log(rough_s)
    for sigma, _ in _SCATTERS:
        found.append(fit.best(sigma, start))
        start = found[-1][1]
    kinds = _weighed(found)
    means = [_mean_s(middle, sigma, most_s) for _, middle, sigma in kinds]
    mean_s = sum(kind.weight * each for kind, each in zip(kinds, means, strict=True))
    doubt = sum(
        kind.weight * (error * error + log(each / mean_s) ** 2)
        for kind, each, (_, _, error) in zip(kinds, means, found, strict=True)
    )
    some = tuple(kind for kind in kinds if kind.weight)
    return Sessions(some, most_s, mean_s, _SURER * sqrt(doubt))


def _weighed(found: Sequence[tuple[float, float, float]]) -> list[Kind]:
    """Give each scatter its weight, by how usual it is and by its score."""
    top = max(score for score, _, _ in found)
    weights = [
        usual * exp(score - top) for (score, _, _), (_, usual) in zip(found, _SCATTERS, strict=True)
    ]
    least = _LEAST * sum(weights)
    weights = [max(0.0, weight - least) for weight in weights]  # so that none goes with a jump
    total = sum(weights)
    return [
        Kind(weight / total, middle, sigma)
        for weight, (_, middle, _), (sigma, _) in zip(weights, found, _SCATTERS, strict=True)
    ]


class _Fit:
    """The search for the median of one scatter after the other, in the same counts."""

    def __init__(self, counts: Counts, usual_s: float | None, most_s: float) -> None:
        self._width_s, self._began, self._ended, self._before = counts
        self._usual = None if usual_s is None else log(usual_s)
        self._most_s = most_s
        number = len(self._began)
        ages = [(i + 0.5) * self._width_s for i in range(number)]
        self._logs = [log(age) for age in reversed(ages) if age < most_s]
        self._over = [0.0] * (number - len(self._logs))
        inside, self._held = self._before, []
        for began, ended in zip(self._began, self._ended, strict=True):
            self._held.append(inside + began)
            inside += began - ended

    def best(self, sigma: float, start: float) -> tuple[float, float, float]:
        """Return the best score, the median that has it, and how far off that may be (as logs)."""
        at = _STEP * round(start / _STEP)
        down, best, up = (self._score(at + _STEP * i, sigma) for i in (-1, 0, 1))
        for _ in range(_MOST_STEPS):
            if up > best and up >= down:
                at, down, best, up = at + _STEP, best, up, self._score(at + 2 * _STEP, sigma)
            elif down > best:
                at, down, best, up = at - _STEP, self._score(at - 2 * _STEP, sigma), down, best
            else:
                break
        peak, error = _peak(down, best, up, _STEP)
        if error == _UNKNOWN:
            return best, at + peak, error
        at, near = at + peak, min(_STEP / 2, max(_STEP / 20, error))
        down, best, up = (self._score(at + near * i, sigma) for i in (-1, 0, 1))
        peak, error = _peak(down, best, up, near)
        return best, at + peak, error

    def _score(self, middle: float, sigma: float) -> float:
        """Return the logarithm of how likely the counts are.

        Those inside are as old as the model says, and as many as there were; so what one bin had
        too many does not count again in the next. People from before the first bin are taken
        to have been there for as long as anybody, at any moment, has been.
        """
        before, held, ended = self._before, self._held, self._ended
        began, scale = self._began, 1 / (sigma * _ROOT)
        # The youngest last, as `began` has them; each bin needs so many of them, from the end.
        lasting = [*self._over, *[0.5 * erfc((at - middle) * scale) for at in self._logs]]
        per_bin = before and before * self._width_s / _mean_s(middle, sigma, self._most_s)
        at, last, rest, found = len(began), before, before, 0.0
        for new, risk, out in zip(began, held, ended, strict=True):
            at -= 1
            left = sum(map(mul, began, lasting[at:]))
            if rest > 0:
                rest -= per_bin * lasting[at]
                left += rest if rest > 0 else 0.0
            there = last + new
            if there > _FLOOR:
                due = (1 - left / there) * risk + _FLOOR if left < there else _FLOOR
                found += out * log(due) - due if out else -due
            last = left
        off = 0.0 if self._usual is None else (middle - self._usual) / _USUAL_SPREAD
        return _TRUST * found - off * off / 2


def _above(at: float, middle: float, sigma: float) -> float:
    return 0.5 * erfc((at - middle) / (sigma * _ROOT))


def _mean_s(middle: float, sigma: float, most_s: float) -> float:
    """Return the mean of lognormal lengths, of which those above `most_s` end there."""
    whole = exp(middle + sigma * sigma / 2)
    if most_s == inf:
        return whole
    at = log(most_s)
    under = 1 - _above(at - sigma * sigma, middle, sigma)
    return max(_FLOOR, whole * under + most_s * _above(at, middle, sigma))


def _peak(down: float, best: float, up: float, step: float) -> tuple[float, float]:
    """Return where a parabola through three points is highest, from the middle, and its width."""
    curve = down - 2 * best + up
    if curve > -1e-9:
        return 0.0, _UNKNOWN
    move = max(-1.0, min(1.0, (down - up) / (2 * curve)))
    return move * step, min(_UNKNOWN, step / sqrt(-curve))
