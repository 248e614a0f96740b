"""The audit log, as a page and by the operator API: who changed what, and who signed in."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, Field

from waitroom.engine.audit import AuditPage, Log
from waitroom.server.context import Here
from waitroom.server.http.auth import Viewer
from waitroom.server.operator.api import Shown, api_router
from waitroom.server.operator.levers.undo import undoable
from waitroom.server.operator.page import Page, PageRoute

_ENTRIES_PER_PAGE = 50

api = api_router(409)
pages = APIRouter(prefix="/admin", route_class=PageRoute, include_in_schema=False)


class AuditLine(Shown):
    """Who did what."""

    id: str
    at_ms: int
    key_id: str
    key_name: str
    role: str
    way: str = Field(description="How they reached us: api, page, cli or config.")
    action: str
    room: str | None
    detail: dict[str, Any]
    address: str


class AuditBody(BaseModel):
    """A page of the audit log, newest first."""

    entries: list[AuditLine]
    before: str | None


@api.get("/audit", operation_id="listAudit")
async def audit(
    server: Here,
    _: Viewer,
    before: Annotated[str | None, Query(max_length=40)] = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
    room: Annotated[str | None, Query(max_length=64)] = None,
    log: Annotated[Log, Query(description="What was done, or who signed in.")] = Log.ACTIONS,
) -> AuditBody:
    """Return who changed what, newest first; of one room, a page may be short, and more follow."""
    page: AuditPage = await server.audit.page(before=before, limit=limit, room=room, log=log)
    return AuditBody(entries=[AuditLine.of(entry) for entry in page.entries], before=page.before)


@pages.get("/audit")
async def show_audit(
    server: Here,
    request: Request,
    before: Annotated[str | None, Query(max_length=40)] = None,
    room: Annotated[str, Query(max_length=64)] = "",
    log: Log = Log.ACTIONS,
) -> Response:
    """Show who changed what, or who signed in."""
    page = await Page.of(server, request)
    entries = await server.audit.page(
        before=before, limit=_ENTRIES_PER_PAGE, room=room or None, log=log
    )
    values: dict[str, Any] = {
        "page": entries,
        "room": room,
        "before": before,
        "log": log,
        "logs": list(Log),
    }
    values["undoable"] = await undoable(server, entries.entries, page.who.key.role)
    return page.html("operator/history/audit.html", **values)
