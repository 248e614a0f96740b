"""A room: its name, and its policy as stored."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from waitroom.errors import InvalidRoomName
from waitroom.models.policy import Policy

ROOM_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", re.ASCII)


@lru_cache(1_024)  # called for every join and check, for a few rooms
def _is_room_name(name: str) -> bool:
    return ROOM_NAME.fullmatch(name) is not None


def check_room_name(name: str) -> str:
    """Return `name` if it may be a room's name, otherwise say which rule it breaks."""
    if not isinstance(name, str) or not _is_room_name(name):
        raise InvalidRoomName(
            "room",
            f"{name!r:.80} is not a room name; use 1 to 64 letters, digits, '-', '_' or '.', "
            "and start with a letter or digit",
        )
    return name


@dataclass(frozen=True, slots=True)
class Room:
    """A room as stored: its policy, and how often that was changed."""

    name: str
    policy: Policy
    version: int
    epoch: int
    message_at_ms: int | None = None
    """When the message of the policy was set; None if there is none, or it is unknown."""


@dataclass(frozen=True, slots=True)
class PolicyChange:
    """A room immediately before and after its policy was changed."""

    old: Room
    new: Room

    @property
    def fields(self) -> dict[str, tuple[Any, Any]]:
        """The fields that differ, each with its old and its new value."""
        old, new = self.old.policy.as_dict(), self.new.policy.as_dict()
        return {name: (old[name], new[name]) for name in old if old[name] != new[name]}
