"""What happens in a room, in order."""

from __future__ import annotations

from dataclasses import dataclass

from waitroom.models.words import Reason


@dataclass(frozen=True, slots=True)
class Event:
    """What one script did to people, or to the room.

    `called` (with the places that people had), `entered`, `ended` (with a reason), `reinstated`,
    `cleared`, `placed` by a record elsewhere; `room.opened`, `room.ended`, `room.changed` (with a
    version).
    """

    kind: str
    at_us: int
    ids: tuple[str, ...]
    reason: Reason | None = None
    places: tuple[int, ...] = ()
    version: int | None = None


@dataclass(frozen=True, slots=True)
class EventPage:
    """Events in order; `cursor` is where the next page begins."""

    cursor: str
    events: tuple[Event, ...]
