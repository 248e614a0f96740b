"""Taking a place: who joins, how often they may, and the place they already have."""

from __future__ import annotations

import math

from waitroom.credentials.roles import Role
from waitroom.errors import InvalidInput, InvalidTicket, TooMany, Unauthorized
from waitroom.models import State, TicketView
from waitroom.server.context import Server
from waitroom.server.http import auth
from waitroom.server.http.request import VisitorRequest
from waitroom.server.tickets.bodies import JoinBody
from waitroom.server.tickets.limits import check_not_desk, within
from waitroom.web.names import TICKET_COOKIE

SHORTEST_KEY, LONGEST_KEY = 16, 128


async def take_place(server: Server, request: VisitorRequest, body: JoinBody) -> TicketView:
    """Return the view of the caller's place, old or new."""
    check_not_desk(request.room)
    visitor = await _visitor(server, request, body)
    server.backend_health.check(request.room)
    if request.room not in server.boards.known:
        await within(server, server.boards.get(request.room))
    old = None if visitor is not None else request.cookie(TICKET_COOKIE + request.room)
    if old is not None:
        try:
            view = await server.engine.join(request.room, old, enter=body.enter)
        except InvalidTicket:
            pass  # too old, or signed with an earlier secret: treat the holder as new
        else:
            if view.state is not State.GONE:
                return view
    return await server.engine.join(request.room, visitor=visitor, enter=body.enter)


async def _visitor(server: Server, request: VisitorRequest, body: JoinBody) -> str | None:
    """Return who joins, if they are known; a stranger is counted by their address."""
    address = request.address(server.proxies)
    if body.visitor is not None:
        server.backend_health.check(request.room)
        if not request.bearer:
            raise Unauthorized("`visitor` may be given only with an API key")
        who = await within(server, auth.who_is(server, request.bearer, address))
        who.need(Role.OPERATOR)
        return f"visitor:{body.visitor}"
    wait_s = server.joins.take(address)
    if wait_s > 0:
        server.counters.limited("joins")
        raise TooMany("too many people join from this address; try again", math.ceil(wait_s))
    key = idempotency_key(request)
    return None if key is None else f"key:{key}"


def idempotency_key(request: VisitorRequest) -> str | None:
    """Return the Idempotency-Key, if there is a good one."""
    text = request.header(b"idempotency-key")
    if text is None:
        return None
    good = text.isascii() and text.isprintable() and SHORTEST_KEY <= len(text) <= LONGEST_KEY
    if not good:
        # Somebody who guesses another's key gets their place, so a short key is refused.
        raise InvalidInput(
            "Idempotency-Key",
            f"takes {SHORTEST_KEY} to {LONGEST_KEY} printable characters; use a random UUID",
        )
    return text
