"""Visitors' actions with tickets: for the lane, the framework's routes and the page's forms.

Each action takes the server and a `VisitorRequest` and returns an `Answer`; `respond` turns an
error into a problem, or, while the backend is away, into what the room's policy says.
"""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable

from waitroom.engine import Waiter
from waitroom.engine.handoffs import Handoff
from waitroom.errors import (
    BackendUnavailable,
    InvalidInput,
    NotYourTurn,
    Slow,
    TooMany,
    WaitroomError,
)
from waitroom.models import State, TicketView
from waitroom.server.context import Server
from waitroom.server.http import answers, problems
from waitroom.server.http.answers import Answer
from waitroom.server.http.request import VisitorRequest
from waitroom.server.rooms.ticket_json import gone_error, room_body, ticket_body
from waitroom.server.tickets.away import away_answer
from waitroom.server.tickets.bodies import DeferBody
from waitroom.server.tickets.entry.newcomer import idempotency_key
from waitroom.server.tickets.joining import ask_for_place, take_place
from waitroom.server.tickets.limits import check_not_desk, within
from waitroom.server.tickets.quick import Quick, Shown, take
from waitroom.server.tickets.responses import forget, show
from waitroom.web.browser_mark import is_mark

Action = Callable[[Server, VisitorRequest], Awaitable[Answer]]
_LONGEST_TICKET = 256


async def respond(server: Server, action: Action, request: VisitorRequest) -> Answer:
    """Run an action; one of our errors becomes a problem."""
    try:
        noted = server.under_way.begin(request)
        try:
            return await action(server, request)
        finally:
            server.under_way.end(noted)
    except WaitroomError as error:
        return refuse(server, request, action, error)


def refuse(server: Server, request: VisitorRequest, action: Action, error: WaitroomError) -> Answer:
    """Return the answer to an error."""
    if isinstance(error, TooMany) and error.of_joins:
        server.counters.limited("joins")
    if isinstance(error, BackendUnavailable | Slow):
        server.backend_health.suspect()
        if server.backend_health.is_away(request.room):
            return away_answer(server, request, error, may_enter=action in _MAY_ENTER)
        error = Slow()
    return problems.answer(error)


async def status(server: Server, request: VisitorRequest) -> Answer:
    """Answer where a ticket is."""
    return await take(server, request, POLL, poll)


def _ask_where(server: Server, request: VisitorRequest, waiter: Waiter) -> bool:
    """Poll a ticket of a room that is known here."""
    room = request.room
    if room not in server.boards.known or server.backend_health.is_away(room):
        return False
    return server.engine.poll_for(waiter, room, request.ticket)


def _show_where(server: Server, request: VisitorRequest, view: TicketView) -> Answer:
    if request.path_ticket == "me" or view.state is State.GONE:
        return show(server, request, view, 200)
    body = ticket_body(server.boards, server.passes, view)
    return Answer(200, answers.JSON, answers.encode(body))


async def poll(server: Server, request: VisitorRequest) -> TicketView:
    """Return the view of the caller's ticket, and note that its holder is there."""
    server.backend_health.check(request.room)
    ticket = await within(server, server.engine.read_ticket(request.room, request.ticket))
    await within(server, server.boards.get(request.room))
    return await server.engine.poll(request.room, ticket)


async def join(server: Server, request: VisitorRequest) -> Answer:
    """Take a place, or keep the caller's present one."""
    return await take(server, request, JOIN, take_place)


def _show_place(server: Server, request: VisitorRequest, view: TicketView) -> Shown:
    board = server.boards.known.get(request.room)
    if view.state is State.WAITING and board is not None and not board.stats.waiting:
        return _show_first(server, request, view)
    return show(server, request, view, 201 if view.new else 200, coded=True)


async def _show_first(server: Server, request: VisitorRequest, view: TicketView) -> Answer:
    # The board is older than the rush, and would promise the first in line no wait at all.
    with contextlib.suppress(WaitroomError):  # the join has succeeded, whatever the board says
        await within(server, server.boards.renew(request.room))
    return show(server, request, view, 201 if view.new else 200, coded=True)


POLL = Quick(_ask_where, _show_where)
JOIN = Quick(ask_for_place, _show_place)


async def enter(server: Server, request: VisitorRequest) -> Answer:
    """Go inside; the answer carries the pass."""
    server.backend_health.check(request.room)
    view = await server.engine.enter(request.room, request.ticket)
    return show(server, request, view, 200)


async def renew(server: Server, request: VisitorRequest) -> Answer:
    """Extend the session."""
    server.backend_health.check(request.room)
    view = await server.engine.renew(request.room, request.ticket)
    return show(server, request, view, 200)


async def defer(server: Server, request: VisitorRequest) -> Answer:
    """Let some people go first."""
    server.backend_health.check(request.room)
    places = request.json(DeferBody).places
    if not places.is_integer():
        raise InvalidInput("places", "must be a whole number")
    room, ticket, op_id = request.room, request.ticket, _op_id(server, request)
    view = await server.engine.defer(room, ticket, int(places), op_id=op_id)
    return show(server, request, view, 200)


async def finish(server: Server, request: VisitorRequest) -> Answer:
    """End the session; its place goes to the next person."""
    server.backend_health.check(request.room)
    await server.engine.finish(request.room, request.ticket)
    return forget(server, request)


async def leave(server: Server, request: VisitorRequest) -> Answer:
    """Give up the place, the turn or the session."""
    server.backend_health.check(request.room)
    await server.engine.leave(request.room, request.ticket)
    return forget(server, request)


async def room(server: Server, request: VisitorRequest) -> Answer:
    """Show a room to anybody."""
    check_not_desk(request.room)
    board = server.boards.known.get(request.room)
    if board is None:
        server.backend_health.check(request.room)
        board = await within(server, server.boards.get(request.room))
    server.boards.want(request.room)
    return Answer(200, answers.JSON, answers.encode(room_body(board)))


async def hand_off(server: Server, request: VisitorRequest, browser: str | None = None) -> str:
    """Return a one-time code that takes the caller's session to a site on another host.

    `browser` is the mark of the browser that the code is for, as the gate of that site gave it.
    """
    if browser is not None and not is_mark(browser):
        raise InvalidInput("browser", "is not the mark that a gate gives its waiting page")
    view = await poll(server, request)
    if view.state is State.GONE:
        raise gone_error(view)
    if view.state is not State.INSIDE:
        raise NotYourTurn("only a session inside can be handed over; enter first")
    session = Handoff(request.room, view.id, view.sid or 0, view.session_ends_at_ms, browser)
    return await server.handoffs.make(session)


def _op_id(server: Server, request: VisitorRequest) -> str | None:
    """Return the caller's Idempotency-Key as an id of its own kind; two callers never share one."""
    key = idempotency_key(request)
    if key is None:
        return None
    return server.ring.visitor_id(request.room, f"op:{request.ticket[:_LONGEST_TICKET]}:{key}")


_MAY_ENTER = {join, status, enter}
