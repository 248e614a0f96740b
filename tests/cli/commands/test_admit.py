"""`admit`: the first people in line."""

from __future__ import annotations

import pytest

from tests.cli.conftest import Cli
from waitroom.models import Mode, Policy


def test_admit(cli: Cli, room: str) -> None:
    """The first people are called up to the capacity, beyond it only with force."""
    cli.fill(room, Policy(mode=Mode.MANUAL, capacity=4), 10)
    assert "Called 3 people; 7 still waiting.\n" == cli.text("admit", room, 3)
    assert "Called 1 person of the 5 asked for; 6 still waiting.\n" == cli.text("admit", room, 5)
    code, text = cli.error("admit", room, 1)
    assert (1, True) == (code, "leaves no room now; raise it, wait, or force it" in text)
    reply = cli.json("admit", room, 2, "--force", "--op-id", "doors")
    expected = {"name": room, "asked": 2, "called": 2, "waiting": 4, "op_id": "doors"}
    assert expected == reply
    assert expected == cli.json("admit", room, 2, "--force", "--op-id", "doors")


@pytest.mark.parametrize("count", ["0", "-5", "1000001"])
def test_admit_refuses_odd_counts(cli: Cli, room: str, count: str) -> None:
    """For a count out of range, the error names the range."""
    code, text = cli.error("admit", room, count)
    assert (2, f"Error: count: {count} is not allowed; it takes 1 to 1000000\n") == (code, text)
