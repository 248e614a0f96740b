"""The benchmark of estimates: a room that was kept is judged as when it was played."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from bench.eta.__main__ import ask_again, figures, play
from bench.eta.rooms import drawn

SMALL = 200


@pytest.mark.sample(0)
async def test_a_kept_room_is_judged_as_when_it_was_played(tmp_path: Path) -> None:
    """The same questions get the same answers, so a change of the estimator alone shows."""
    played = await play(drawn(random.Random(3), SMALL, SMALL), 7, tmp_path)
    (again,) = ask_again(tmp_path)
    assert played == again
    assert played.observed.answers > 0
    assert figures([played]) == figures([again])
