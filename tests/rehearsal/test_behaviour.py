"""What people do decides how they end: each habit, played with the real scripts."""

from __future__ import annotations

import pytest

from tests.rehearsal.scenes import scene
from waitroom.rehearsal import rehearse

ROOM = """
lasts_s = 900

[room]
capacity = 4
session_s = 30
enter_within_s = 60
presence_s = 20

[[arrivals]]
kind = "spike"
people = 12
within_s = 5

[people]
enters_after = 1
"""


@pytest.mark.parametrize(
    ("habit", "ended"),
    [
        ("session = 5", {"finished": 12}),
        ("finishes = 0", {"expired": 12}),
        ("no_shows = 1", {"no_show": 12}),
        # Four are called on arrival, and the others wait until their patience ends.
        ("session = 600\npatience = 3\nleaves = 1", {"expired": 4, "gave_up": 8}),
        ("ghosts = 1", {"no_show": 4, "gave_up": 8}),
    ],
)
async def test_habits(habit: str, ended: dict[str, int]) -> None:
    """Everybody with one habit ends in the same way, and no promise is broken by it."""
    outcome = await rehearse(scene(f"{ROOM}{habit}\n"))
    assert ended == {end: number for end, number in outcome.ended.items() if number}
    assert outcome.passed
