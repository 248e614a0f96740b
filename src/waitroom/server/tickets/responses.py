"""The answer with a ticket: its JSON, and for browsers the cookies that hold ticket and pass."""

from __future__ import annotations

import time

from msgspec.structs import replace

from waitroom.models import State, TicketView
from waitroom.server.context import Server
from waitroom.server.http import answers
from waitroom.server.http.answers import Answer, Headers
from waitroom.server.http.request import VisitorRequest, cookie
from waitroom.server.rooms.ticket_json import gone_answer, ticket_body
from waitroom.short_codes import code_of
from waitroom.web.names import PASS_COOKIE, TICKET_COOKIE


def show(
    server: Server, request: VisitorRequest, view: TicketView, status: int, *, coded: bool = False
) -> Answer:
    """Answer with a ticket; a browser that does not have it yet gets it as a cookie too.

    With `coded`, the short code is added.
    """
    if view.state is State.GONE:
        return gone_answer(view)
    ticket = ticket_body(server.boards, server.passes, view)
    body = answers.encode(replace(ticket, short_code=code_of(view.id)) if coded else ticket)
    if not request.takes_cookies:
        return Answer(status, answers.JSON, body)
    known = request.cookie(TICKET_COOKIE + request.room) == view.ticket
    if known and view.state is not State.INSIDE:
        return Answer(status, answers.JSON, body)
    return Answer(status, [*answers.JSON, *ticket_cookies(server, request, view)], body)


def forget(server: Server, request: VisitorRequest) -> Answer:
    """Answer that a ticket is gone, and delete a browser's cookies."""
    if not request.takes_cookies:
        return Answer(204, answers.EMPTY, b"")
    secure = request.is_https(server.proxies)
    names = (TICKET_COOKIE + request.room, PASS_COOKIE + request.room)
    # Over https also those of an older server, which would otherwise be read again.
    ways = (True, False) if secure else (False,)
    emptied = [cookie(name, "", secure=way, max_age_s=0) for name in names for way in ways]
    return Answer(204, [*answers.EMPTY, *emptied], b"")


def ticket_cookies(server: Server, request: VisitorRequest, view: TicketView) -> Headers:
    """Return the cookies that a browser gets with a view: its ticket, and inside its pass."""
    policy = server.boards.known[view.room].policy if view.room in server.boards.known else None
    secure = request.is_https(server.proxies)
    life_s = policy.ticket_ttl_s if policy else None
    cookies = [cookie(TICKET_COOKIE + view.room, view.ticket, secure=secure, max_age_s=life_s)]
    if view.state is State.INSIDE:
        pass_, ends = server.passes.of(view), view.session_ends_at_ms
        left_s = None if ends is None else max(1.0, ends / 1000 - time.time())
        cookies.append(cookie(PASS_COOKIE + view.room, pass_, secure=secure, max_age_s=left_s))
    return cookies
