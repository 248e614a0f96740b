"""How long sessions last, told from counts of those who went in and came out."""

from __future__ import annotations

import math
import random
from itertools import pairwise

import pytest

from waitroom.estimate.durations import Counts, Sessions, sessions_of
from waitroom.estimate.tuning import TUNING


def counted(
    starts_s: list[float], until_s: float, width_s: float, *, median_s: float, sigma: float
) -> Counts:
    """Return what is seen of lognormal sessions that began at these moments."""
    rng = random.Random(7)
    ends_s = [at + median_s * math.exp(rng.gauss(0, sigma)) for at in starts_s]
    number = round(until_s / width_s)
    began, ended = [0.0] * number, [0.0] * number
    for counts, moments in ((began, starts_s), (ended, ends_s)):
        for at in moments:
            if at < until_s:
                counts[int(at / width_s)] += 1
    return Counts(width_s, began, ended, 0.0)


def spread(many: int, within_s: float) -> list[float]:
    """Return moments at even distances."""
    return [within_s * i / many for i in range(many)]


@pytest.mark.parametrize("sigma", [0.25, 0.5, 0.8])
@pytest.mark.parametrize("until_s", [400.0, 1200.0])
def test_a_room_that_filled_at_once(sigma: float, until_s: float) -> None:
    """Also while many sessions still run, their mean is found: those are longer than their age."""
    counts = counted(spread(300, 30), until_s, until_s / 20, median_s=300, sigma=sigma)
    fit = sessions_of(counts, usual_s=600, most_s=math.inf)
    assert 300 * math.exp(sigma * sigma / 2) == pytest.approx(fit.mean_s, rel=0.2)
    assert fit.doubt < 0.4


def test_a_steady_room_of_unknown_age() -> None:
    """Where nobody knows since when people are inside, it is people inside ÷ people leaving."""
    counts = Counts(50.0, [10.0] * 24, [10.0] * 24, 60.0)
    fit = sessions_of(counts, usual_s=100, most_s=math.inf)
    assert 300 == pytest.approx(fit.mean_s, rel=0.1)


def test_nothing_was_seen() -> None:
    """Until anybody could have left, what is usual is all that there is to say, with much doubt."""
    counts = Counts(10.0, [5.0] * 3, [0.0] * 3, 0.0)
    fit = sessions_of(counts, usual_s=TUNING.usual_share * 1000, most_s=1000)
    # Half of those who do not use up all of their time.
    half = (1 + TUNING.used_up_share) / 2
    assert half == pytest.approx(fit.lasting(TUNING.usual_share * 1000), abs=0.03)
    assert fit.doubt > 0.25


def test_nobody_left_yet() -> None:
    """The longer nobody leaves, the longer sessions are taken to be, up to the longest allowed."""
    means = [
        sessions_of(
            Counts(seconds / 10, [50.0] + [0.0] * 9, [0.0] * 10, 0.0), usual_s=180, most_s=600
        ).mean_s
        for seconds in (60, 150, 300, 500)
    ]  # fmt: skip
    assert all(shorter < longer for shorter, longer in pairwise(means))
    assert 520 < means[-1] <= 600


def test_two_kinds_of_people() -> None:
    """Where three of ten stay for 20 s and the others for 300, mean and both humps are found."""
    rng = random.Random(7)
    starts = spread(2_000, 1_800)
    ends = [at + (20 if rng.random() < 0.3 else 300) for at in starts]
    began, ended = ([0.0] * 72 for _ in range(2))
    for counts, moments in ((began, starts), (ended, ends)):
        for at in moments:
            if at < 1_800:
                counts[int(at / 25)] += 1
    fit = sessions_of(Counts(25.0, began, ended, 0.0), usual_s=180, most_s=600)
    assert 216 == pytest.approx(fit.mean_s, rel=0.05)
    assert 0.7 == pytest.approx(fit.lasting(150), abs=0.15)
    assert fit.lasting(400) < 0.2


def test_lasting() -> None:
    """All last longer than nothing, half longer than the median, none longer than was counted."""
    sessions = Sessions(100.0, [1.0, 0.8, 0.2, 0.0], 100.0, 0.1)
    assert [1.0, 0.5, 0.0] == [sessions.lasting(age_s) for age_s in (0, 100, 300)]
    shares = [sessions.lasting(age_s) for age_s in range(0, 400, 7)]
    assert shares == sorted(shares, reverse=True)
