"""What happened between samples, and how far back it can be trusted."""

from __future__ import annotations

import dataclasses

from tests.support.room_simulator import Line
from waitroom.estimate.intervals import past_of
from waitroom.models import Mode, Policy

HALF_HOUR_S = 1800


def test_what_is_long_ago_is_looked_at_coarsely() -> None:
    """Beyond a quarter of an hour half-minutes are enough, and nobody is counted less for it."""
    line = Line(Policy(mode=Mode.MANUAL), 9000, pace=2.0)
    line.run(HALF_HOUR_S)
    spans = past_of(line.policy, line.stats(), line.samples).spans
    assert {5.0, 30.0} == {span.seconds for span in spans}
    assert line.count["called_total"] == sum(span.calls for span in spans)
    assert HALF_HOUR_S == sum(span.seconds for span in spans)


def test_a_loss_cuts_what_is_known_of_places() -> None:
    """Both sides of a loss say how fast people are called; who is inside is known since it only."""
    line = Line(Policy(capacity=50), 2000, session=lambda _: 60.0)
    line.run(300)
    line.count = dict.fromkeys(line.count, 0)
    line.run(100)
    past = past_of(line.policy, line.stats(), line.samples)
    assert 395 == sum(span.seconds for span in past.spans)
    assert 95 == sum(span.seconds for span in past.spans[: past.whole])


def test_fresh() -> None:
    """A past is fresh if nobody who got a place had given it back when it began."""
    line = Line(Policy(capacity=50), 2000, session=lambda _: 60.0)
    line.run(300)
    assert past_of(line.policy, line.stats(), line.samples).fresh
    assert not past_of(line.policy, line.stats(), line.samples[30:]).fresh


def test_of_twins_the_later_one_counts() -> None:
    """Two samples of one moment make one point, and none of the future makes any."""
    line = Line(Policy(mode=Mode.MANUAL), 900, pace=2.0)
    line.run(100)
    later = dataclasses.replace(line.samples[-1], at_ms=line.now_ms + 1)
    samples = [each for sample in line.samples for each in (sample, sample)]
    expected = past_of(line.policy, line.stats(), line.samples)
    assert expected == past_of(line.policy, line.stats(), [*samples, later])
