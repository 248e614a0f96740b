"""`/admin/find`: one person in all rooms, by ticket, short code or account."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Query, Request, Response

from waitroom.operations import finding
from waitroom.operations.finding import LONGEST_WORDS, Findings
from waitroom.server.context import Here
from waitroom.server.operator.page import Page, PageRoute
from waitroom.server.pages.route import redirect
from waitroom.short_codes import code_of

router = APIRouter(prefix="/admin", route_class=PageRoute, include_in_schema=False)


@router.get("/find")
async def find(
    server: Here,
    request: Request,
    q: Annotated[str, Query(max_length=LONGEST_WORDS)] = "",
    room: Annotated[str, Query(max_length=64)] = "",
) -> Response:
    """Show all who match, in every room or in one; a single match is shown at once."""
    page = await Page.of(server, request)
    words = q.strip()
    findings = Findings(())
    if words:
        findings = await finding.find(server.engine, words, [room] if room else None)
    if len(findings.sightings) == 1:
        person = findings.sightings[0].person
        return redirect(f"/admin/rooms/{quote(person.room)}/people/{quote(person.id)}")
    return page.html(
        "operator/find.html",
        words=words,
        room=room,
        findings=findings,
        code_of=code_of,
    )
