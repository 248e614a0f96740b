"""The operator page, `/admin`: rooms at a glance, and levers that say first what they will do.

Server-rendered; a small script only fetches the same numbers again. Every change goes through a
second screen that names the room, and lands in the audit log.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Coroutine
from functools import cache
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Form, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, RedirectResponse
from fastapi.routing import APIRoute
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from waitroom.engine.apikeys import Role
from waitroom.engine.audit import Entry
from waitroom.errors import InvalidInput, WaitroomError
from waitroom.models import Mode, State, check_room_name
from waitroom.server import admin_actions as actions
from waitroom.server import console_chart as chart
from waitroom.server import console_preview as previews
from waitroom.server import console_session as sessions
from waitroom.server import console_text as say
from waitroom.server import console_view as views
from waitroom.server.answers import moment
from waitroom.server.auth import Who, address_of, who_is
from waitroom.server.console_preview import Lever, Wish
from waitroom.server.console_session import NotSignedIn, Session
from waitroom.server.problems import status_of
from waitroom.server.state import Here, Server, server_of
from waitroom.server.statics import url_of
from waitroom.server.text import LANGUAGES, Text, language

LANGUAGE_COOKIE = "waitroom-admin-language"
_TICKETS_PER_PAGE = 100
_ENTRIES_PER_PAGE = 50
_UNDOABLE = {name for names in previews.FIELDS.values() for name in names}
_AGES_S = (0, 60, 300, 900, 3600)


class PageRoute(APIRoute):
    """Answers errors with a page of ours rather than with JSON, and strangers with the sign-in."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Wrap the handler that FastAPI makes."""
        handle = super().get_route_handler()

        async def page(request: Request) -> Response:
            try:
                return await handle(request)
            except NotSignedIn:
                return _to_sign_in(request)
            except RequestValidationError as error:
                first = error.errors()[0]
                wrong = InvalidInput(str(first["loc"][-1]), str(first["msg"]))
                return await _problem(request, wrong)
            except WaitroomError as error:
                return await _problem(request, error)

        return page


router = APIRouter(prefix="/admin", route_class=PageRoute, include_in_schema=False)


class Page:
    """One request for a page: its language, who is signed in, and how it is rendered."""

    def __init__(self, server: Server, request: Request, session: Session | None) -> None:
        self.server = server
        self.request = request
        self.session = session
        chosen = request.query_params.get("lang")
        kept = request.cookies.get(LANGUAGE_COOKIE)
        self.lang = language(chosen, kept, request.headers.get("accept-language"))
        self.text: Text = say.words_of(self.lang)

    @classmethod
    async def of(cls, server: Server, request: Request, role: Role = Role.VIEWER) -> Page:
        """Make one for somebody who is signed in and may see it."""
        made = cls(server, request, await sessions.current(server, request))
        made.who.need(role)
        return made

    @property
    def who(self) -> Who:
        """Who is signed in."""
        if self.session is None:
            raise NotSignedIn
        return self.session.who

    def html(self, template: str, status: int = 200, **values: Any) -> Response:
        """Render a page."""
        nonce = secrets.token_urlsafe(16)
        may = self.session is not None and self.who.key.role.allows(Role.OPERATOR)
        content = (
            _environment()
            .get_template(template)
            .render(
                t=self.text,
                lang=self.lang,
                languages=LANGUAGES,
                here=self.request.url.path,
                nonce=nonce,
                session=self.session,
                may_change=may,
                static=url_of,
                say=Say(self.text),
                **values,
            )
        )
        response = HTMLResponse(content, status, headers=_headers(nonce))
        if self.request.query_params.get("lang") == self.lang:
            response.set_cookie(
                LANGUAGE_COOKIE, self.lang, max_age=31_536_000, path="/admin", samesite="lax"
            )
        return response


class Say:
    """What templates need to say numbers, times and deeds in the language of the page."""

    def __init__(self, text: Text) -> None:
        self._text = text

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """Return a function of `console_text`, with the language filled in."""
        function = getattr(say, name)
        return lambda *args: function(self._text, *args)

    def moment(self, ms: int) -> str:
        """Return a time for `datetime=`."""
        return moment(ms) or ""

    def plain(self, ms: int) -> str:
        """Return a time as it reads without a script: in UTC, and saying so."""
        return f"{(moment(ms) or '')[:19].replace('T', ' ')} UTC"


