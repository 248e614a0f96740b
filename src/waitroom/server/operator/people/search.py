"""`/admin/find`: one person in all rooms, by ticket, short code or account.

What somebody looks for may be a user's name at the site, so it is sent in a form: addresses end up
in the logs of proxies and in the history of browsers.
"""

from __future__ import annotations

from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Form, Request, Response

from waitroom.operations import finding
from waitroom.operations.finding import LONGEST_WORDS, Findings
from waitroom.server.context import Here
from waitroom.server.operator.page import Page, PageRoute, ViewerForm
from waitroom.server.pages.route import redirect
from waitroom.short_codes import code_of

router = APIRouter(prefix="/admin", route_class=PageRoute, include_in_schema=False)
_FOUND = "operator/people/find.html"


@router.get("/find")
async def search(server: Here, request: Request) -> Response:
    """Show the empty form: what was looked for is in no address."""
    page = await Page.of(server, request)
    return page.html(_FOUND, words="", room="", findings=Findings(()), code_of=code_of)


@router.post("/find")
async def find(
    server: Here,
    page: ViewerForm,
    q: Annotated[str, Form(max_length=LONGEST_WORDS)] = "",
    room: Annotated[str, Form(max_length=64)] = "",
) -> Response:
    """Show all matches, in every room or in one; a single match is shown at once."""
    words = q.strip()
    findings = Findings(())
    if words:
        findings = await finding.find(server.engine, words, [room] if room else None)
    if len(findings.sightings) == 1:
        person = findings.sightings[0].person
        return redirect(f"/admin/rooms/{quote(person.room)}/people/{quote(person.id)}")
    return page.html(_FOUND, words=words, room=room, findings=findings, code_of=code_of)
