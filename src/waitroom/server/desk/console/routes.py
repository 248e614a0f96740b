"""A store's console, `/desk/{store}/host`: the list, and what hosts do with it.

Server-rendered: every button is a form, and works without a script. The script sends the same
forms, asks for JSON, and keeps unsaved input until it is saved. Two hosts may act at once: a form
carries what its host saw, and is refused if that has changed, with who is next now.
"""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Form, Query, Request, Response
from fastapi.responses import JSONResponse

from waitroom.credentials.api_keys import ApiKey
from waitroom.credentials.roles import Role
from waitroom.desk.inputs import Wish
from waitroom.desk.models import Action, Party, Source, StoreMode
from waitroom.desk.record.host_keys import PREFIX, HostKey
from waitroom.errors import InvalidInput, TooMany, Unauthorized, Unavailable, WaitroomError
from waitroom.operations import sign_ins
from waitroom.operations.trail import Way
from waitroom.server.context import Here, Server
from waitroom.server.desk import changes, requests, session
from waitroom.server.desk import text as say
from waitroom.server.desk.access import HostCaller, caller_by_key, caller_of, desk_of
from waitroom.server.desk.console import feedback, lists
from waitroom.server.desk.page import Page, PageRoute
from waitroom.server.http.auth import address_of
from waitroom.server.http.problems import status_of
from waitroom.server.pages.forms import check_form_token, check_own_form
from waitroom.server.pages.route import NotSignedIn, redirect

router = APIRouter(prefix="/desk/{store}/host", route_class=PageRoute, include_in_schema=False)

_LONGEST_KEY = 128
Word = Annotated[str, Form(max_length=64)]
LineName = Annotated[str, Form(alias="type", max_length=64)]
Long = Annotated[str, Form(max_length=500)]


# Signing in ----------------------------------------------------------------------------------


@router.get("/sign-in")
async def sign_in_page(server: Here, request: Request, store: str) -> Response:
    """Ask for a key."""
    shown = await desk_of(server).record.store(store)
    return Page(request, server).html("desk/sign_in.html", store=shown, error=None)


@router.post("/sign-in")
async def sign_in(
    server: Here, request: Request, store: str, key: Annotated[str, Form(max_length=400)] = ""
) -> Response:
    """Begin a session for somebody who shows a valid key of this store."""
    check_own_form(server, request)
    shown = await desk_of(server).record.store(store)
    try:
        caller = await caller_by_key(server, key.strip(), address_of(server, request))
        caller.need(store, Role.VIEWER)
    except WaitroomError as error:
        page = Page(request, server)
        reason = "away" if isinstance(error, Unavailable) else "bad"
        reason = "limited" if isinstance(error, TooMany) else reason
        message = page.text(f"sign_in_{reason}")
        return page.html("desk/sign_in.html", status_of(error), store=shown, error=message)
    await sign_ins.note(changes.trail_of(server, caller, Way.PAGE), store)
    response = redirect(f"/desk/{store}/host")
    session.begin(server, request, response, store, await _shown_key(server, key.strip()))
    return response


async def _shown_key(server: Server, text: str) -> HostKey | ApiKey:
    """Return the key itself, which was valid a moment ago."""
    keys = desk_of(server).hosts if text.startswith(PREFIX) else server.keys
    key: HostKey | ApiKey | None = await keys.find(text)
    if key is None:
        raise NotSignedIn
    return key


@router.post("/sign-out")
async def sign_out(server: Here, request: Request, store: str, token: Word = "") -> Response:
    """End the session."""
    host = await Host.of(server, request, store)
    check_own_form(server, request)
    check_form_token(host.caller.form_token, token)
    response = redirect(f"/desk/{store}/host/sign-in")
    await session.end(server, request, response, store)
    return response


@dataclass(frozen=True, slots=True)
class Host:
    """One request of somebody who is signed in to a store's console."""

    page: Page
    caller: HostCaller
    store: str

    @classmethod
    async def of(
        cls, server: Server, request: Request, store: str, token: str | None = None
    ) -> Host:
        """Return the host; with a CSRF token, only if they may act and sent the form themselves."""
        try:
            caller = await caller_of(server, request, store)
        except Unauthorized:
            raise NotSignedIn from None
        caller.need(store, Role.VIEWER if token is None else Role.OPERATOR)
        if token is not None and caller.form_token:
            check_form_token(caller.form_token, token)
        return cls(Page(request, server), caller, store)

    @property
    def asks_json(self) -> bool:
        """Whether the script sent the request: it shows the result itself."""
        return "application/json" in self.page.request.headers.get("accept", "")

    def op_id(self, action: str, op: str) -> str | None:
        """Return the request id of this form, so that sending it again does nothing twice."""
        key = self.page.request.headers.get("idempotency-key", op)[:_LONGEST_KEY] or None
        return requests.op_id(self.page.server, action, f"{self.store}/{self.caller.key_id}", key)

    def done(self, message: str, party: Party | None = None, *, undo: bool = False) -> Response:
        """Answer what was done, and whether it can be undone."""
        if self.asks_json:
            back = {"party": party.id, "revision": party.revision} if party and undo else None
            return JSONResponse(
                {"said": message, "undo": back}, headers={"cache-control": "no-store"}
            )
        query = f"?type={party.line_name}&did={party.id}" if party else ""
        return redirect(f"/desk/{self.store}/host{query}")

    async def refused(self, message: str, status: int) -> Response:
        """Answer what was not done, and why."""
        if self.asks_json:
            headers = {"cache-control": "no-store"}
            return JSONResponse({"said": message}, status, headers=headers)
        return await self.show(status=status, alert=message)

    async def show(
        self, template: str = "desk/console.html", status: int = 200, **more: Any
    ) -> Response:
        """Show the console."""
        server, query = self.page.server, self.page.request.query_params
        desk = desk_of(server)
        store = await desk.record.store(self.store)
        now_ms = int(time.time() * 1000)
        shown = await lists.read_lists(desk, server.backend_health, self.page.text, store, now_ms)
        values = lists.values(shown, query.get("type", ""))
        may = self.caller.role is None or self.caller.role.allows(Role.OPERATOR)
        values |= {"alert": "", "did": None, "live": False, "may": may} | more
        values["token"] = self.caller.form_token
        values["op"] = lambda: secrets.token_urlsafe(18)
        return self.page.html(template, status, **values)


