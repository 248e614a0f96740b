"""The scenarios that come with Waitroom, and how a name or a path becomes a scenario."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from waitroom.errors import InvalidInput
from waitroom.rehearsal.scenario import Scenario
from waitroom.rehearsal.scenario_file import read, read_text

NAMES = (
    "concert-onsale",
    "booking-50",
    "per-minute-burst",
    "ghosts-90",
    "restaurant-evening",
    "prequeue",
)


def find(name: str) -> Scenario:
    """Return a ready scenario by its name, or the one in a TOML file."""
    if name in NAMES:
        text = (resources.files(__package__) / "scenarios" / f"{name}.toml").read_text("utf-8")
        return read_text(text, name, Path(), f"the scenario {name}")
    if not name.endswith(".toml") and not Path(name).exists():
        known = ", ".join(NAMES)
        raise InvalidInput("scenario", f"{name!r:.80} is not a file; ready ones are {known}")
    return read(Path(name))
