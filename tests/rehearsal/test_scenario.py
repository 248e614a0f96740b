"""Who comes when: streams of people, and the same rehearsal with another number of them."""

from __future__ import annotations

import random

import pytest

from waitroom.models import Policy
from waitroom.rehearsal.scenario import Arrivals, Change, Origin, Scenario

STREAMS = {
    "spike": (Arrivals("spike", at_s=10, people=300, within_s=60), 10, 70),
    "poisson": (Arrivals("poisson", at_s=10, per_s=3, for_s=100), 10, 110),
    "waves": (Arrivals("waves", people=100, waves=3, every_s=50, within_s=20), 0, 120),
    "csv": (Arrivals("csv", at_s=5, moments=((0, 100), (30, 200))), 5, 35),
}


@pytest.mark.parametrize("kind", STREAMS)
def test_a_stream(kind: str) -> None:
    """As many come as expected, all within their time, and twice as many when scaled."""
    stream, first_s, last_s = STREAMS[kind]
    times = list(stream.times(random.Random(1)))
    assert 300 == stream.expected
    assert 300 == pytest.approx(len(times), abs=50 if kind == "poisson" else 0)
    assert first_s <= min(times) <= max(times) <= last_s
    assert 600 == stream.scaled(2).expected


def test_a_rush_comes_early() -> None:
    """Two thirds of a spike come in its first third."""
    times = Arrivals("spike", people=3_000, within_s=90).times(random.Random(1))
    assert 2_000 == pytest.approx(sum(at_s < 30 for at_s in times), rel=0.05)


def test_times_are_in_order_and_end_with_the_rehearsal() -> None:
    """Streams are mixed; people who would come after the end do not come."""
    scenario = Scenario(
        name="x",
        title="",
        policy=Policy(),
        arrivals=(STREAMS["spike"][0], STREAMS["poisson"][0]),
        lasts_s=60,
    )
    times = list(scenario.times(random.Random(1)))
    assert sorted(times) == times
    assert times[-1] < 60


def test_scaled() -> None:
    """Limits grow with the crowd, in the policy, in changes and at the origin; times stay."""
    scenario = Scenario(
        name="x",
        title="",
        policy=Policy(capacity=40, batch=3, every_s=10),
        arrivals=(STREAMS["waves"][0],),
        changes=(Change(60, {"capacity": 20, "mode": "paused"}), Change(90, {}, admit=4)),
        origin=(Origin(0, 50), Origin(9, 1)),
    ).scaled(150)
    policy = scenario.policy
    assert (20, 2, 10) == (policy.capacity, policy.batch, policy.every_s)
    assert [{"capacity": 10, "mode": "paused"}, {}] == [each.fields for each in scenario.changes]
    assert [0, 2] == [change.admit for change in scenario.changes]
    assert [25, 1] == [step.takes for step in scenario.origin]  # never nobody at all