@cache
def _environment() -> Environment:
    folder = Path(__file__).parent / "templates"
    return Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _headers(nonce: str) -> dict[str, str]:
    policy = (
        f"default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; "
        "img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; "
        "frame-ancestors 'none'"
    )
    return {
        "content-security-policy": policy,
        "cache-control": "no-store",
        "cross-origin-opener-policy": "same-origin",
        # Without any referrer browsers would send `Origin: null` with our own forms.
        "referrer-policy": "same-origin",
        "x-content-type-options": "nosniff",
        "x-frame-options": "DENY",
    }


# Signing in ---------------------------------------------------------------------------------


@router.get("/sign-in")
async def sign_in_page(server: Here, request: Request) -> Response:
    """Ask for a key."""
    return Page(server, request, None).html("admin_sign_in.html", error=None)


@router.post("/sign-in")
async def sign_in(
    server: Here, request: Request, key: Annotated[str, Form(max_length=400)] = ""
) -> Response:
    """Begin a session for whoever shows a good key."""
    sessions.check_origin(server, request)
    try:
        who = await who_is(server, key.strip(), address_of(server, request))
    except WaitroomError as error:
        page = Page(server, request, None)
        said = {"unauthorized": "sign_in_bad", "too_many_requests": "sign_in_limited"}
        wrong = page.text(said.get(error.code, "sign_in_away"))
        response = page.html("admin_sign_in.html", status_of(error), error=wrong)
        if (wait_s := getattr(error, "retry_after_s", None)) is not None:
            response.headers["retry-after"] = str(wait_s)
        return response
    await actions.record(server, who, "sign_in")
    response = _see("/admin")
    sessions.begin(server, request, response, who.key)
    return response


@router.post("/sign-out")
async def sign_out(
    server: Here, request: Request, token: Annotated[str, Form(max_length=100)] = ""
) -> Response:
    """End the session."""
    page = await Page.of(server, request)
    _check(page, token)
    response = _see("/admin/sign-in")
    sessions.end(server, request, response)
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
    found, more = await views.rooms(server, after)
    template = "admin_rooms_live.html" if live else "admin_rooms.html"
    return page.html(template, rooms=found, more=more, after=after, away=server.pulse.away)


@router.get("/rooms/{room}")
async def one_room(
    server: Here,
    request: Request,
    room: str,
    done: Annotated[str | None, Query(max_length=40)] = None,
    live: bool = False,
    drawn: bool = True,
) -> Response:
    """Show a room; with `live` only what changes, and `drawn=0` leaves the charts out."""
    page = await Page.of(server, request)
    board = await views.fresh(server, check_room_name(room))
    view = views.view(board, server.pulse.away)
    values: dict[str, Any] = {"room": view, "charts": (), "rows": (), "modes": list(Mode)}
    if drawn:
        since = view.stats.now_ms - chart.SPAN_MS
        samples = await server.engine.series(room, since_ms=since, limit=chart.MOST)
        points = chart.points(samples)
        values |= {"charts": chart.charts(points, view.stats.now_ms), "rows": chart.rows(points)}
    if live:
        return page.html("admin_room_live.html", **values)
    entry = await server.audit.get(done) if done else None
    entry = entry if entry is not None and entry.room == room else None
    log = await server.audit.page(room=room, limit=5)
    undo = entry is not None and _undoable(entry, view.version)
    return page.html("admin_room.html", done=entry, undo=undo, log=log.entries, **values)


@router.get("/rooms/{room}/tickets")
async def tickets(
    server: Here,
    request: Request,
    room: str,
    state: State = State.WAITING,
    after: Annotated[str | None, Query(max_length=16)] = None,
    older: Annotated[int, Query(ge=0, le=31_622_400)] = 0,
) -> Response:
    """List the people of a room in one state, the waiting ones also by how long they have."""
    page = await Page.of(server, request)
    board = await views.fresh(server, check_room_name(room))
    view = views.view(board, server.pulse.away)
    by_age = older > 0 and state is State.WAITING
    until_ms = view.stats.now_ms - older * 1000 if by_age else None
    found = await server.engine.list(
        room, state, after=after, limit=_TICKETS_PER_PAGE, until_ms=until_ms
    )
    return page.html(
        "admin_tickets.html",
        room=view,
        state=state,
        found=found,
        after=after,
        older=older,
        ages=_AGES_S,
        states=(State.WAITING, State.CALLED, State.INSIDE),
    )


