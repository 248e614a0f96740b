"""Rooms whose order is decided by a record elsewhere, like a desk's database."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from waitroom.engine import inputs
from waitroom.engine.lines import LineContents, LineCounts, LineMark, Settled, Spot
from waitroom.engine.protocol import calls, replies
from waitroom.engine.verbs.base import Verbs
from waitroom.models import MEMBERS_PER_SCRIPT, check_room_name


class RecordVerbs(Verbs):
    """Settled lines: brought to what the record says, and read."""

    async def settle(
        self,
        room: str,
        tickets: Sequence[Settled] = (),
        *,
        turnover: str = "",
        forced: bool = False,
    ) -> int:
        """Bring tickets to the state given by an outside record; return how many changed.

        A revision older than the last settled one changes nothing, unless it is forced; of several
        for one ticket the newest counts. Without tickets it only tells watchers that the record has
        changed.
        """
        check_room_name(room)
        inputs.check_settled(tickets, turnover)
        newest = inputs.newest(tickets)
        total = 0
        try:
            for some in _some(newest, MEMBERS_PER_SCRIPT) if newest else ((),):
                call = calls.settle(some, turnover, forced=forced)
                total += replies.settled(await self._run(room, call))
        finally:
            self._lines.forget(room)
        return total

    async def line(self, room: str) -> LineContents:
        """Return the whole content of a settled line.

        The read is not atomic. A ticket that moves meanwhile is seen twice or not at all, which
        costs only a needless `settle`.
        """
        return await self._lines.contents(room)

    async def line_counts(self, rooms: Sequence[str]) -> list[LineCounts]:
        """Return how long settled lines are."""
        return await self._lines.counts(rooms)

    def line_mark(self, room: str) -> LineMark:
        """Return the epoch and revision of a room that this process last saw."""
        return self._lines.mark(room)

    async def spot(self, room: str, ticket_id: str) -> Spot:
        """Return where a ticket of a settled line stands."""
        return await self._lines.spot(room, ticket_id)

    async def revisions(self, rooms: Sequence[str]) -> list[int]:
        """Return a number per room that differs after every change; 0 if there is no such room."""
        return await self._lines.revisions(rooms)

    def forget_line(self, room: str) -> None:
        """Forget the known length and turnover of a line, because they have changed."""
        self._lines.forget(room)


def _some(items: Sequence[Settled], most: int) -> Iterator[Sequence[Settled]]:
    for start in range(0, len(items), most):
        yield items[start : start + most]
