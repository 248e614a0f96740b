"""The recommended settings: as a policy, as a TOML block, and as the command that applies them."""

from __future__ import annotations

import math
import re
from typing import Any

from waitroom.models import PRESETS
from waitroom.planner.inputs import Inputs
from waitroom.planner.outcome import Outcome

PRESET = "batch"
_BARE = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)


def changes(given: Inputs, best: Outcome, capacity: int) -> dict[str, Any]:
    """Return what to set in addition to the preset.

    The pace keeps the target. `capacity` is the ceiling above it, not the target itself, because it
    also counts called people, who may take `enter_within_s` to come.
    """
    changes: dict[str, Any] = {
        "batch": best.batch,
        "every_s": given.every_s,
        "session_s": given.session_s,
        "capacity": capacity,
    }
    life_s = PRESETS[PRESET].ticket_ttl_s
    if life_s is not None and best.queue_lives_s > life_s:
        changes["ticket_ttl_s"] = math.ceil(best.queue_lives_s)
    return changes


def as_toml(room: str, changed: dict[str, Any]) -> str:
    """Return a block for the settings file."""
    name = room if _BARE.fullmatch(room) else f'"{room}"'
    lines = [f"[rooms.{name}]", f'preset = "{PRESET}"']
    return "\n".join([*lines, *(f"{key} = {_plain(value)}" for key, value in changed.items())])


def as_command(room: str, changed: dict[str, Any]) -> str:
    """Return the command that creates the room."""
    flags = [f"--{key.replace('_', '-')} {_plain(value)}" for key, value in changed.items()]
    return " ".join([f"waitroom room create {room} --preset {PRESET}", *flags])


def _plain(value: float) -> str:
    return f"{value:.3f}".rstrip("0").rstrip(".")
