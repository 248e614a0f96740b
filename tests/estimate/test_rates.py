"""Counts over windows of time: any window, its scatter, and the rate of a room that changed."""

from __future__ import annotations

import pytest

from waitroom.estimate.rates import Track

# Counted back from now: 10 people in the last 10 s, nobody in the 20 s before, 6 in 30 s before.
TRACK = Track([(10.0, 10.0), (20.0, 0.0), (30.0, 6.0)])
BLOCK_S = 15.0


@pytest.mark.parametrize(
    ("seconds", "people"), [(0, 0), (5, 5), (10, 10), (25, 10), (45, 13), (60, 16), (900, 16)]
)
def test_within(seconds: float, people: float) -> None:
    """A window that ends inside a span gets its part of it; one beyond the past gets all."""
    assert people == TRACK.within(seconds)


@pytest.mark.parametrize(("people", "seconds"), [(0, 0), (1, 10), (10, 10), (11, 60), (99, 60)])
def test_time_of(people: float, seconds: float) -> None:
    """The last people came within whole spans; more than there were, within all of the past."""
    assert seconds == TRACK.time_of(people)


def test_bins() -> None:
    """Bins begin with the oldest, and together hold everybody."""
    assert [3.0, 3.0, 0.0, 10.0] == TRACK.bins(15.0, 4)


@pytest.mark.parametrize(
    ("counts", "low", "high"),
    [
        ([5] * 30, 0.0, 0.2),  # a clockwork
        ([9] * 15 + [1] * 15, 0.0, 0.5),  # a clockwork that changed once
        ([0, 10] * 15, 4.0, 99.0),  # all or nobody
        ([0] * 30, 1.0, 1.0),  # nobody: nothing is known
        ([5], 1.0, 1.0),  # one block: nothing is known
    ],
)
def test_dispersion(counts: list[float], low: float, high: float) -> None:
    """Scatter is told from neighbours, so a changed rate is not a noisy one."""
    track = Track([(BLOCK_S, people) for people in counts])
    assert low <= track.dispersion(BLOCK_S) <= high


def test_a_steady_room_is_judged_by_all_of_its_past() -> None:
    """Where every window agrees, the longest one counts."""
    rate = Track([(5.0, 10.0)] * 720).rate(60.0, BLOCK_S)
    assert [2.0, 3600.0] == pytest.approx([rate.per_s, rate.seconds])


def test_a_changed_room_is_judged_by_the_time_since() -> None:
    """Ten minutes at one per second count, not the hour at five before them."""
    rate = Track([(5.0, 5.0)] * 120 + [(5.0, 25.0)] * 600).rate(60.0, BLOCK_S)
    assert 1.0 == pytest.approx(rate.per_s, rel=0.1)
    assert rate.seconds < 1200
