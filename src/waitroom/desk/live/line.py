"""The live lines: one room of the engine per store and waiting type, brought to the record's order.

Nothing here reads the database. A line that lost its parties (a flush, a failover, a room that was
dropped) is noticed because the engine's revision jumps; `Outcome.whole` is false then.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from waitroom.desk.models import Party, Status
from waitroom.engine import Engine, LineContents, LineMark, Settled
from waitroom.errors import RoomExists, UnknownRoom
from waitroom.models import preset

POLICY = preset("desk", mode="closed", ticket_ttl_s=None)
"""Closed to visitors of the engine: the record decides who is in a line."""

STATES: Mapping[Status, str] = {
    Status.WAITING: "waiting",
    Status.CALLED: "called",
    Status.SEATED: "finished",
    Status.CANCELLED: "left",
    Status.NO_SHOW: "no_show",
}
"""The engine's word for each status, as `settle` takes it."""

_JUMP = 500_000
"""The engine's revision grows by one per change, and by far more than this after a loss."""


def room_of(store: str, line_name: str) -> str:
    """Return the name of the engine's room that holds a line."""
    return f"desk.{store}.{line_name}"


def settled(party: Party) -> Settled:
    """Return the state of a party in the record, in the engine's words."""
    return Settled(party.ticket, STATES[party.status], party.sort_key, party.revision)


class Outcome(NamedTuple):
    """What settling did: how many tickets changed, and whether the line still had all others."""

    changed: int
    whole: bool


def agrees(line: LineContents, party: Party) -> bool:
    """Return whether the live line has a party where the record has it."""
    ticket = party.ticket
    sort_key = party.sort_key if party.status is Status.WAITING else None
    return (
        line.waiting.get(ticket) == sort_key
        and (ticket in line.called) == (party.status is Status.CALLED)
        and line.revisions.get(ticket) == party.revision
    )


def is_ahead(line: LineContents, ticket: str, revision: int) -> bool:
    """Return whether the line saw a later revision than the record has: the record lost it."""
    return line.revisions.get(ticket, 0) > revision


class LiveLines:
    """Settles and reads the lines of this process's engine."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._marks: dict[str, LineMark] = {}
        """Epoch and revision of each room when it was last known to be whole."""

    async def settle(
        self,
        room: str,
        tickets: Sequence[Settled] = (),
        *,
        turnover: str = "",
        forced: bool = False,
    ) -> Outcome:
        """Bring tickets, and the turnover (as text), to what the record says."""
        made = room not in self._marks and await self._make(room)
        try:
            changed = await self.engine.settle(room, tickets, turnover=turnover, forced=forced)
        except UnknownRoom:  # an operator dropped it
            made = await self._make(room)
            changed = await self.engine.settle(room, tickets, turnover=turnover, forced=forced)
        return Outcome(changed, self._is_whole(room) and not made)

    def is_whole_at(self, room: str, mark: LineMark) -> None:
        """Remember that a line was compared with the record, and matched it."""
        self._marks[room] = max(mark, self._marks.get(room, mark))

    def _is_whole(self, room: str) -> bool:
        """Return whether the line has lost nothing since it was last compared with the record."""
        last, now = self._marks.get(room), self.engine.line_mark(room)
        self._marks[room] = now
        return last is not None and now[0] == last[0] and now[1] - last[1] < _JUMP

    async def _make(self, room: str) -> bool:
        """Create the room of a line; return whether it was missing."""
        self.engine.declare(room, POLICY)
        try:
            await self.engine.create(room, POLICY)
        except RoomExists:
            return False
        return True
