"""How long people stay inside, told from counts alone: when people went in, and when they came out.

Single sessions are not known here, and no shape is assumed (see `cohorts`). The people who were
counted are weighed against a few that are made up beforehand, so that a room in which nobody has
left yet has an answer too, and a doubtful one. Pure, stdlib only.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import erf, exp, inf, log, sqrt
from statistics import NormalDist
from typing import NamedTuple

from waitroom.estimate import cohorts
from waitroom.estimate.tuning import TUNING

_ROOT = sqrt(2.0)


class Counts(NamedTuple):
    """Entries and exits per bin of `width_s`, oldest first; `before`: already inside then."""

    width_s: float
    began: Sequence[float]
    ended: Sequence[float]
    before: float


class Sessions(NamedTuple):
    """How long sessions last: a share `lasts[i]` ends i bins or more after the bin it began in."""

    width_s: float
    lasts: list[float]
    mean_s: float
    doubt: float  # standard error of the mean, as a share of it

    def lasting(self, age_s: float) -> float:
        """Return the share of sessions that last longer than `age_s`."""
        if age_s <= 0:
            return 1.0
        # Sessions begin anywhere in their bin, so i bins later they are half a bin younger.
        at, part = divmod(age_s / self.width_s + 0.5, 1.0)
        bin_ = int(at)
        if bin_ >= len(self.lasts) - 1:
            return 0.0
        return self.lasts[bin_] + part * (self.lasts[bin_ + 1] - self.lasts[bin_])


def sessions_of(counts: Counts, *, usual_s: float, most_s: float) -> Sessions:
    """Return the sessions that explain the counts; `usual_s` is assumed while they say little.

    Nobody has seen lengths beyond the age of the room, and chance decides where only a few were
    seen. So once some sessions have ended, a few made-up ones scatter around what they say.
    """
    width_s, began, ended, _ = counts
    used_up = TUNING.used_up_share if most_s < inf else 0.0
    usual = _hump(width_s, usual_s, TUNING.usual_spread, most_s, used_up)
    made_up = _made_up((TUNING.usual_people, usual))
    lasts = _improved(counts, made_up, TUNING.first_rounds)
    left = sum(ended)
    if left >= TUNING.few_releases:
        rough = _hump(width_s, *_shape(lasts, width_s, len(began)), most_s, 0.0)
        people = TUNING.rough_people * left / (left + TUNING.rough_people)
        made_up = _made_up((TUNING.usual_people, usual), (people, rough))
        lasts = _improved(counts, made_up, TUNING.session_rounds)
    mean_s = max(0.001, width_s * (sum(lasts) - 1.0))
    return Sessions(width_s, lasts, mean_s, _doubt(lasts, len(began), left))


def _improved(counts: Counts, made_up: list[tuple[float, float]], rounds: int) -> list[float]:
    """Return the share that reaches each age, going by the counts and some made-up people."""
    _, began, ended, before = counts
    odds = [gone / stood if stood else 1.0 for gone, stood in made_up]
    lasts = cohorts.lasting(odds)
    for _ in range(rounds):
        # Nothing is known of those from before: they have the ages of people in a full room.
        older = lasts[1:-1] if before else []
        scale = before / (sum(older) or 1.0)
        known = cohorts.Counts(began, [ended], [scale * share for share in reversed(older)])
        reach = len(began) + len(older)
        seen = cohorts.divided(known, [[*odds, *[1.0] * max(0, reach - len(odds))]])
        odds = [
            (gone + went) / (extra + stood) if extra + stood else 1.0
            for (gone, extra), went, stood in zip(
                made_up, _long(seen.went[0], len(odds)), _long(seen.stood, len(odds)), strict=True
            )
        ]
        odds[-1] = 1.0
        lasts = cohorts.lasting(odds)
    return lasts


def _shape(lasts: Sequence[float], width_s: float, number: int) -> tuple[float, float]:
    """Return the median length and the scatter around it, from the ages that were seen.

    Told from two ages: that at which a tenth had ended, and the median or the oldest that was seen.
    """
    late = min(0.5, 1.0 - lasts[min(number, len(lasts) - 1)])
    late = max(0.02, late)
    early = min(0.1, late / 2)
    at_late, at_early = (_age_at(lasts, share) * width_s for share in (late, early))
    z_late, z_early = (NormalDist().inv_cdf(share) for share in (late, early))
    least, most = TUNING.rough_spreads
    spread = max(least, min(most, log(at_late / at_early) / (z_late - z_early)))
    return at_late * exp(-spread * z_late), spread


def _age_at(lasts: Sequence[float], ended: float) -> float:
    """Return the age in bins at which a share had ended."""
    for age, (before, after) in enumerate(pairwise(lasts)):
        if 1.0 - after >= ended:
            part = (1.0 - ended - after) / (before - after) if before > after else 0.0
            return max(0.25, age + 0.5 - part)
    return float(len(lasts))


def _long(values: list[float], number: int) -> list[float]:
    return values[:number] + [0.0] * (number - len(values))


def _made_up(*groups: tuple[float, list[float]]) -> list[tuple[float, float]]:
    """Return how many made-up people end at each age, of how many; a group has people and odds."""
    number = max(len(odds) for _, odds in groups)
    sums = [(0.0, 0.0)] * number
    for people, odds in groups:
        alive = [people * share for share in cohorts.lasting(odds)]
        for age, (share, there) in enumerate(zip(odds, alive, strict=False)):
            gone, stood = sums[age]
            sums[age] = (gone + share * there, stood + there)
    return sums


def _hump(
    width_s: float, usual_s: float, spread: float, most_s: float, used_up: float
) -> list[float]:
    """Return the odds of a hump of lengths, with a share of people who use all of their time."""
    longest_s = min(most_s, usual_s * TUNING.longest_session)
    bins = max(1, min(TUNING.most_lengths, round(longest_s / width_s)))
    odds: list[float] = []
    left = lasts = 1.0
    # Beyond the usual length people leave at least as fast as with no memory of how long they are
    # there: the tail of a hump would keep a few for ever.
    least = exp(-width_s / usual_s)
    for i in range(bins):
        # Half a bin: sessions of a bin were begun anywhere in the bin that they are counted from.
        at_s = (i + 0.5) * width_s
        humped = 0.5 - 0.5 * erf(log(at_s / usual_s) / (spread * _ROOT))
        lasts = min(humped, lasts * least) if at_s > usual_s else humped
        after = used_up + (1.0 - used_up) * lasts
        odds.append(1.0 - after / left if left > 0 else 1.0)
        left = after
    return [*odds, 1.0]


def _doubt(lasts: Sequence[float], number: int, ended: float) -> float:
    """Return the error of the mean: from chance, and from lengths that nobody could see yet."""
    mean = sum(lasts) - 1.0 or 0.5
    square = 2 * sum(k * share for k, share in enumerate(lasts)) - mean - mean * mean
    people = ended + TUNING.usual_people
    chance = (max(0.0, square) / (mean * mean) + TUNING.least_scatter) / people
    unseen = sum(lasts[number + 1 :]) / mean
    guessed = TUNING.usual_people / people * TUNING.usual_spread
    return min(1.0, sqrt(chance + unseen * unseen + guessed * guessed))
