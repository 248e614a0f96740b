"""Visitors' requests declared for the framework: their OpenAPI, and the path without the lane.

Each route passes its request to the same function that the lane calls, so both answer the same.
"""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from starlette.types import Receive, Scope, Send

from waitroom.errors import BodyTooLarge
from waitroom.server.context import Here, Server
from waitroom.server.http.bodies import TOO_LARGE
from waitroom.server.http.openapi import RoomName, TicketText, problems
from waitroom.server.http.request import MOST_BODY, VisitorRequest
from waitroom.server.rooms.schemas import RoomView, Ticket
from waitroom.server.tickets import actions
from waitroom.server.tickets.actions import Action
from waitroom.server.tickets.bodies import DeferBody, JoinBody
from waitroom.server.visitor import events
from waitroom.server.visitor.schemas import IDEMPOTENCY_KEY, content, request_body

router = APIRouter(prefix="/v1")


async def _plain(
    server: Server, action: Action, request: Request, room: str, ticket: str | None
) -> Response:
    visitor_request = VisitorRequest.of(
        server.origins, request.scope, room, ticket, await request.body()
    )
    # The lane stops reading there.
    if request.method == "POST" and len(visitor_request.body) > MOST_BODY:
        raise BodyTooLarge(TOO_LARGE.format(MOST_BODY))
    return (await actions.respond(server, action, visitor_request)).response()


@router.post(
    "/rooms/{room}/tickets",
    operation_id="joinRoom",
    status_code=201,
    responses=problems(400, 401, 403, 404, 408, 413, 422, 429, 503)
    | {200: {"description": "A place already held"} | content(Ticket), 201: content(Ticket)},
    openapi_extra={**request_body(JoinBody, required=False), "parameters": [IDEMPOTENCY_KEY]},
    tags=["visitors"],
)
async def join(server: Here, request: Request, room: RoomName) -> Response:
    """Take a place, or keep the one you have.

    A browser gets its ticket as a cookie too.
    """
    return await _plain(server, actions.join, request, room, None)


@router.get(
    "/rooms/{room}/tickets/{ticket}",
    operation_id="pollTicket",
    responses=problems(404, 410, 422, 503) | {200: content(Ticket)},
    tags=["visitors"],
)
async def status(server: Here, request: Request, room: RoomName, ticket: TicketText) -> Response:
    """Return where a ticket is, and note that its holder is still there."""
    return await _plain(server, actions.status, request, room, ticket)


class _EventStream(Response):
    """The answer to a request for events: it takes over the connection."""

    media_type = "text/event-stream"

    def __init__(self, server: Server, request: VisitorRequest) -> None:
        super().__init__()
        self._server, self._request = server, request

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve events until either side ends them."""
        del scope
        await events.serve(self._server, self._request, receive, send)


@router.get(
    "/rooms/{room}/tickets/{ticket}/events",
    operation_id="followTicket",
    status_code=200,
    response_class=_EventStream,
    responses=problems(404, 422, 429, 503)
    | {
        200: {
            "description": "Server-Sent Events: `ticket`, `room`, `gone`, `away`, `reconnect`",
            "content": {"text/event-stream": {"schema": {"type": "string"}}},
        }
    },
    tags=["visitors"],
)
async def ticket_events(
    server: Here, request: Request, room: RoomName, ticket: TicketText
) -> Response:
    """Follow a ticket live: each event is the whole state, so a reconnect misses nothing."""
    return _EventStream(server, VisitorRequest.of(server.origins, request.scope, room, ticket))


@router.post(
    "/rooms/{room}/tickets/{ticket}/enter",
    operation_id="enterRoom",
    responses=problems(400, 404, 408, 409, 410, 413, 422, 503) | {200: content(Ticket)},
    tags=["visitors"],
)
async def enter(server: Here, request: Request, room: RoomName, ticket: TicketText) -> Response:
    """Go inside; the answer has the pass. A repeated request gets the same session."""
    return await _plain(server, actions.enter, request, room, ticket)


@router.post(
    "/rooms/{room}/tickets/{ticket}/renew",
    operation_id="renewTicket",
    responses=problems(400, 404, 408, 409, 410, 413, 422, 503) | {200: content(Ticket)},
    tags=["visitors"],
)
async def renew(server: Here, request: Request, room: RoomName, ticket: TicketText) -> Response:
    """Extend a session, where the room's policy has `renewable`."""
    return await _plain(server, actions.renew, request, room, ticket)


@router.post(
    "/rooms/{room}/tickets/{ticket}/defer",
    operation_id="deferTicket",
    responses=problems(400, 404, 408, 409, 410, 413, 422, 503) | {200: content(Ticket)},
    openapi_extra={**request_body(DeferBody, required=True), "parameters": [IDEMPOTENCY_KEY]},
    tags=["visitors"],
)
async def defer(server: Here, request: Request, room: RoomName, ticket: TicketText) -> Response:
    """Let some people go first; the answer has a new ticket."""
    return await _plain(server, actions.defer, request, room, ticket)


@router.post(
    "/rooms/{room}/tickets/{ticket}/finish",
    operation_id="finishTicket",
    status_code=204,
    responses=problems(400, 404, 408, 409, 410, 413, 422, 503),
    tags=["visitors"],
)
async def finish(server: Here, request: Request, room: RoomName, ticket: TicketText) -> Response:
    """End a session; its place goes to the next person at once."""
    return await _plain(server, actions.finish, request, room, ticket)


@router.delete(
    "/rooms/{room}/tickets/{ticket}",
    operation_id="leaveRoom",
    status_code=204,
    responses=problems(400, 404, 408, 410, 413, 422, 503),
    tags=["visitors"],
)
async def leave(server: Here, request: Request, room: RoomName, ticket: TicketText) -> Response:
    """Give up a place, a turn or a session."""
    return await _plain(server, actions.leave, request, room, ticket)


@router.get(
    "/rooms/{room}",
    operation_id="viewRoom",
    responses=problems(404, 422, 503) | {200: content(RoomView)},
    tags=["visitors"],
)
async def room_view(server: Here, request: Request, room: RoomName) -> Response:
    """Show a room to anybody: is it open, how many wait, how long would it take."""
    return await _plain(server, actions.room, request, room, None)
