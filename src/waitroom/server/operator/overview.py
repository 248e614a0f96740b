"""The overview of the operator page, `/admin`: all rooms, those that need a look first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from waitroom.server.context import Here, Server
from waitroom.server.operator import fresh_boards, room_view
from waitroom.server.operator.fresh_boards import Missing
from waitroom.server.operator.page import Page, PageRoute
from waitroom.server.operator.room_view import RoomView
from waitroom.server.pages.text import Text

MOST_ROOMS = 200
"""Rooms on one page; whoever has more finds the others by their names."""

_LEVELS = ("bad", "warn", "ok")

router = APIRouter(prefix="/admin", route_class=PageRoute, include_in_schema=False)


class Only(StrEnum):
    """What the rooms of a list have in common: each total leads to its own list."""

    NEED = "need"
    WAITING = "waiting"
    CALLED = "called"
    INSIDE = "inside"
    PER_MINUTE = "per_minute"

    def has(self, room: RoomView | Missing) -> bool:
        """Tell whether a room belongs to it."""
        if self is Only.NEED or isinstance(room, Missing):
            return room.level == "bad"
        return _count(room, self) > 0


@dataclass(frozen=True, slots=True)
class Overview:
    """All rooms in the order of need, and what they come to."""

    rooms: Sequence[RoomView | Missing]
    total_rooms: int

    def total(self, only: Only) -> int:
        """Return how many people, calls or rooms there are in all."""
        if only is Only.NEED:
            return sum(only.has(room) for room in self.rooms)
        return sum(_count(room, only) for room in self.rooms if isinstance(room, RoomView))

    def matching(self, accepts: Callable[[RoomView | Missing], bool]) -> Overview:
        """Return the overview of some of them."""
        return Overview([room for room in self.rooms if accepts(room)], self.total_rooms)

    @property
    def busy(self) -> list[RoomView | Missing]:
        """The rooms in which something happens."""
        return [room for room in self.rooms if not room.is_quiet]

    @property
    def quiet(self) -> list[RoomView | Missing]:
        """The rooms in which nothing happens, which stand at the end."""
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
    """Show all rooms, or those that match; with `live`, only what changes."""
    page = await Page.of(server, request)
    query = q.strip().casefold()
    rooms = await load(server, query)
    shown = rooms.matching(
        lambda room: (
            (only is None or only.has(room)) and (not query or query in words(page.text, room))
        )
    )
    return page.html(
        "operator/rooms_live.html" if live else "operator/rooms.html",
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
    """Return all rooms as they are now; if they are too many, those first whose name matches."""
    names = sorted(await server.engine.rooms(), key=lambda name: (query not in name, name))
    return Overview(sorted(await views(server, names[:MOST_ROOMS]), key=need), len(names))


async def views(server: Server, names: Sequence[str]) -> list[RoomView | Missing]:
    """Return rooms for the page, as they are now."""
    return [
        room
        if isinstance(room, Missing)
        else room_view.view(room, server.backend_health.is_away(room.room))
        for room in await fresh_boards.load(server, names)
    ]


def need(room: RoomView | Missing) -> tuple[bool, int, int, str]:
    """Return the place of a room in the list: by level, then by how many wait, then by name."""
    waiting = room.stats.waiting if isinstance(room, RoomView) else 0
    level = 0 if room.is_quiet else _LEVELS.index(room.level)
    return room.is_quiet, level, -waiting, room.name


def words(text: Text, room: RoomView | Missing) -> str:
    """Return what a filter looks for: name, title and mode, in small letters."""
    if isinstance(room, Missing):
        return room.name
    mode = room.stats.mode
    return f"{room.name} {room.title} {mode} {text(f'mode_{mode}')}".casefold()
