"""The list of people in a room, by state and by how long they have waited."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from waitroom.models import State, check_room_name
from waitroom.server.context import Here
from waitroom.server.operator.page import Page, PageRoute
from waitroom.server.operator.room import view as room_view
from waitroom.short_codes import code_of

_TICKETS_PER_PAGE = 100
_AGES_S = (0, 60, 300, 900, 3600)

router = APIRouter(prefix="/admin", route_class=PageRoute, include_in_schema=False)


@router.get("/rooms/{room}/tickets")
async def tickets(
    server: Here,
    request: Request,
    room: str,
    state: State = State.WAITING,
    after: Annotated[str | None, Query(max_length=100)] = None,
    older: Annotated[int, Query(ge=0, le=31_622_400)] = 0,
) -> Response:
    """List the people of a room in one state, waiting ones also by how long they have waited."""
    page = await Page.of(server, request)
    board = await room_view.fresh(server, check_room_name(room))
    view = room_view.view(board, server.backend_health.away)
    by_age = older > 0 and state is State.WAITING
    until_ms = view.stats.now_ms - older * 1000 if by_age else None
    listed = await server.engine.list(
        room, state, after=after, limit=_TICKETS_PER_PAGE, until_ms=until_ms
    )
    return page.html(
        "operator/people/tickets.html",
        room=view,
        state=state,
        page=listed,
        after=after,
        older=older,
        code_of=code_of,
        ages=_AGES_S,
        states=(State.WAITING, State.CALLED, State.INSIDE),
    )
