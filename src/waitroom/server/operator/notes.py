"""The form on a room's page that puts a note on its timeline."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Request, Response

from waitroom.credentials.roles import Role
from waitroom.models import check_room_name
from waitroom.operations import notes
from waitroom.server.context import Here
from waitroom.server.operator.page import Page, PageRoute
from waitroom.server.pages.route import redirect

router = APIRouter(prefix="/admin", route_class=PageRoute, include_in_schema=False)


@router.post("/rooms/{room}/notes")
async def add_note(
    server: Here,
    request: Request,
    room: str,
    text: Annotated[str, Form(max_length=4_000)] = "",
    token: Annotated[str, Form(max_length=100)] = "",
) -> Response:
    """Write a note, and go back to the room."""
    page = await Page.of(server, request, Role.OPERATOR)
    page.check(token)
    entry_id = await notes.add(server.engine, page.trail, check_room_name(room), text)
    return redirect(f"/admin/rooms/{room}?done={entry_id}")
