"""The overview of the operator page, `/admin`: all rooms; those that need attention come first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from waitroom.server.context import Here, Server
from waitroom.server.operator.overview import fresh_boards
from waitroom.server.operator.overview.fresh_boards import Missing
from waitroom.server.operator.page import Page, PageRoute
from waitroom.server.operator.room import view as room_view
from waitroom.server.operator.room.view import RoomView
from waitroom.server.pages.text import Text

MOST_ROOMS = 200
"""Rooms that one page looks at and lists; the others can be found by their names."""

_LEVELS = ("bad", "warn", "ok")

router = APIRouter(prefix="/admin", route_class=PageRoute, include_in_schema=False)


class Only(StrEnum):
    """What the rooms of a list have in common: each total links to its own list."""

    NEED = "need"
    WAITING = "waiting"
    CALLED = "called"
    INSIDE = "inside"
    PER_MINUTE = "per_minute"

    def has(self, room: RoomView | Missing) -> bool:
        """Return whether a room belongs to it."""
        if self is Only.NEED or isinstance(room, Missing):
            return room.level == "bad"
        return _count(room, self) > 0


@dataclass(frozen=True, slots=True)
class Overview:
    """All rooms in the order of need, and their totals; if there are too many, some of them."""

    rooms: Sequence[RoomView | Missing]
    total_rooms: int

    @property
    def left_out(self) -> int:
        """How many rooms nobody looked at: nothing may be claimed about them."""
        return self.total_rooms - len(self.rooms)

    def total(self, only: Only) -> int:
        """Return how many people, calls or rooms there are in all."""
        if only is Only.NEED:
            return sum(only.has(room) for room in self.rooms)
        return sum(_count(room, only) for room in self.rooms if isinstance(room, RoomView))

    def matching(self, accepts: Callable[[RoomView | Missing], bool]) -> Overview:
        """Return the overview of matching rooms."""
        return Overview([room for room in self.rooms if accepts(room)], self.total_rooms)

    @property
    def busy(self) -> list[RoomView | Missing]:
        """The rooms in which something happens."""
        return [room for room in self.rooms if not room.is_quiet]

    @property
    def quiet(self) -> list[RoomView | Missing]:
        """The rooms in which nothing happens; they come last."""
        return [room for room in self.rooms if room.is_quiet]


def _count(room: RoomView, only: Only) -> int:
    count = room.per_minute if only is Only.PER_MINUTE else getattr(room.stats, only)
    return int(count)


@router.get("")
async def overview(
    server: Here,
    request: Request,
    q: Annotated[str, Query(max_length=100)] = "",
    only: Only | None = None,
    live: bool = False,
) -> Response:
    """Show all rooms, or matching ones; with `live`, only the parts that change."""
    page = await Page.of(server, request)
    query = q.strip().casefold()
    rooms = await load(server, query)
    shown = rooms.matching(
        lambda room: (
            (only is None or only.has(room)) and (not query or query in words(page.text, room))
        )
    )
    return page.html(
        "operator/overview/live.html" if live else "operator/overview/page.html",
        all=rooms,
        shown=shown,
        folds=not query and only is None,
        q=q.strip(),
        only=only,
        Only=Only,
        words=lambda room: words(page.text, room),
        away=server.backend_health.away,
        archive_error=await server.engine.outbox.archive_error(),
    )


async def load(server: Server, query: str = "") -> Overview:
    """Return all current rooms; if there are too many, those that match, then those in need."""
    names: Sequence[str] = await server.engine.rooms()
    if len(names) > MOST_ROOMS:
        names = sorted(names, key=lambda name: (query not in name, *_likely_need(server, name)))
    chosen = names[:MOST_ROOMS]
    rooms = sorted(await views(server, chosen), key=need)
    dropped = len(chosen) - len(rooms)  # only names by now
    return Overview(rooms, len(names) - dropped)


def _likely_need(server: Server, name: str) -> tuple[bool, int, int, bool, str]:
    """Return the sort key of a room that nobody has looked at for this page.

    Every process soon knows all rooms in which people wait, because it samples their estimates. So
    a room that it does not know is most likely a quiet one.
    """
    board = server.boards.known.get(name)
    waiting = board.stats.waiting if board else 0
    admitted = board.stats.called + board.stats.inside if board else 0
    return not server.backend_health.is_away(name), -waiting, -admitted, board is None, name


async def views(server: Server, names: Sequence[str]) -> list[RoomView | Missing]:
    """Return rooms for the page, as they are now."""
    return [
        room
        if isinstance(room, Missing)
        else room_view.view(room, server.backend_health.is_away(room.room))
        for room in await fresh_boards.load(server, names)
    ]


def need(room: RoomView | Missing) -> tuple[bool, int, int, str]:
    """Return the sort key of a room in the list: by level, then by people waiting, then by name."""
    waiting = room.stats.waiting if isinstance(room, RoomView) else 0
    level = 0 if room.is_quiet else _LEVELS.index(room.level)
    return room.is_quiet, level, -waiting, room.name


def words(text: Text, room: RoomView | Missing) -> str:
    """Return what a filter searches: name, title and mode, in lower case."""
    if isinstance(room, Missing):
        return room.name
    mode = room.stats.mode
    return f"{room.name} {room.title} {mode} {text(f'mode_{mode}')}".casefold()
