"""The recommended settings can be used as printed."""

from __future__ import annotations

from pathlib import Path

import pytest

from waitroom.models import preset
from waitroom.planner import Inputs, plan
from waitroom.settings import declared_rooms

GIVEN = [Inputs(), Inputs(every_s=0.5, session_s=90.25), Inputs(crowd=20_000_000)]


@pytest.mark.parametrize("given", GIVEN)
@pytest.mark.parametrize("room", ["concert", "a.b", "1-x_y"])
def test_toml_declares_the_policy(tmp_path: Path, given: Inputs, room: str) -> None:
    """The block, parsed as a settings file, is the recommended policy."""
    advice = plan(given, room)
    file = tmp_path / "waitroom.toml"
    file.write_text(advice.toml, "utf-8")
    assert {room: advice.policy} == declared_rooms(file)


def test_policy_of_the_example() -> None:
    """The pace keeps the target, the capacity is the ceiling above it."""
    wanted = preset("batch", batch=1_067, every_s=10, session_s=300, capacity=40_000)
    assert wanted == plan(Inputs()).policy


def test_tickets_live_as_long_as_the_line() -> None:
    """If the line outlives a ticket of one day, tickets get longer."""
    advice = plan(Inputs(crowd=20_000_000))
    assert advice.recommended.queue_lives_s > 86_400
    assert advice.policy.ticket_ttl_s == advice.recommended.queue_lives_s