# Looking -------------------------------------------------------------------------------------


@router.get("")
async def console(
    server: Here,
    request: Request,
    store: str,
    live: bool = False,
    did: Annotated[int | None, Query(ge=1, le=2**53)] = None,
) -> Response:
    """Show the lines; with `live`, only the parts that change."""
    host = await Host.of(server, request, store)
    if live:
        return await host.show("desk/console_live.html", live=True)
    last = await feedback.last_deed(desk_of(server), host.page.text, store, did)
    return await host.show(did=last)


# Acting --------------------------------------------------------------------------------------


@router.post("/act")
async def act(
    server: Here,
    request: Request,
    store: str,
    party: Annotated[int, Form(ge=1, le=2**53)],
    do: Annotated[Action, Form()],
    revision: Annotated[int | None, Form(ge=0)] = None,
    places: Annotated[int | None, Form()] = None,
    op: Word = "",
    token: Word = "",
) -> Response:
    """Apply an action, like a call, a seating or an undo."""
    host = await Host.of(server, request, store, token)
    desk, text = desk_of(server), host.page.text
    try:
        after = await desk.act(
            store,
            party,
            do,
            places=places,
            by=host.caller.name,
            op_id=host.op_id(do, op),
            revision=revision,
        )
    except WaitroomError as error:
        if isinstance(error, Unavailable):
            raise
        message = await feedback.why_not(desk, text, store, error, party)
        return await host.refused(message, status_of(error))
    return host.done(feedback.deed(text, do, after), after, undo=do in feedback.UNDOABLE)


@router.post("/call-next")
async def call_next(
    server: Here,
    request: Request,
    store: str,
    line_name: LineName,
    fits: Annotated[int | None, Form(ge=1, le=1_000)] = None,
    expected: Annotated[int | None, Form(ge=1, le=2**53)] = None,
    op: Word = "",
    token: Word = "",
) -> Response:
    """Call the first party that fits, if it is still the one that the host saw as next."""
    host = await Host.of(server, request, store, token)
    desk, text = desk_of(server), host.page.text
    try:
        after = await desk.call_next(
            store,
            line_name,
            fits=fits,
            expected=expected,
            by=host.caller.name,
            op_id=host.op_id("call_next", op),
        )
    except WaitroomError as error:
        if isinstance(error, Unavailable):
            raise
        message = await feedback.why_not_next(desk, text, store, line_name, error)
        return await host.refused(message, status_of(error))
    if after is None:
        return await host.refused(text("host_next_none"), 409)
    return host.done(feedback.deed(text, Action.CALL, after), after, undo=True)


@router.post("/add")
async def add(
    server: Here,
    request: Request,
    store: str,
    line_name: LineName,
    size: Word = "",
    name: Long = "",
    phone: Long = "",
    note: Long = "",
    op: Word = "",
    token: Word = "",
) -> Response:
    """Add a party that came to the host, even if guests are refused."""
    host = await Host.of(server, request, store, token)
    desk, text = desk_of(server), host.page.text
    try:
        if not size.strip().isdecimal():
            raise InvalidInput("size", "must be a whole number")
        wish = Wish(
            size=int(size[:6]),
            name=name.strip() or None,
            phone=phone.strip() or None,
            note=note.strip() or None,
            source=Source.ON_SITE,
        )
        op_id = host.op_id("join", op)
        party, _ = await desk.join(
            store, line_name, wish, by=host.caller.name, op_id=op_id, force=True
        )
    except WaitroomError as error:
        if isinstance(error, Unavailable):
            raise
        message = feedback.wrong_walk_in(text, await desk.record.store(store), line_name, error)
        return await host.refused(message, status_of(error))
    return host.done(text("did_join", who=say.who(text, party)), party)


@router.post("/store")
async def change_store(
    server: Here,
    request: Request,
    store: str,
    mode: Annotated[StoreMode, Form()],
    reason: Annotated[str, Form(max_length=500)] = "",
    token: Word = "",
) -> Response:
    """Open, pause or close the store, with a reason for guests."""
    host = await Host.of(server, request, store, token)
    why = None if mode is StoreMode.OPEN else reason.strip() or None
    try:
        old = await desk_of(server).record.store(store)
        await changes.change_fields(server, host.caller, old, {"mode": mode, "reason": why})
    except InvalidInput as error:
        return await host.refused(host.page.text("not_done", why=str(error)), status_of(error))
    message = host.page.text("did_mode", mode=host.page.text(f"mode_{mode}"))
    return host.done(message)
