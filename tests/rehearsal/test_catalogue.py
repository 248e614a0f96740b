"""A scenario by its name or its file."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rehearsal.scenes import PACED
from waitroom.errors import InvalidInput
from waitroom.rehearsal.catalogue import NAMES, find


@pytest.mark.parametrize("name", NAMES)
def test_ready_ones_have_their_name(name: str) -> None:
    """Each name leads to the scenario of that name."""
    assert name == find(name).name


def test_a_file(tmp_path: Path) -> None:
    """A path leads to the file, whose name is the scenario's."""
    (tmp_path / "mine.toml").write_text(PACED)
    scenario = find(str(tmp_path / "mine.toml"))
    assert ("mine", 8, 180) == (scenario.name, scenario.seed, scenario.expected)


def test_neither() -> None:
    """A typo is answered with the existing names."""
    with pytest.raises(InvalidInput, match="'booking-5' is not a file; ready ones are concert-"):
        find("booking-5")
