"""Notes on the timeline of a room: by a form on its page, and in the operator API."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Response
from pydantic import BaseModel, Field

from waitroom.models import check_room_name
from waitroom.operations import notes
from waitroom.server.context import Here
from waitroom.server.http.auth import Operator
from waitroom.server.http.openapi import RoomName
from waitroom.server.operator.api import Strict, api_router, trail_of
from waitroom.server.operator.page import OperatorForm, PageRoute
from waitroom.server.pages.route import redirect

api = api_router(409)
pages = APIRouter(prefix="/admin", route_class=PageRoute, include_in_schema=False)


class NewNote(Strict):
    """A note on the timeline of a room."""

    text: str = Field(
        min_length=1, max_length=4_000, description="One line of up to 500 characters."
    )


class NoteMade(BaseModel):
    """A note that was written."""

    id: str = Field(description="Of its entry in the audit log.")


@api.post("/rooms/{room}/notes", operation_id="addNote", status_code=201)
async def add_note(server: Here, who: Operator, room: RoomName, body: NewNote) -> NoteMade:
    """Put a note on the timeline of a room; it is an entry of the audit log."""
    entry_id = await notes.add(server.engine, trail_of(server, who), room, body.text)
    return NoteMade(id=entry_id)


@pages.post("/rooms/{room}/notes")
async def write_note(
    page: OperatorForm, room: str, text: Annotated[str, Form(max_length=4_000)] = ""
) -> Response:
    """Write a note, and return to the room."""
    entry_id = await notes.add(page.server.engine, page.trail, check_room_name(room), text)
    return redirect(f"/admin/rooms/{room}?done={entry_id}")
