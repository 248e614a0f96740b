"""The operator page, `/admin`: rooms at a glance, and levers that say first what they will do.

Server-rendered; a small script only fetches the same numbers again. Every change goes through a
second screen that names the room, and lands in the audit log.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Form, Query, Request, Response

from waitroom.credentials.roles import Role
from waitroom.engine.audit import Entry, Log
from waitroom.errors import InvalidInput, WaitroomError
from waitroom.models import Mode, State, check_room_name
from waitroom.models import Page as Tickets
from waitroom.operations import people, rooms, sign_ins
from waitroom.operations.trail import Actor, Trail, Way
from waitroom.server.context import Here, Server
from waitroom.server.http.auth import Who, address_of, who_is
from waitroom.server.http.problems import status_of
from waitroom.server.operator import chart, preview, room_view, session
from waitroom.server.operator.page import Page, PageRoute
from waitroom.server.operator.preview import Lever, Wish
from waitroom.server.pages.forms import check_own_form
from waitroom.server.pages.route import redirect
from waitroom.short_codes import code_of, prefix_of

_TICKETS_PER_PAGE = 100
_ENTRIES_PER_PAGE = 50
_UNDOABLE = {"ends_at", *(name for names in preview.FIELDS.values() for name in names)}
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
    await sign_ins.note(_trail(server, who))
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


@router.get("")
async def overview(
    server: Here,
    request: Request,
    after: Annotated[str | None, Query(max_length=64)] = None,
    live: bool = False,
) -> Response:
    """Show all rooms; with `live`, only what changes."""
    page = await Page.of(server, request)
    shown, more = await room_view.rooms(server, after)
    template = "operator/rooms_live.html" if live else "operator/rooms.html"
    return page.html(template, rooms=shown, more=more, after=after, away=server.backend_health.away)


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
    if drawn:
        since = view.stats.now_ms - chart.SPAN_MS
        samples = await server.engine.series(room, since_ms=since, limit=chart.MOST)
        points = chart.points(samples)
        values |= {"charts": chart.charts(points, view.stats.now_ms), "rows": chart.rows(points)}
    if live:
        return page.html("operator/room_live.html", **values)
    entry = await server.audit.get(done) if done else None
    entry = entry if entry is not None and entry.room == room else None
    log = await server.audit.page(room=room, limit=5)
    undo = entry is not None and _undoable(entry, view.version)
    values |= {"drafts": preview.DRAFTS, "draft": draft if draft in preview.DRAFTS else None}
    return page.html("operator/room.html", done=entry, undo=undo, log=log.entries, **values)


@router.get("/rooms/{room}/tickets")
async def tickets(
    server: Here,
    request: Request,
    room: str,
    state: State = State.WAITING,
    after: Annotated[str | None, Query(max_length=100)] = None,
    older: Annotated[int, Query(ge=0, le=31_622_400)] = 0,
    code: Annotated[str, Query(max_length=20)] = "",
) -> Response:
    """List the people of a room in one state, the waiting ones also by how long they have.

    With a short code: those who have it, in whichever state.
    """
    page = await Page.of(server, request)
    board = await room_view.fresh(server, check_room_name(room))
    view = room_view.view(board, server.backend_health.away)
    by_age = older > 0 and state is State.WAITING
    until_ms = view.stats.now_ms - older * 1000 if by_age else None
    if prefix_of(code) is not None:
        listed = await server.engine.find(room, code)
    elif code:
        listed = Tickets((), None)  # no code: nobody has it
    else:
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
        code=code,
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
    return page.html(
        "operator/audit.html", page=entries, room=room, before=before, log=log, logs=list(Log)
    )


# Changing -----------------------------------------------------------------------------------


@router.get("/rooms/{room}/confirm")
async def confirm(server: Here, request: Request, room: str) -> Response:
    """Say what a lever will do; nothing is changed yet."""
    page = await Page.of(server, request, Role.OPERATOR)
    return await _confirm(page, room, request.query_params)


@router.post("/rooms/{room}/confirm")
async def confirm_text(server: Here, request: Request, room: str) -> Response:
    """Say it of a text, which is too long for an address; nothing is changed yet."""
    page = await Page.of(server, request, Role.OPERATOR)
    form = {name: str(value) for name, value in (await request.form()).items()}
    page.check(form.get("token", ""))
    return await _confirm(page, room, form)


async def _confirm(page: Page, room: str, form: Mapping[str, str]) -> Response:
    server = page.server
    board = await room_view.fresh(server, check_room_name(room))
    wish = preview.read(form)
    return page.html(
        "operator/confirm.html",
        room=room_view.view(board, server.backend_health.away),
        wish=wish,
        preview=preview.preview(board, wish),
        op=secrets.token_hex(8),
    )


@router.post("/rooms/{room}/do")
async def do(server: Here, request: Request, room: str) -> Response:
    """Do what was confirmed, and go back to the room."""
    page = await Page.of(server, request, Role.OPERATOR)
    form = {name: str(value) for name, value in (await request.form()).items()}
    page.check(form.get("token", ""))
    wish, op_id = preview.read(form), form.get("op") or None
    entry_id = await _do(page, check_room_name(room), wish, form.get("version", ""), op_id)
    return redirect(f"/admin/rooms/{room}" + (f"?done={entry_id}" if entry_id else ""))


async def _do(page: Page, room: str, wish: Wish, version: str, op_id: str | None) -> str:
    engine, trail, force = page.server.engine, _trail(page.server, page.who), wish.force
    if wish.lever in preview.FIELDS:
        known = int(version) if version.isdecimal() and len(version) < 16 else None
        _, entry_id = await rooms.change(engine, trail, room, wish.changes, known, op_id=op_id)
        return entry_id
    if wish.lever is Lever.KICK:
        ids, ban = [wish.ticket], wish.ban
        return (await people.kick(engine, trail, room, ids, ban=ban, op_id=op_id)).entry_id
    if wish.lever is Lever.CALL:
        called = await people.call(engine, trail, room, wish.ticket, force=force, op_id=op_id)
    else:
        called = await people.admit(engine, trail, room, wish.count, force=force, op_id=op_id)
    return called.entry_id


def _trail(server: Server, who: Who) -> Trail:
    return Trail(server.audit, Actor.of_key(who.key, Way.PAGE, who.address))


@router.post("/rooms/{room}/undo")
async def undo(
    server: Here,
    request: Request,
    room: str,
    entry: Annotated[str, Form(max_length=40)] = "",
    token: Annotated[str, Form(max_length=100)] = "",
) -> Response:
    """Put fields back to what they were, unless somebody has changed the room since."""
    page = await Page.of(server, request, Role.OPERATOR)
    page.check(token)
    last = await server.audit.get(entry)
    if last is None or last.room != check_room_name(room) or not _undoable(last):
        raise InvalidInput("entry", "this cannot be undone")
    before = {name: pair["old"] for name, pair in last.detail["changed"].items()}
    trail = _trail(server, page.who)
    _, entry_id = await rooms.change(server.engine, trail, room, before, last.detail["version"])
    return redirect(f"/admin/rooms/{room}?done={entry_id}")


def _undoable(entry: Entry, version: int | None = None) -> bool:
    """Tell whether a change can be taken back; with `version`, if it is the last one still."""
    changed = entry.detail.get("changed") if entry.action == "room.change" else None
    if not changed or not set(changed) <= _UNDOABLE:
        return False
    return version is None or entry.detail.get("version") == version
