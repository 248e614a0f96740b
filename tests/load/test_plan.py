"""The plan of a load test: its limits, and how processes share it."""

from __future__ import annotations

import pytest

from waitroom.errors import InvalidInput
from waitroom.load.plan import Limits, Plan
from waitroom.load.target import Target

HERE = Target("http://127.0.0.1:1", "127.0.0.1", 1, "127.0.0.1")


@pytest.mark.parametrize(
    ("field", "changes"),
    [
        ("people", {"people": 0}),
        ("people", {"people": 1_000_001}),
        ("connections", {"connections": 10_001}),
        ("arrive", {"arrive_s": -1.0}),
        ("arrive", {"arrive_s": float("nan")}),
        ("leave", {"leave": 1.5}),
        ("no_show", {"no_show": -0.1}),
        ("for", {"longest_s": 0.0}),
        ("processes", {"processes": 3, "people": 2}),
        ("room", {"room": "no room"}),
    ],
)
def test_a_plan_has_bounds(field: str, changes: dict[str, object]) -> None:
    """Impossible values are refused by name."""
    with pytest.raises(InvalidInput) as caught:
        Plan(**{"target": HERE, "room": "x"} | changes)  # type: ignore[arg-type]
    assert field == caught.value.field


def test_limits_come_in_pairs() -> None:
    """Half a rolling limit is not a limit."""
    with pytest.raises(InvalidInput, match="together"):
        Limits(max_entries=5)


def test_a_crowd_is_split_without_loss() -> None:
    """All people and all connections are assigned, and processes draw differently."""
    plan = Plan(target=HERE, room="x", people=1_000, connections=50, processes=7)
    parts = [Plan.read(plan.share(index)) for index in range(7)]
    assert (1_000, 50) == (sum(p.people for p in parts), sum(p.connections for p in parts))
    assert 7 == len({part.seed for part in parts})
