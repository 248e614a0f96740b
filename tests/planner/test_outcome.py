"""What a pace leads to, compared with a small simulation of the line."""

from __future__ import annotations

import math

import pytest

from waitroom.planner import Inputs
from waitroom.planner.outcome import outcome, slots_inside


def simulated(given: Inputs, batch: int) -> tuple[int, float]:
    """Return the most people inside and when the line is empty; whole seconds, slot by slot."""
    every, session, arrive = int(given.every_s), int(given.session_s), int(given.arrive_s)
    called, slots, most, now = 0, [], 0, 0
    while called < given.crowd:
        now += every
        come = given.crowd if now >= arrive else math.floor(given.crowd * now / arrive)
        count = min(batch, come - called)
        called += count
        slots.append((now, count))
        most = max(most, sum(n for at, n in slots if at > now - session))
    return most, now


@pytest.mark.parametrize(
    ("session_s", "every_s", "arrive_s", "batch"),
    [(300, 10, 60, 7), (300, 10, 0, 7), (95, 10, 35, 20), (20, 30, 100, 50), (60, 60, 7, 3)],
)
def test_agrees_with_a_simulation(
    session_s: float, every_s: float, arrive_s: float, batch: int
) -> None:
    """With a lasting crowd, people inside and the life of the line are exact."""
    given = Inputs(session_s=session_s, every_s=every_s, arrive_s=arrive_s, crowd=2_000)
    result = outcome(given, batch)
    assert simulated(given, batch) == (result.inside, result.queue_lives_s)
    assert result.queue_lives_s - arrive_s == result.last_wait_s


def test_little() -> None:
    """People inside on average are rate × session, and the load is theirs."""
    result = outcome(Inputs(), 1_400)
    assert (42_000, 42_000, 966) == (result.inside, result.inside_average, result.load_tps)
    assert 736.23 == outcome(Inputs(), 1_067).load_tps


def test_slots_that_do_not_divide_the_session() -> None:
    """A session of 15 s overlaps two batches of every 10 s: more than the average says."""
    given = Inputs(session_s=15, every_s=10)
    assert (2, 200, 150) == (
        slots_inside(given),
        outcome(given, 100).inside,
        outcome(given, 100).inside_average,
    )


def test_load_is_that_of_the_busiest_moment() -> None:
    """Slots longer than a session do not thin out the load: all calls come while people are in."""
    assert 736 == outcome(Inputs(every_s=1_800), 32_000).load_tps


def test_the_line_of_the_example() -> None:
    """100,000 people within a minute: five slots pass before the last one comes."""
    result = outcome(Inputs(), 1_400)
    assert (100_000 - 5 * 1_400, 720 - 60, 720) == (
        result.most_waiting,
        result.last_wait_s,
        result.queue_lives_s,
    )
    assert 93_000 * 138 == result.memory_bytes
    assert 1_400 / 3 + 91_600 / 30 == result.polls_per_s


def test_slow_arrivals_make_no_line() -> None:
    """People who come slower than the pace wait for one slot at most."""
    result = outcome(Inputs(crowd=600, arrive_s=600), 100)
    assert (10, 10, 600) == (result.most_waiting, result.last_wait_s, result.queue_lives_s)


def test_a_crowd_of_one() -> None:
    """One person is one person."""
    result = outcome(Inputs(crowd=1, arrive_s=0), 100)
    assert (1, 10) == (result.most_waiting, result.last_wait_s)
