"""Presets: a policy by one word."""

from __future__ import annotations

import pytest

from waitroom.errors import InvalidPolicy
from waitroom.models import PRESETS, Mode, preset


def test_presets() -> None:
    """Each system of the seed documents is one word."""
    assert {"batch", "manual", "slots", "desk", "per-minute"} == set(PRESETS)
    assert (1_400, 10) == (preset("batch").batch, preset("batch").every_s)
    assert Mode.MANUAL is preset("manual").mode
    assert (50, 600) == (preset("slots").capacity, preset("slots").session_s)
    assert None is preset("desk").presence_s
    assert (100, 60) == (preset("per-minute").max_entries, preset("per-minute").per_s)


def test_preset_with_changes() -> None:
    """A preset accepts changes, and stays unchanged for the next use."""
    assert 7 == preset("slots", capacity=7).capacity
    assert 50 == preset("slots").capacity


@pytest.mark.parametrize("name", ["", "SLOTS", "nope", "slots\n"])
def test_unknown_preset(name: str) -> None:
    """An unknown preset is refused together with those that exist."""
    with pytest.raises(InvalidPolicy, match="per-minute") as caught:
        preset(name)
    assert "preset" == caught.value.field
