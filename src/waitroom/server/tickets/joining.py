"""Taking a place: who joins, from where, and the place they already have.

The room counts how many new places one address gets, for all processes together.
"""

from __future__ import annotations

from waitroom.credentials.roles import Role
from waitroom.engine import ClaimUse, Join, Waiter
from waitroom.errors import InvalidTicket, TooMany, Unauthorized
from waitroom.models import Policy, State, TicketView
from waitroom.server.context import Server
from waitroom.server.http import auth
from waitroom.server.http.request import VisitorRequest
from waitroom.server.tickets.bodies import JoinBody
from waitroom.server.tickets.entry import claims, codes
from waitroom.server.tickets.entry import newcomer as entry
from waitroom.server.tickets.entry.newcomer import Newcomer
from waitroom.server.tickets.limits import check_not_desk, within
from waitroom.web.names import TICKET_COOKIE


def ask_for_place(server: Server, request: VisitorRequest, waiter: Waiter) -> bool:
    """Ask for a place for a newcomer without a ticket, in a room that is known here."""
    room, body = request.room, request.json(JoinBody)
    check_not_desk(room)
    if body.visitor is not None or room not in server.boards.known or _ticket(request) is not None:
        return False
    newcomer = entry.check(server, request, body, server.engine.policy_of(room))
    if newcomer is None:
        return False
    _check_backend(server, request)
    visitor, code, account, narrow = newcomer
    # A site knows its accounts: one place each.
    counts = narrow is not None or code is not None
    source = "" if account else _source(server, request, always=counts)
    join = Join(None, visitor, body.enter, source, account, code, narrow, account is None)
    server.engine.join_for(waiter, room, join)
    return True


async def take_place(server: Server, request: VisitorRequest) -> TicketView:
    """Return the view of the caller's place, old or new."""
    room, body = request.room, request.json(JoinBody)
    if body.visitor is not None:
        visitor = await _known_visitor(server, request, body.visitor)
        server.backend_health.check(room)
        await _know(server, room)
        code = codes.shown(server, room, body, visitor)
        return await server.engine.join(room, visitor=visitor, enter=body.enter, code=code)
    by_key = entry.by_key(request)  # a key that is not valid is refused before anything is asked
    _check_backend(server, request)
    await _know(server, room)
    policy = server.engine.policy_of(room)
    account = None if body.claim is None else claims.use(server, room, body.claim)
    # With a code the key is for repeats; somebody who has a place keeps it, and the code.
    shows = body.code is not None or account is not None
    old = _ticket(request) if by_key is None or shows else None
    if old is not None:
        try:
            view = await _keep(server, request, body, policy, old, account)
        except InvalidTicket:
            pass  # too old, or signed with an earlier secret: treat the holder as new
        else:
            if view is not None and view.state is not State.GONE:
                return view
    newcomer = (
        Newcomer(by_key)
        if policy is None
        else await entry.ask(server, request, body, policy, account)
    )
    narrow, counts = newcomer.narrow, newcomer.narrow is not None or newcomer.code is not None
    return await server.engine.join(
        room,
        visitor=newcomer.visitor,
        enter=body.enter,
        source="" if account else _source(server, request, always=counts),
        account=account,  # one use of the claim, whether or not a place was adopted
        code=newcomer.code,
        narrow=narrow,
        stranger=account is None,  # the room may need identity since this process last heard
    )


async def _keep(
    server: Server,
    request: VisitorRequest,
    body: JoinBody,
    policy: Policy | None,
    old: str,
    account: ClaimUse | None,
) -> TicketView | None:
    """Return the place that the caller's ticket has; with a claim it is their account's now."""
    room, engine = request.room, server.engine
    if account is not None:
        return await engine.adopt(room, old, account)
    # Joining with a ticket whose place is gone would give a new place to whoever shows nothing.
    if policy is not None and policy.asks_newcomers:
        return await engine.poll(room, old)
    source = _source(server, request)
    return await engine.join(room, old, enter=body.enter, source=source, stranger=True)


async def _know(server: Server, room: str) -> None:
    if room not in server.boards.known:
        await within(server, server.boards.get(room))


def _ticket(request: VisitorRequest) -> str | None:
    return request.cookie(TICKET_COOKIE + request.room)


async def _known_visitor(server: Server, request: VisitorRequest, visitor: str) -> str:
    """Return who joins, as named by a site that may do so."""
    server.backend_health.check(request.room)
    if not request.bearer:
        raise Unauthorized("`visitor` may be given only with an API key")
    address = request.address(server.proxies)
    who = await within(server, auth.who_is(server, request.bearer, address))
    who.need(Role.OPERATOR)
    return f"visitor:{visitor}"


def _source(server: Server, request: VisitorRequest, *, always: bool = False) -> str:
    """Return the source that a new place counts for; empty if nothing counts joins here."""
    if not server.settings.joins_per_minute and not always:
        return ""
    return server.ring.source_name(request.room, *request.source(server.proxies))


def _check_backend(server: Server, request: VisitorRequest) -> None:
    """Raise at once if the backend is away. No room can count then, so each process does."""
    if server.backend_health.is_away(request.room):
        wait_s = server.joins.take(request.source(server.proxies).network)
        if wait_s > 0:
            raise TooMany.joins(wait_s)
    server.backend_health.check(request.room)
