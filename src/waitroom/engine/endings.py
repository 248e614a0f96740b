"""Endings that this process caused, remembered so that a loss of state does not undo them.

A ticket and a pass stay valid after somebody has left, finished or was kicked. The room knows about
the ending; if it forgets, processes tell it again. What they remember is bounded.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator

from waitroom.models import MEMBERS_PER_SCRIPT, Reason

MOST_KEPT = MEMBERS_PER_SCRIPT
"""How many kicks, and how many other endings, are remembered per room: the newest."""


FOREVER = 9_000_000_000_000_000
"""The moment of a kick that is a ban; `_common.lua` has the same."""


REINSTATED = "reinstated"
"""Stands for "has a place again" where endings have a reason; `reinstating.lua` has it too."""


STRANGER = "stranger"
"""The reason of a kick of somebody whom the room did not know; `strangers.lua` notes it."""


def reinstatements(notes: str) -> list[str]:
    """Return the newest reinstatements that the room has noted, as endings."""
    words = notes.split()
    return [
        f"{ticket_id} {REINSTATED} {place} 0 0 {at_ms}"
        for ticket_id, place, at_ms in zip(words[::3], words[1::3], words[2::3], strict=True)
    ]


def kick(ticket_id: str, moment_ms: int, place: int, offset_ms: int, note: str) -> str:
    """Return the ending of somebody kicked at a moment in room time; a ban lasts for ever.

    `note` is what the room has noted about `place`.
    """
    at_ms = moment_ms if moment_ms >= FOREVER else moment_ms - offset_ms
    reason = STRANGER if note == f"1:{place}" else Reason.KICKED
    return f"{ticket_id} {reason} {place} 0 0 {at_ms}"


class Endings:
    """The newest endings of a room, as its scripts write them.

    Kicks have a list of their own: nobody can make the process forget them by joining and leaving.
    The kicks and bans of everybody, which the room was asked for, are a third list. Reinstated
    people are a fourth: their place comes after the one that ended, so both may be sent, in any
    order.
    """

    __slots__ = ("_kicks", "_others", "_reinstated", "everybodys_kicks")

    def __init__(self) -> None:
        self.everybodys_kicks: list[str] = []
        self._kicks: deque[str] = deque(maxlen=MOST_KEPT)
        self._others: deque[str] = deque(maxlen=MOST_KEPT)
        self._reinstated: dict[str, str] = {}

    def add(self, endings: Iterable[str]) -> None:
        """Remember what a reply says."""
        for ending in endings:
            ticket_id, reason, _ = ending.split(" ", 2)
            if reason == REINSTATED:
                self._reinstate(ticket_id, ending)
            else:
                self._reinstated.pop(ticket_id, None)
                kicked = reason in (Reason.KICKED, STRANGER)
                (self._kicks if kicked else self._others).append(ending)

    def hear(self, kicks: list[str], reinstated: Iterable[str]) -> None:
        """Take over what the room says of everybody: who is kicked now, and who was reinstated."""
        self.everybodys_kicks = kicks
        out = {kick.partition(" ")[0] for kick in kicks}
        for ending in reinstated:
            ticket_id = ending.partition(" ")[0]
            if ticket_id not in out:  # otherwise they were kicked after it
                self._reinstate(ticket_id, ending)
        for ticket_id in out:
            self._reinstated.pop(ticket_id, None)

    def _reinstate(self, ticket_id: str, ending: str) -> None:
        self._reinstated.pop(ticket_id, None)
        self._reinstated[ticket_id] = ending
        if len(self._reinstated) > MOST_KEPT:
            del self._reinstated[next(iter(self._reinstated))]

    def batches(self) -> Iterator[str]:
        """Yield all endings, kicks first, in portions that one script call can take."""
        for endings in (
            self._kicks,
            self.everybodys_kicks,
            self._others,
            self._reinstated.values(),
        ):
            if endings:
                yield " ".join(endings)
