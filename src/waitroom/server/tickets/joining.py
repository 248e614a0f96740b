"""Taking a place: who joins, how often they may, and the place they already have."""

from __future__ import annotations

import math

from waitroom.credentials.roles import Role
from waitroom.engine import Join, Waiter
from waitroom.errors import InvalidInput, InvalidTicket, TooMany, Unauthorized
from waitroom.models import State, TicketView
from waitroom.server.context import Server
from waitroom.server.http import auth
from waitroom.server.http.request import VisitorRequest
from waitroom.server.tickets.bodies import JoinBody
from waitroom.server.tickets.limits import check_not_desk, within
from waitroom.web.names import TICKET_COOKIE

SHORTEST_KEY, LONGEST_KEY = 16, 128


def ask_for_place(server: Server, request: VisitorRequest, waiter: Waiter) -> bool:
    """Ask for the place of a stranger without a ticket, in a room that is known here."""
    room, body = request.room, request.json(JoinBody)
    check_not_desk(room)
    if body.visitor is not None or room not in server.boards.known or _ticket(request) is not None:
        return False
    stranger = _stranger(server, request)
    server.backend_health.check(room)
    server.engine.join_for(waiter, room, Join(None, stranger, body.enter))
    return True


async def take_place(server: Server, request: VisitorRequest) -> TicketView:
    """Return the view of the caller's place, old or new."""
    room, body = request.room, request.json(JoinBody)
    if body.visitor is not None:
        visitor: str | None = await _known_visitor(server, request, body.visitor)
    else:
        visitor = _stranger(server, request)
    server.backend_health.check(room)
    if room not in server.boards.known:
        await within(server, server.boards.get(room))
    old = None if visitor is not None else _ticket(request)
    if old is not None:
        try:
            view = await server.engine.join(room, old, enter=body.enter)
        except InvalidTicket:
            pass  # too old, or signed with an earlier secret: treat the holder as new
        else:
            if view.state is not State.GONE:
                return view
    return await server.engine.join(room, visitor=visitor, enter=body.enter)


def _ticket(request: VisitorRequest) -> str | None:
    return request.cookie(TICKET_COOKIE + request.room)


async def _known_visitor(server: Server, request: VisitorRequest, visitor: str) -> str:
    """Return who joins, in the words of a site that may say so."""
    server.backend_health.check(request.room)
    if not request.bearer:
        raise Unauthorized("`visitor` may be given only with an API key")
    address = request.address(server.proxies)
    who = await within(server, auth.who_is(server, request.bearer, address))
    who.need(Role.OPERATOR)
    return f"visitor:{visitor}"


def _stranger(server: Server, request: VisitorRequest) -> str | None:
    """Return who joins, where a key tells; strangers are counted by their address."""
    wait_s = server.joins.take(request.source(server.proxies).network)
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
