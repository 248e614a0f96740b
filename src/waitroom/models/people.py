"""People of a room: what they learn about their ticket, and what operators see of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from waitroom.models.words import Reason, State

MEMBERS_PER_SCRIPT = 500
"""Most people that one script call may touch, so that every script takes only milliseconds."""


class TicketView(NamedTuple):
    """What a visitor may know about their ticket; the same from join, poll, enter and the rest.

    A tuple, because one is made for every poll, and a frozen dataclass takes six times as long.

    `position` is 1 at the head, and None if it means nothing or is hidden: before a draw, and while
    the room is `restoring` its line after a loss, when not everybody is back. A `stale` view
    repeats the last answer, because the server has not answered yet.
    """

    room: str
    id: str
    state: State
    ticket: str
    position: int | None = None
    waiting: int = 0
    enter_by_ms: int | None = None
    session_ends_at_ms: int | None = None
    sid: int | None = None
    reason: Reason | None = None
    new: bool = False
    stale: bool = False
    restoring: bool = False


@dataclass(frozen=True, slots=True)
class Advanced:
    """What one `advance` did, and when the next one is due (None: nothing is foreseeable)."""

    called: int
    expired: int
    no_shows: int
    abandoned: int
    waiting: int
    more: bool
    due_ms: int | None
    now_ms: int


@dataclass(frozen=True, slots=True)
class Reinstated:
    """The place that somebody got back, and how many wait with them."""

    place: int
    position: int
    waiting: int


@dataclass(frozen=True, slots=True)
class Listed:
    """One line of `list`: `seen_ms` is when last seen, `until_ms` the deadline of its state."""

    id: str
    state: State
    place: int | None = None
    seen_ms: int | None = None
    until_ms: int | None = None
    sid: int | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """A page of `list`; `after` is the cursor of the next one, None on the last.

    `ordered` is False before the opening of a draw: then tickets come by id and without a place,
    one may come twice, and a page may be short even if others follow.
    """

    tickets: tuple[Listed, ...]
    after: str | None
    ordered: bool = True


@dataclass(frozen=True, slots=True)
class Person:
    """What a room knows of one ticket; times are wall-clock ms, None if unknown."""

    room: str
    id: str
    state: State
    reason: Reason | None = None
    """Why they are gone, if that is noted; events may say more."""

    place: int | None = None
    position: int | None = None
    seen_ms: int | None = None
    until_ms: int | None = None
    sid: int | None = None
    defers: int = 0
    kicked_ms: int | None = None
    dropped_ms: int | None = None
    banned: bool = False
    known: bool = True
    """Whether any key mentions them; otherwise only events may."""
