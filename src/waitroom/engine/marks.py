"""What happened to a room by itself, for its timeline: opened, ended, full, backend away and back.

The audit log has what operators did. Like history, this is a stream that no script knows: bounded,
kept for thirty days after its last entry, and deleted with the room. It is for people to look at:
programs that must miss nothing read the outbox.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from waitroom import moments
from waitroom.engine import keys
from waitroom.engine.runner import Runner

MOST = 500
LIFE_S = 30 * 86_400
KINDS = ("room.opened", "room.ended", "room.limit_reached", "backend.away", "backend.back", "gap")
_MOMENTS = {"room.opened": "opens_at", "room.ended": "ends_at"}


class Happening(Protocol):
    """An event as it goes to the outbox."""

    @property
    def type(self) -> str:
        """Its kind."""

    @property
    def at_ms(self) -> int:
        """When it was noticed."""

    @property
    def data(self) -> Mapping[str, Any]:
        """More details."""


@dataclass(frozen=True, slots=True)
class RoomMark:
    """One thing that happened; its kind is one of `KINDS`."""

    at_ms: int
    kind: str
    data: dict[str, Any]


class Marks:
    """The marks of all rooms."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    async def note(self, room: str, happenings: Sequence[Happening]) -> None:
        """Note events that belong on the timeline; a room that was dropped has none."""
        if any(event.type == "room.dropped" for event in happenings):
            return
        key = keys.room_key(room, "marks")
        marks = [mark for event in happenings if (mark := _mark(event)) is not None]
        for mark in marks:
            text = json.dumps([mark.at_ms, mark.kind, mark.data], ensure_ascii=False)
            await self._runner.command("XADD", key, "MAXLEN", "~", MOST, "*", "mark", text)
        if marks:
            await self._runner.command("EXPIRE", key, LIFE_S)

    async def read(self, room: str, since_ms: int, until_ms: int) -> tuple[RoomMark, ...]:
        """Return what happened between two moments, oldest first."""
        key = keys.room_key(room, "marks")
        # Not by id: something may be noted long after it happened.
        lines = await self._runner.command("XREVRANGE", key, "+", "-", "COUNT", MOST)
        marks = [RoomMark(*json.loads(fields[b"mark"])) for _, fields in lines]
        inside = [mark for mark in marks if since_ms <= mark.at_ms <= until_ms]
        return tuple(sorted(inside, key=lambda mark: mark.at_ms))

    async def forget(self, room: str) -> None:
        """Forget a room that was dropped."""
        await self._runner.command("UNLINK", keys.room_key(room, "marks"))


def _mark(event: Happening) -> RoomMark | None:
    """Return an event as a mark; an opening and an end stand at their scheduled times."""
    if event.type not in KINDS:
        return None
    if event.type not in _MOMENTS:
        return RoomMark(event.at_ms, event.type, dict(event.data))
    moment = event.data.get(_MOMENTS[event.type])
    if moment is None:
        return None  # an operator did it: the audit log has it
    return RoomMark(moments.to_ms(datetime.fromisoformat(moment)), event.type, {})