@router.get("/audit")
async def audit(
    server: Here,
    request: Request,
    before: Annotated[str | None, Query(max_length=40)] = None,
    room: Annotated[str, Query(max_length=64)] = "",
) -> Response:
    """Show who changed what."""
    page = await Page.of(server, request)
    found = await server.audit.page(before=before, limit=_ENTRIES_PER_PAGE, room=room or None)
    return page.html("admin_audit.html", found=found, room=room, before=before)


# Changing -----------------------------------------------------------------------------------


@router.get("/rooms/{room}/confirm")
async def confirm(server: Here, request: Request, room: str) -> Response:
    """Say what a lever will do; nothing is changed yet."""
    page = await Page.of(server, request, Role.OPERATOR)
    board = await views.fresh(server, check_room_name(room))
    wish = previews.read(request.query_params)
    return page.html(
        "admin_confirm.html",
        room=views.view(board, server.pulse.away),
        wish=wish,
        preview=previews.preview(board, wish),
        op=secrets.token_hex(8),
    )


@router.post("/rooms/{room}/do")
async def do(server: Here, request: Request, room: str) -> Response:
    """Do what was confirmed, and go back to the room."""
    page = await Page.of(server, request, Role.OPERATOR)
    form = {name: str(value) for name, value in (await request.form()).items()}
    _check(page, form.get("token", ""))
    wish, op = previews.read(form), form.get("op") or None
    entry_id = await _do(page, check_room_name(room), wish, form.get("version", ""), op)
    return _see(f"/admin/rooms/{room}" + (f"?done={entry_id}" if entry_id else ""))


async def _do(page: Page, room: str, wish: Wish, version: str, op: str | None) -> str:
    server, who = page.server, page.who
    if wish.lever in previews.FIELDS:
        known = int(version) if version.isdecimal() and len(version) < 16 else None
        return (await actions.change(server, who, room, wish.changes, known, op=op)).entry_id
    if wish.lever is Lever.KICK:
        return (await actions.kick(server, who, room, [wish.ticket], op)).entry_id
    if wish.lever is Lever.CALL:
        done = await actions.call(server, who, room, wish.ticket, force=wish.force, op=op)
    else:
        done = await actions.admit(server, who, room, wish.count, force=wish.force, op=op)
    return done.entry_id


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
    _check(page, token)
    found = await server.audit.get(entry)
    if found is None or found.room != check_room_name(room) or not _undoable(found):
        raise InvalidInput("entry", "this cannot be undone")
    before = {name: pair["old"] for name, pair in found.detail["changed"].items()}
    done = await actions.change(server, page.who, room, before, found.detail["version"])
    return _see(f"/admin/rooms/{room}?done={done.entry_id}")


def _undoable(entry: Entry, version: int | None = None) -> bool:
    """Tell whether a change can be taken back; with `version`, if it is the last one still."""
    changed = entry.detail.get("changed") if entry.action == "room.change" else None
    if not changed or not set(changed) <= _UNDOABLE:
        return False
    return version is None or entry.detail.get("version") == version


def _check(page: Page, token: str) -> None:
    sessions.check_origin(page.server, page.request)
    if page.session is None:
        raise NotSignedIn
    sessions.check_form(page.session, token)


def _see(path: str) -> Response:
    return RedirectResponse(path, 303, headers={"cache-control": "no-store"})


def _to_sign_in(request: Request) -> Response:
    if request.query_params.get("live"):  # the script reloads the page, and so comes here again
        return Response(status_code=401, headers={"cache-control": "no-store"})
    return _see("/admin/sign-in")


async def _problem(request: Request, error: WaitroomError) -> Response:
    server = server_of(request)
    try:
        session = await sessions.current(server, request)
    except (NotSignedIn, WaitroomError):
        session = None
    page = Page(server, request, session)
    return page.html("admin_problem.html", status_of(error), error=error, room=_room_of(request))


def _room_of(request: Request) -> str | None:
    name = request.path_params.get("room")
    try:
        return None if name is None else check_room_name(name)
    except InvalidInput:
        return None
