"""Endings that this process brought about, remembered so that a loss of state does not undo them.

A ticket and a pass verify also after somebody has left, finished or was kicked. The room knows
that; if it forgets, processes tell it again. What they remember is bounded.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator

from waitroom.models import MEMBERS_PER_SCRIPT, Reason

MOST_KEPT = MEMBERS_PER_SCRIPT
"""How many kicks, and how many other endings, are remembered per room; the newest."""


FOREVER = 9_000_000_000_000_000
"""The moment of a kick that is a ban; `_common.lua` has the same."""


def kick(ticket_id: str, moment_ms: int, place: int, offset_ms: int) -> str:
    """Return the ending of who was kicked at a moment in room time; a ban is for ever."""
    at_ms = moment_ms if moment_ms >= FOREVER else moment_ms - offset_ms
    return f"{ticket_id} {Reason.KICKED} {place} 0 0 {at_ms}"


class Endings:
    """The newest endings of a room, as its scripts write them.

    Kicks have a list of their own: nobody makes them forgotten by joining and leaving. Kicks and
    bans of everybody, which the room was asked for, are a third.
    """

    __slots__ = ("_kicks", "_others", "everybodys_kicks")

    def __init__(self) -> None:
        self.everybodys_kicks: list[str] = []
        self._kicks: deque[str] = deque(maxlen=MOST_KEPT)
        self._others: deque[str] = deque(maxlen=MOST_KEPT)

    def add(self, endings: Iterable[str]) -> None:
        """Remember what a reply told."""
        for ending in endings:
            _, reason, _ = ending.split(" ", 2)
            (self._kicks if reason == Reason.KICKED else self._others).append(ending)

    def batches(self) -> Iterator[str]:
        """Yield all, joined into as much as one script call takes, kicks first."""
        for endings in (self._kicks, self.everybodys_kicks, self._others):
            if endings:
                yield " ".join(endings)
