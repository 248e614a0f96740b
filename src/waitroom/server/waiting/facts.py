"""The facts that the waiting page shows this caller, collected within the time of an answer.

Reading is safe: a crawler or a prefetching browser that follows a link takes no place.
"""

from __future__ import annotations

import json
import re
import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

import msgspec

from waitroom import errors
from waitroom.estimate.methods import Wait
from waitroom.models import BeforeOpen, Mode, Needs, Policy, Reason, State, TicketView
from waitroom.server.context import Server
from waitroom.server.http.request import VisitorRequest, cookie
from waitroom.server.pages.locales import load_locales
from waitroom.server.pages.text import Text
from waitroom.server.rooms import ticket_json
from waitroom.server.rooms.board import Board
from waitroom.server.rooms.passes import AWAY_PASS_S
from waitroom.server.tickets import actions
from waitroom.server.tickets.away import let_in, open_while_away
from waitroom.server.tickets.limits import check_not_desk, within
from waitroom.server.tickets.responses import ticket_cookies
from waitroom.server.waiting.faces import FACE_OF, Face
from waitroom.server.waiting.progress import PROGRESS_COOKIE, last_progress, progress
from waitroom.server.waiting.view import PageView
from waitroom.short_codes import code_of
from waitroom.web.browser_mark import is_mark
from waitroom.web.names import TICKET_COOKIE

Cookies = list[tuple[bytes, bytes]]
ENDED = {"left": Face.LEFT, "finished": Face.FINISHED}
_REFUSED = {"identity": Face.SIGN_IN, "entered": Face.ENTERED}
_STATUS = {Face.AWAY: 503, Face.UNKNOWN: 404}
INSIDE_COOKIE = "waitroom-inside-"
KEY_COOKIE = "waitroom-key-"
KEY = re.compile(r"[A-Za-z0-9_-]{22}")
"""What a page that asks for a code knows its browser by."""

_TAIL = 8  # characters of a ticket that distinguish it from another of the same browser
_SECRETS = ("ticket", "pass")
_UNREAD = ("accepts", "eta_s", "now", "room", "waiting")  # fields of a room that the script ignores


@dataclass(frozen=True, slots=True)
class Facts:
    """The page's view, the cookies that go with it and the status."""

    page: PageView
    cookies: Cookies

    @property
    def status(self) -> int:
        """Return the HTTP status."""
        return _STATUS.get(self.page.face, 200)


@dataclass(frozen=True, slots=True)
class Asked:
    """The query of the page's address.

    `ended` is how the caller's last place ended, if by their own wish; `refused` is what the room
    has just refused; `wanted` is where they want to go once inside, and `browser` the mark by which
    a gate there knows this browser. `ripe_in_s` is when a page that ripens is ripe, if it is not.
    """

    ended: str | None = None
    refused: str | None = None
    wanted: str | None = None
    browser: str | None = None
    ripe_in_s: int | None = None


async def facts(
    server: Server, request: VisitorRequest, text: Text, nonce: str, asked: Asked
) -> Facts:
    """Collect the facts."""
    now_ms = int(time.time() * 1000)
    page = PageView(
        room=request.room,
        face=Face.UNKNOWN,
        now_ms=now_ms,
        nonce=nonce,
        text=text,
        locales=load_locales(server.settings.locales),
        refused=asked.refused,
        wanted=asked.wanted,
        browser=mark_in(asked.browser),
        push=server.push_key or None,
        host=host_of(server, request),
        secure=request.is_https(server.proxies),
    )
    try:
        board = await known_room(server, request.room)
        page = replace(page, policy=board.policy)
        return await _known(server, request, board, page, asked)
    except (errors.UnknownRoom, errors.InvalidRoomName):
        return Facts(page, [])
    except (errors.Unavailable, errors.BrokenRoom, errors.UpgradeNeeded):
        server.backend_health.suspect()
        return _away(server, request, page)


def host_of(server: Server, request: VisitorRequest) -> str | None:
    """Return our host as the visitor's browser names it."""
    return urlsplit(server.settings.public_url or "").netloc or request.header(b"host")


def mark_in(text: str | None) -> str | None:
    """Return the mark of a browser, if a text is one."""
    return text if text is not None and is_mark(text) else None


async def known_room(server: Server, room: str) -> Board:
    """Return the board of a room, which is known here from now on."""
    check_not_desk(room)
    board = server.boards.known.get(room)
    if board is None:
        server.backend_health.check(room)
        board = await within(server, server.boards.get(room))
    server.boards.want(room)
    return board


async def _known(
    server: Server, request: VisitorRequest, board: Board, page: PageView, asked: Asked
) -> Facts:
    page = replace(
        page,
        view=_plain(ticket_json.room_body(board), _UNREAD),
        holding=board.stats.hold_until_ms is not None,
        message_at_ms=board.stats.message_at_ms,
        mode=board.stats.mode,
    )
    if request.ticket:
        try:
            view = await within(server, actions.poll(server, request))
            return _with_ticket(server, request, page, view)
        except errors.InvalidTicket:
            pass  # too old, or signed with an earlier secret: treat the holder as new
    server.backend_health.check(request.room)
    refused = _REFUSED.get(page.refused or "")
    face = ENDED.get(asked.ended or "") or refused or _newcomer(board, page)
    if face in (Face.JOIN, Face.CODE) and asked.ripe_in_s is not None:
        page, face = replace(page, ripe_in_s=asked.ripe_in_s), Face.RIPENING
    return _asking(server, request, replace(page, face=face))


