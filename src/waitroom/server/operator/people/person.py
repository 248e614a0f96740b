"""The page of one person: where they are, why, and what is known about their way."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response

from waitroom.errors import UnknownTicket
from waitroom.models import State, check_room_name
from waitroom.operations import ways
from waitroom.operations.finding import Sighting
from waitroom.server.context import Here
from waitroom.server.operator.page import Page, PageRoute
from waitroom.server.operator.people.way import causes, gap_ms, way
from waitroom.server.operator.room import view as room_view
from waitroom.short_codes import code_of

_ENTRIES_READ = 500

router = APIRouter(prefix="/admin/rooms", route_class=PageRoute, include_in_schema=False)


@router.get("/{room}/people/{ticket_id}")
async def one_person(
    server: Here,
    request: Request,
    room: str,
    ticket_id: Annotated[str, Path(pattern="^[A-Za-z0-9_-]{16}$")],
    done: Annotated[str | None, Query(max_length=40)] = None,
) -> Response:
    """Show one person; viewers see everything except the actions."""
    page = await Page.of(server, request)
    board = await room_view.fresh(server, check_room_name(room))
    view = room_view.view(board, server.backend_health.away)
    (person,) = await server.engine.people(room, [ticket_id])
    steps = await ways.steps_of(server.engine, room, ticket_id, server.settings.archive)
    log = await server.audit.page(room=room, limit=_ENTRIES_READ)
    line = way(person, steps, log.entries, board.policy)
    if not person.known and not line:
        raise UnknownTicket("there is no record of this ticket in this room")
    last = steps.events[-1] if steps.events else None
    return page.html(
        "operator/people/person.html",
        room=view,
        person=person,
        code=code_of(ticket_id),
        sighting=Sighting(person, last),
        causes=causes(board, person, view.per_minute),
        wait=board.wait(person.position) if person.position else None,
        way=line,
        gap_ms=gap_ms(person, steps, line),
        present=person.state is not State.GONE,
        done=await server.audit.get(done) if done else None,
    )
