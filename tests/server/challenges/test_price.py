"""What a place costs: it follows the joins of the room."""

from __future__ import annotations

import dataclasses

import pytest

from waitroom.models import Sample
from waitroom.server.challenges.price import (
    CEILING,
    FLOOR,
    GRACE_MS,
    QUIET_PER_S,
    RIPE_S,
    Price,
    counters_at,
    price_of,
)

EMPTY = Sample(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)


def line(*joins: int, from_ms: int = 1_000_000) -> list[Sample]:
    """Return samples five seconds apart, between which so many joined."""
    total, samples = 0, []
    for number, more in enumerate((0, *joins)):
        total += more
        samples.append(dataclasses.replace(EMPTY, at_ms=from_ms + number * 5_000, joined=total))
    return samples


def price(*joins: int) -> Price:
    """Return the price after such joins."""
    *before, now = line(*joins)
    return price_of(before, now)


@pytest.mark.parametrize(
    ("joins_per_s", "counters"),
    [
        (0, FLOOR),
        (QUIET_PER_S, FLOOR),
        (2 * QUIET_PER_S, 2 * FLOOR),
        (50, 10 * FLOOR),
        (10_000, CEILING),
    ],
)
def test_between_floor_and_ceiling(joins_per_s: float, counters: int) -> None:
    """A quiet room asks for the floor, then the price grows with the joins up to the ceiling."""
    assert counters == counters_at(joins_per_s)


def test_a_room_without_a_past_asks_for_the_floor() -> None:
    """Neither a new room nor one that is ten seconds old has a rate."""
    assert [(FLOOR, FLOOR)] * 3 == [price(), price(5_000), price_of([], EMPTY)]


def test_joins_of_the_last_ten_seconds_count() -> None:
    """A rush raises the price within ten seconds, and its end lowers it as fast."""
    assert 10 * FLOOR == price(0, 250, 250).asked
    assert FLOOR == price(250, 250, 0, 0).asked


def test_what_was_asked_a_minute_ago_is_enough() -> None:
    """Whoever got an easier challenge within the last minute is not punished for the rush."""
    risen = [0] * 4 + [500] * 13
    assert Price(CEILING, CEILING) == price(*risen, 500)
    assert FLOOR == price(*[0] * 13, 500).least
    still = price(*risen[:-4])
    assert (CEILING, True) == (still.asked, still.least < CEILING), "the minute is not over"


def test_a_room_that_lost_its_counters_asks_for_the_floor() -> None:
    """A counter that runs backwards, because the room was dropped and made again, is no rate."""
    *before, now = line(500, 500, -1_000)
    assert FLOOR == price_of(before, now).asked


def test_a_gap_is_a_quiet_time() -> None:
    """An idle room is not sampled; joins after the gap count over all of it."""
    before = line(0, 0)
    now = dataclasses.replace(EMPTY, at_ms=before[-1].at_ms + 10 * GRACE_MS, joined=100)
    assert Price(FLOOR, FLOOR) == price_of(before, now)


def test_a_page_ripens_longer_the_dearer_a_place_is() -> None:
    """The door without a script follows the price too."""
    assert RIPE_S == (Price(FLOOR, FLOOR).ripe_s, Price(CEILING, FLOOR).ripe_s)
