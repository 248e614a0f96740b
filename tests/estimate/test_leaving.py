"""How a line thins out: who gives up at which age, and who stands there now."""

from __future__ import annotations

import random
from typing import Any

import pytest

from waitroom.estimate.intervals import Span
from waitroom.estimate.leaving import Ages, Leaving, leaving_of
from waitroom.estimate.tuning import TUNING

PRESENCE_S = 150.0


def span(**changes: Any) -> Span:
    """Return ten seconds of a line in which nothing happened."""
    names: dict[str, Any] = dict.fromkeys(Span._fields, 0) | {"seconds": 10.0, "waiting": 100.0}
    return Span(**(names | changes))


def played(minutes: int, *, ghosts: float = 0.0, left: float = 0.0, rate: int = 10) -> Leaving:
    """Return what is told of a line that `rate` people join in ten seconds, newest span first.

    A share of ghosts is dropped for silence after `presence_s`, and `left` per second gives up.
    """
    rng = random.Random(5)
    line: list[tuple[float, bool]] = []
    spans: list[Span] = []
    for step in range(6 * minutes):
        now_s = 10.0 * step
        line += [(now_s, rng.random() < ghosts) for _ in range(rate)]
        silent = [each for each in line if each[1] and now_s - each[0] > PRESENCE_S + 10]
        line = [each for each in line if each not in silent]
        stay = [each for each in line if rng.random() >= 10 * left]
        gone = len(line) - len(stay) + len(silent)
        line = stay
        spans.append(span(joined=rate, gone=gone, dropped=len(silent), waiting=len(line)))
    return leaving_of(spans[::-1], len(line), PRESENCE_S)


def test_people_who_give_up() -> None:
    """The share of those waiting who leave per second is found, at every age that was reached."""
    hazard = played(15, left=0.001).hazard
    for age_s in (10, 100, 200, 500):
        assert 0.001 == pytest.approx(hazard.between(age_s, 60) / 60, rel=0.4)


def test_ghosts_are_dropped_at_their_age() -> None:
    """Who closed the page at once is expected to go at that age, and older ones to stay."""
    leaving = played(15, ghosts=0.4)
    assert 0.0 == pytest.approx(leaving.hazard.between(0, PRESENCE_S), abs=0.02)
    assert 0.6 == pytest.approx(leaving.hazard.staying(0, 2 * PRESENCE_S), abs=0.12)
    assert 0.85 < leaving.hazard.staying(4 * PRESENCE_S, 300)


def test_everybody_in_line_has_an_age() -> None:
    """The cohorts are the line as it is, the oldest first."""
    leaving = played(10, left=0.001)
    assert sorted((age for _, age in leaving.cohorts), reverse=True) == [
        age for _, age in leaving.cohorts
    ]
    assert 0 < leaving.cohorts[-1].age_s < 30 < 500 < leaving.cohorts[0].age_s


def test_before_anybody_gave_up() -> None:
    """Nobody is expected to give up, but that is in doubt at ages that nobody has reached."""
    leaving = leaving_of([span(joined=100)], 100, PRESENCE_S)
    assert 0.0 == pytest.approx(leaving.hazard.between(0, 1_000), abs=1e-4)
    assert 0.1 < leaving.doubt.between(0, 1_000)
    assert played(15).doubt.between(0, 300) < 0.2 * leaving.doubt.between(0, 300)


def test_other_rooms_are_believed_at_first() -> None:
    """What others showed counts in a room that has shown nothing, and not in one that has."""
    number = len(TUNING.leaving_ages)
    others = Ages([6.0] * number, [0.0] * number, [6_000.0] * number)
    new = leaving_of([span(joined=10, waiting=10.0)], 10, PRESENCE_S, others)
    assert 0.5 < new.hazard.between(0, 1_000)
    spans = [span(joined=10, waiting=10.0 * i) for i in range(120)]
    known = leaving_of(spans, 1_200, PRESENCE_S, others)
    assert known.hazard.between(0, 100) < 0.5 * new.hazard.between(0, 100)


def test_nobody_waits() -> None:
    """An empty line has no cohorts, with and without a past."""
    assert [] == leaving_of([], 0, None).cohorts
    assert [] == leaving_of([span()], 0, PRESENCE_S).cohorts
