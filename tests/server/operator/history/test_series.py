"""A room's samples in the operator API."""

from __future__ import annotations

import httpx2

from tests.server.operator.calls import at, join
from tests.support.servers import wait_for


def _samples(operator: httpx2.Client, room: str) -> list[tuple[int, int]]:
    """Return how many were waiting and called, in each sample."""
    samples = operator.get(at(room, "/series")).json()["samples"]
    return [(sample["waiting"], sample["called"]) for sample in samples]


def test_series(http: httpx2.Client, operator: httpx2.Client, room: str) -> None:
    """Samples tell about the past."""
    join(http, room, 3)
    wait_for(lambda: (1, 2) in _samples(operator, room), "a sample of all of them")
    assert 422 == operator.get(at(room, "/series"), params={"minutes": 0}).status_code
