"""The overview of the operator page, `/admin`: all rooms, those that need a look first."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from waitroom.server.context import Here, Server
from waitroom.server.operator import fresh_boards, room_view
from waitroom.server.operator.fresh_boards import Missing
from waitroom.server.operator.page import Page, PageRoute
from waitroom.server.operator.room_view import RoomView

ROOMS_PER_PAGE = 50

router = APIRouter(prefix="/admin", route_class=PageRoute, include_in_schema=False)


@router.get("")
async def overview(
    server: Here,
    request: Request,
    after: Annotated[str | None, Query(max_length=64)] = None,
    live: bool = False,
) -> Response:
    """Show all rooms; with `live`, only what changes."""
    page = await Page.of(server, request)
    names = [name for name in await server.engine.rooms() if after is None or name > after]
    shown = names[:ROOMS_PER_PAGE]
    template = "operator/rooms_live.html" if live else "operator/rooms.html"
    return page.html(
        template,
        rooms=await views(server, shown),
        more=shown[-1] if len(names) > len(shown) else None,
        after=after,
        away=server.backend_health.away,
    )


async def views(server: Server, names: list[str]) -> list[RoomView | Missing]:
    """Return rooms for the page, as they are now."""
    return [
        room
        if isinstance(room, Missing)
        else room_view.view(room, server.backend_health.is_away(room.room))
        for room in await fresh_boards.load(server, names)
    ]
