"""The operator page, `/admin`: signing in, rooms at a glance, one room, its people, the log.

Server-rendered; a small script only fetches the same numbers again. Levers are in `levers/`.
"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Form, Query, Request, Response

from waitroom.credentials.roles import Role
from waitroom.engine.audit import Log
from waitroom.errors import WaitroomError
from waitroom.models import Mode, State, check_room_name
from waitroom.operations import sign_ins
from waitroom.server.context import Here
from waitroom.server.http.auth import address_of, who_is
from waitroom.server.http.problems import status_of
from waitroom.server.operator import chart, room_view, session
from waitroom.server.operator.kept_wait import last_wait
from waitroom.server.operator.levers import forms
from waitroom.server.operator.levers.undo import last_change, remedy, undoable
from waitroom.server.operator.page import Page, PageRoute, trail_of
from waitroom.server.pages.forms import check_own_form
from waitroom.server.pages.route import redirect
from waitroom.short_codes import code_of

_TICKETS_PER_PAGE = 100
_ENTRIES_PER_PAGE = 50
_AGES_S = (0, 60, 300, 900, 3600)


router = APIRouter(prefix="/admin", route_class=PageRoute, include_in_schema=False)


# Signing in ---------------------------------------------------------------------------------


@router.get("/sign-in")
async def sign_in_page(server: Here, request: Request) -> Response:
    """Ask for a key."""
    return Page(server, request, None).html("operator/sign_in.html", error=None)


@router.post("/sign-in")
async def sign_in(
    server: Here, request: Request, key: Annotated[str, Form(max_length=400)] = ""
) -> Response:
    """Begin a session for whoever shows a good key."""
    check_own_form(server, request)
    try:
        who = await who_is(server, key.strip(), address_of(server, request))
    except WaitroomError as error:
        page = Page(server, request, None)
        words = {"unauthorized": "sign_in_bad", "too_many_requests": "sign_in_limited"}
        wrong = page.text(words.get(error.code, "sign_in_away"))
        response = page.html("operator/sign_in.html", status_of(error), error=wrong)
        if (wait_s := getattr(error, "retry_after_s", None)) is not None:
            response.headers["retry-after"] = str(wait_s)
        return response
    await sign_ins.note(trail_of(server, who))
    response = redirect("/admin")
    session.begin(server, request, response, who.key)
    return response


@router.post("/sign-out")
async def sign_out(
    server: Here, request: Request, token: Annotated[str, Form(max_length=100)] = ""
) -> Response:
    """End the session."""
    page = await Page.of(server, request)
    page.check(token)
    response = redirect("/admin/sign-in")
    await session.end(server, request, response)
    return response


# Looking ------------------------------------------------------------------------------------


@router.get("/rooms/{room}")
async def one_room(
    server: Here,
    request: Request,
    room: str,
    done: Annotated[str | None, Query(max_length=40)] = None,
    live: bool = False,
    drawn: bool = True,
    draft: Annotated[str, Query(max_length=40)] = "",
) -> Response:
    """Show a room; with `live` only what changes, and `drawn=0` leaves the charts out.

    `draft` puts one of our messages into the form, ready to be changed and sent.
    """
    page = await Page.of(server, request)
    board = await room_view.fresh(server, check_room_name(room))
    view = room_view.view(board, server.backend_health.away)
    values: dict[str, Any] = {"room": view, "charts": (), "rows": (), "modes": list(Mode)}
    values["kept"] = await last_wait(server.engine, room, view.stats.now_ms)
    if drawn:
        since = view.stats.now_ms - chart.SPAN_MS
        samples = await server.engine.series(room, since_ms=since, limit=chart.MOST)
        points = chart.points(samples)
        values |= {"charts": chart.charts(points, view.stats.now_ms), "rows": chart.rows(points)}
    values["last"] = await last_change(server, room, view.version, page.who.key.role)
    values["done"] = await server.audit.get(done) if done else None
    if live:
        return page.html("operator/room_live.html", **values)
    log = await server.audit.page(room=room, limit=5)
    admin = page.who.key.role is Role.ADMIN
    values |= forms.values(page.text, view.policy, admin=admin, draft=draft)
    values["usual_range"] = not {"range", "since"} & set(request.query_params)
    return page.html("operator/room.html", log=log.entries, remedy=remedy, **values)


@router.get("/rooms/{room}/tickets")
async def tickets(
    server: Here,
    request: Request,
    room: str,
    state: State = State.WAITING,
    after: Annotated[str | None, Query(max_length=100)] = None,
    older: Annotated[int, Query(ge=0, le=31_622_400)] = 0,
) -> Response:
    """List the people of a room in one state, the waiting ones also by how long they have."""
    page = await Page.of(server, request)
    board = await room_view.fresh(server, check_room_name(room))
    view = room_view.view(board, server.backend_health.away)
    by_age = older > 0 and state is State.WAITING
    until_ms = view.stats.now_ms - older * 1000 if by_age else None
    listed = await server.engine.list(
        room, state, after=after, limit=_TICKETS_PER_PAGE, until_ms=until_ms
    )
    return page.html(
        "operator/tickets.html",
        room=view,
        state=state,
        page=listed,
        after=after,
        older=older,
        code_of=code_of,
        ages=_AGES_S,
        states=(State.WAITING, State.CALLED, State.INSIDE),
    )


@router.get("/audit")
async def audit(
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
    return page.html("operator/audit.html", **values)
