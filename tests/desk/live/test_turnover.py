"""How a live line stores its turnover: as a short text that can be read back."""

from __future__ import annotations

import pytest

from waitroom.desk.live.turnover import read_turnover, turnover_text
from waitroom.desk.models import Turnover


@pytest.mark.parametrize(
    "turnover",
    [
        Turnover(),
        Turnover(1, 15.0),
        Turnover(150, 3.14159),
        Turnover(150, 100 / 3),
        Turnover(9, 1440.0),
    ],
)
def test_a_turnover_survives(turnover: Turnover) -> None:
    """The live line stores a turnover in a few characters, precise enough for whole minutes."""
    kept = read_turnover(turnover_text(turnover))
    assert turnover.samples == kept.samples
    assert turnover.mean_minutes == pytest.approx(kept.mean_minutes, rel=1e-5)
    assert len(turnover_text(turnover)) < 16


@pytest.mark.parametrize("text", ["", ":", "x:y", "7", "7:", ":7", "7:7:7"])
def test_a_broken_turnover(text: str) -> None:
    """A spoilt text counts as no seatings."""
    assert Turnover() == read_turnover(text)