def _newcomer(board: Board, page: PageView) -> Face:
    policy, stats, now_ms = board.policy, board.stats, page.now_ms
    if stats.mode in (Mode.CLOSED, Mode.ENDED):
        return Face(str(stats.mode))
    if _early(policy, now_ms) and policy.before_open is BeforeOpen.REFUSE:
        return Face.SOON
    if policy.needs is Needs.CODE:
        return Face.CODE
    if policy.queue_limit is not None and stats.waiting >= policy.queue_limit:
        return Face.FULL
    return Face.SIGN_IN if policy.needs is Needs.IDENTITY else Face.JOIN


def _asking(server: Server, request: VisitorRequest, page: PageView) -> Facts:
    """Return a page that may ask for a code; it knows this browser again if an answer is lost."""
    if not (page.needs_code and page.may_rejoin):
        return Facts(page, [])
    name, safe = KEY_COOKIE + request.room, request.is_https(server.proxies)
    key = request.cookie(name) or ""
    if not KEY.fullmatch(key):
        key = secrets.token_urlsafe(16)
    kept = cookie(name, key, secure=safe, max_age_s=86_400)
    return Facts(replace(page, key=key), [kept])


def _early(policy: Policy, now_ms: int) -> bool:
    opens = policy.opens_at_ms
    return opens is not None and now_ms < opens and policy.mode is not Mode.BYPASS


def _with_ticket(
    server: Server, request: VisitorRequest, page: PageView, view: TicketView
) -> Facts:
    if view.state is State.GONE:
        return _asking(server, request, replace(page, face=_gone(request, page, view)))
    body = _plain(ticket_json.ticket_body(server.boards, server.passes, view))
    eta = body["eta_s"]
    page = replace(
        page,
        face=_face(page, view),
        holds=True,
        code=code_of(view.id),
        waiting=view.waiting,
        position=view.position,
        restoring=view.restoring,
        eta=Wait(**eta) if eta else None,
        eta_reason=body["eta_reason"],
        enter_by_ms=view.enter_by_ms,
        session_ends_at_ms=view.session_ends_at_ms,
        poll_after_ms=body["poll_after_ms"],
        ticket=body,
    )
    cookies: Cookies = []
    if view.ticket != request.cookie(TICKET_COOKIE + request.room) or view.state is State.INSIDE:
        cookies += ticket_cookies(server, request, view)
    if view.state is State.INSIDE:
        cookies.append(inside(server, request, view.ticket))
    return _remembered(server, request, page, view, cookies)


def inside(server: Server, request: VisitorRequest, ticket: str) -> tuple[bytes, bytes]:
    """Return the cookie that remembers that this ticket was inside: the backend soon forgets it."""
    safe = request.is_https(server.proxies)
    return cookie(INSIDE_COOKIE + request.room, ticket[-_TAIL:], secure=safe, max_age_s=86_400)


def _gone(request: VisitorRequest, page: PageView, view: TicketView) -> Face:
    if view.reason is Reason.KICKED and page.refused == "join":
        return Face.BANNED
    if page.refused in _REFUSED:
        return _REFUSED[page.refused]
    if (
        view.reason is Reason.PASSED
        and request.cookie(INSIDE_COOKIE + request.room) == request.ticket[-_TAIL:]
    ):
        return Face.OVER
    return FACE_OF[view.reason] if view.reason else Face.PASSED


def _face(page: PageView, view: TicketView) -> Face:
    if view.state is not State.WAITING:
        return Face(str(view.state))
    if page.ended:
        return Face.ENDED
    policy = page.policy
    early = policy is not None and _early(policy, page.now_ms)
    passes = policy is not None and policy.before_open is BeforeOpen.PASS
    return Face.SOON if early and not passes else Face.WAITING


def _remembered(
    server: Server, request: VisitorRequest, page: PageView, view: TicketView, cookies: Cookies
) -> Facts:
    """Show no higher number than this browser has seen."""
    name = PROGRESS_COOKIE + request.room
    if view.position is None:
        last = last_progress(request.cookie(name), view.id) if view.restoring else None
        if last is not None:
            page = replace(page, position=last.least, start=last.start)
        return Facts(page, cookies)
    shown = progress(request.cookie(name), view.id, view.position)
    page = replace(page, position=shown.least, start=shown.start)
    progress_cookie = cookie(
        name, shown.value(view.id), secure=request.is_https(server.proxies), max_age_s=86_400
    )
    return Facts(page, [*cookies, progress_cookie])


def _away(server: Server, request: VisitorRequest, page: PageView) -> Facts:
    """Return the page while the backend is away; a room may let people in then."""
    policy = page.policy or server.engine.policy_of(request.room)
    page = replace(page, face=Face.AWAY, policy=policy)
    if not open_while_away(server, request.room, known=_proven(server, request)):
        return Facts(page, [])
    body, pass_cookie = let_in(server, request, request.ticket)
    ends_ms = page.now_ms + AWAY_PASS_S * 1000
    page = replace(page, face=Face.INSIDE, session_ends_at_ms=ends_ms, ticket=_plain(body))
    return Facts(page, [pass_cookie])


def _proven(server: Server, request: VisitorRequest) -> bool:
    """Return whether the caller holds a ticket of the room, as far as its signature tells."""
    try:
        return bool(request.ticket and server.ring.read(request.room, request.ticket))
    except errors.InvalidTicket:
        return False


def _plain(body: msgspec.Struct, without: Sequence[str] = _SECRETS) -> dict[str, Any]:
    """Return a body of the API for the script, without the secrets that only cookies may hold."""
    fields: dict[str, Any] = json.loads(msgspec.json.encode(body))
    return {name: value for name, value in fields.items() if name not in without}
