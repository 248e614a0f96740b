"""Latencies of a load test: a small histogram gives percentiles precisely enough."""

from __future__ import annotations

import random

from waitroom.load.latency import Latency


def test_percentiles_are_within_five_percent() -> None:
    """A histogram of any size gives precise enough percentiles, even when two are added up."""
    chance = random.Random(7)
    values = sorted(chance.lognormvariate(-5, 1) for _ in range(4_000))
    whole, part = Latency(), Latency()
    for index, value in enumerate(values):
        (whole if index % 2 else part).add(value)
    whole.merge(part)
    assert 4_000 == whole.count
    for share in (0.5, 0.9, 0.99, 0.999):
        exact = values[int(share * 4_000) - 1]
        assert exact <= (whole.at(share) or 0) * 1.0001 <= exact * 1.06
    assert values[-1] == whole.at(1)
    assert None is Latency().at(0.5)
