"""Taking a place: who joins, where from, and the place they already have.

How many new places one address gets is counted by the room, for all processes together.
"""

from __future__ import annotations

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
    visitor = _by_key(request)
    _check_backend(server, request)
    join = Join(None, visitor, body.enter, _source(server, request))
    server.engine.join_for(waiter, room, join)
    return True


async def take_place(server: Server, request: VisitorRequest) -> TicketView:
    """Return the view of the caller's place, old or new."""
    room, body = request.room, request.json(JoinBody)
    source = ""
    if body.visitor is not None:
        visitor: str | None = await _known_visitor(server, request, body.visitor)
        server.backend_health.check(room)
    else:
        visitor = _by_key(request)
        _check_backend(server, request)
        source = _source(server, request)
    if room not in server.boards.known:
        await within(server, server.boards.get(room))
    old = None if visitor is not None else _ticket(request)
    if old is not None:
        try:
            view = await server.engine.join(room, old, enter=body.enter, source=source)
        except InvalidTicket:
            pass  # too old, or signed with an earlier secret: treat the holder as new
        else:
            if view.state is not State.GONE:
                return view
    return await server.engine.join(room, visitor=visitor, enter=body.enter, source=source)


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


def _by_key(request: VisitorRequest) -> str | None:
    """Return who joins, where an Idempotency-Key tells."""
    key = idempotency_key(request)
    return None if key is None else f"key:{key}"


def _source(server: Server, request: VisitorRequest) -> str:
    """Return for whom a new place counts; empty if it counts for nobody."""
    if not server.settings.joins_per_minute:
        return ""
    return server.ring.source_name(request.room, *request.source(server.proxies))


def _check_backend(server: Server, request: VisitorRequest) -> None:
    """Raise at once if the backend is away. No room counts then, so each process does."""
    if server.backend_health.is_away(request.room):
        wait_s = server.joins.take(request.source(server.proxies).network)
        if wait_s > 0:
            raise TooMany.joins(wait_s)
    server.backend_health.check(request.room)


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
