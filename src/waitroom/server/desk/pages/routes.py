"""What guests see: the page to join a store's line, and the page of their place.

Both work without a script. A GET only reads; every change is a POST that answers 303 to the page of
the place. A form on another site cannot send it.
"""

from __future__ import annotations

import secrets
import time
from typing import Annotated

from fastapi import APIRouter, Form, Query, Request, Response

from waitroom.desk.models import Place, Store
from waitroom.desk.record.record import Action
from waitroom.errors import BackendUnavailable, DefersUsedUp, NotFound, WaitroomError, WrongStatus
from waitroom.server.context import Here, Server
from waitroom.server.desk import requests
from waitroom.server.desk.access import desk_of
from waitroom.server.desk.lines import summarize
from waitroom.server.desk.page import Page, PageRoute
from waitroom.server.desk.pages import join as join_form
from waitroom.server.desk.pages import place as place_view
from waitroom.server.desk.pages.join import Filled
from waitroom.server.http.problems import status_of
from waitroom.server.pages.forms import check_own_form
from waitroom.server.pages.route import redirect
from waitroom.web.names import cookie_name, cookie_names

router = APIRouter(prefix="/desk/{store}", route_class=PageRoute, include_in_schema=False)
MINE = "waitroom-desk-"
_MINE_S = 86_400
_AWAY = 503
_LONGEST_TOKEN = 300
Text = Annotated[str, Form(max_length=500)]
Op = Annotated[str, Form(max_length=64)]


@router.api_route("", methods=["GET", "HEAD"])
async def join_page(server: Here, request: Request, store: str, code: str = "") -> Response:
    """Show how long the wait is, and a form to join."""
    page = Page(request, server)
    shown = await desk_of(server).record.store(store)
    mine = await _mine(server, request, store)
    return await _form(page, shown, Filled(), {}, code=code, mine=mine)


async def _form(
    page: Page,
    store: Store,
    filled: Filled,
    errors: dict[str, str],
    *,
    code: str,
    mine: str | None = None,
    status: int = 200,
    op: str = "",
) -> Response:
    desk, backend = desk_of(page.server), page.server.backend_health
    summaries = await summarize(desk, backend, store)
    good_code = code if desk.on_site.is_good(store, code) else ""
    values = join_form.values(page.text, store, summaries, filled, code=good_code)
    values |= {"errors": errors, "mine": mine, "op": op or secrets.token_urlsafe(18)}
    return page.html("desk/join.html", status, **values)


async def _mine(server: Server, request: Request, store: str) -> str | None:
    """Return the page of the place that this browser already has here, if it is still live."""
    kept = filter(None, map(request.cookies.get, cookie_names(MINE + store)))
    token = next(kept, "")[:_LONGEST_TOKEN]
    if not token:
        return None
    try:
        place = await desk_of(server).place(store, token)
    except WaitroomError:
        return None
    return f"/desk/{store}/p/{token}" if place.status.live else None


@router.post("")
async def join(
    server: Here,
    request: Request,
    store: str,
    line_name: Annotated[str, Form(alias="type", max_length=500)] = "",
    size: Text = "",
    name: Text = "",
    phone: Text = "",
    note: Text = "",
    code: Text = "",
    op: Op = "",
) -> Response:
    """Take a place, and redirect to its page; errors are shown at their fields."""
    page, desk = Page(request, server), desk_of(server)
    check_own_form(server, request)
    shown = await desk.record.store(store)
    filled = Filled(line_name, size, name, phone, note)
    try:
        wish = join_form.wish_of(filled, here=desk.on_site.is_good(shown, code))
        _, token = await requests.join(server, request, store, line_name, wish, op or None)
    except WaitroomError as error:
        errors = join_form.refusals(page.text, shown, filled, error)
        shown = await desk.record.store(store)  # it may have been paused since
        return await _form(page, shown, filled, errors, code=code, status=status_of(error), op=op)
    response = redirect(f"/desk/{store}/p/{token}")
    response.set_cookie(
        cookie_name(MINE + store, secure=page.secure),
        token,
        max_age=_MINE_S,
        path="/" if page.secure else f"/desk/{store}",
        secure=page.secure,
        httponly=True,
        samesite="lax",
    )
    return response


# The place ---------------------------------------------------------------------------------------


@router.api_route("/p/{token}", methods=["GET", "HEAD"])
async def place_page(
    server: Here,
    request: Request,
    store: str,
    token: str,
    outcome: Annotated[str, Query(alias="said", max_length=20)] = "",
) -> Response:
    """Show a guest where they stand."""
    page, desk = Page(request, server), desk_of(server)
    shown, party = await desk.record.store(store), await desk.guest_party(store, token)
    place = await _place(server, store, token)
    now_ms, path = int(time.time() * 1000), f"/desk/{store}/p/{token}"
    values = place_view.values(page.text, shown, party, place, path=path, now_ms=now_ms)
    values |= {
        "said": page.text(outcome) if outcome in place_view.OUTCOMES else "",
        "op": secrets.token_urlsafe(18),
    }
    return page.html("desk/place.html", 200 if place else _AWAY, **values)


async def _place(server: Server, store: str, token: str) -> Place | None:
    """Return where a party stands, or None while the live line does not answer."""
    if server.backend_health.away:
        return None
    try:
        return await desk_of(server).place(store, token)
    except BackendUnavailable:
        server.backend_health.suspect()
        return None


@router.post("/p/{token}/{act}")
async def act(
    server: Here,
    request: Request,
    store: str,
    token: str,
    act: str,
    places: Annotated[str, Form(max_length=4)] = "",
    op: Op = "",
) -> Response:
    """Let others go first, cancel, or erase the guest's data."""
    check_own_form(server, request)
    desk = desk_of(server)
    party = await desk.guest_party(store, token)
    key = requests.op_id(server, act, f"{store}/{token}", op or None)
    outcome = ""
    try:
        if act == "defer":
            count = int(places) if places.isdecimal() else 0  # 0 is refused
            after = await desk.guest_act(store, token, Action.DEFER, places=count, op_id=key)
            outcome = "defer_done" if after.revision != party.revision else "defer_last"
        elif act == "cancel":
            await desk.guest_act(store, token, Action.CANCEL, op_id=key)
        elif act == "erase":
            await desk.erase(store, party.id, by="guest")
            outcome = "erased"
        else:
            raise NotFound("the page has no such form")
    except DefersUsedUp:
        outcome = "defer_used"
    except WrongStatus:
        outcome = "problem_moved"
    return redirect(f"/desk/{store}/p/{token}" + (f"?said={outcome}" if outcome else ""))
