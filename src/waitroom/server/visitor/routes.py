"""Visitor calls declared for the framework: their OpenAPI, and the plain path behind the lane.

Each route hands its request to the same function that the lane calls, so both answer the same.
"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, FastAPI, Path, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field
from starlette.types import Receive, Scope, Send

from waitroom.errors import BodyTooLarge
from waitroom.server.context import Here, Server
from waitroom.server.http.bodies import TOO_LARGE
from waitroom.server.http.problems import MEDIA_TYPE, TITLES
from waitroom.server.http.request import MOST_BODY, Call
from waitroom.server.site import check
from waitroom.server.visitor import events, service
from waitroom.server.visitor.lane import room_asked

router = APIRouter(prefix="/v1")
RoomName = Annotated[
    str, Path(description="The room.", examples=["concert"], pattern=r"^[^/]+$", min_length=1)
]
TicketText = Annotated[
    str,
    Path(
        description="The ticket, or `me` to take it from the cookie or `Authorization: Bearer`.",
        examples=["me"],
        pattern=r"^[^/]+$",
        min_length=1,
    ),
]


class Problem(BaseModel):
    """What went wrong (RFC 9457)."""

    model_config = ConfigDict(extra="allow")
    type: str = Field(examples=["/docs/errors#room_full"])
    title: str
    status: int
    detail: str
    code: str = Field(description="Stable: programs decide by it.", examples=["room_full"])


class Eta(BaseModel):
    """An honest range of the wait, in seconds."""

    low: int
    likely: int
    high: int


class Ticket(BaseModel):
    """A ticket as its holder sees it."""

    room: str
    ticket: str = Field(description="Opaque; keep it secret, it is the place.")
    state: str = Field(pattern="^(waiting|called|inside)$")
    position: int | None = Field(description="1 is next; null where it means nothing or is hidden.")
    waiting: int = Field(description="How many wait in all.")
    eta_s: Eta | None
    poll_after_ms: int = Field(description="Ask again after so long.")
    enter_by: str | None = Field(None, description="Of a called ticket: enter before.")
    session_ends_at: str | None = Field(None, description="Of a ticket inside.")
    pass_: str | None = Field(None, alias="pass", description="Of a ticket inside: the proof.")


class RoomView(BaseModel):
    """A room as anybody may see it."""

    room: str
    title: str
    mode: str
    opens_at: str | None
    before_open: str
    waiting: int
    eta_s: Eta | None = Field(description="For somebody who joined now.")
    holding: bool = Field(description="Whether admission holds after a loss of state.")
    changed_at: str | None
    accepts: bool = Field(description="Whether a join would be taken.")
    now: str


class JoinBody(BaseModel):
    """Who joins, and how."""

    model_config = ConfigDict(extra="forbid")
    visitor: str | None = Field(
        None,
        min_length=1,
        max_length=service.LONGEST_VISITOR,
        description="Who it is, so that one person has one place. Needs an API key.",
    )
    enter: bool = Field(False, description="Go inside in the same call if there is room.")


class DeferBody(BaseModel):
    """How far back."""

    model_config = ConfigDict(extra="forbid")
    places: int = Field(ge=1, le=1_000_000, examples=[10])


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the documentation of the problems that a route may answer."""
    # By reference, for FastAPI would document a model as `application/json`; `document` adds it.
    content = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return {one: {"description": TITLES[one], "content": content} for one in statuses}


def document(app: FastAPI) -> dict[str, Any]:
    """Return the OpenAPI document of an app whose routes answer problems."""
    if app.openapi_schema is None:
        found = FastAPI.openapi(app)
        found["components"]["schemas"]["Problem"] = Problem.model_json_schema()
    return app.openapi_schema or {}


def _body(model: type[BaseModel], *, required: bool) -> dict[str, Any]:
    # The handlers read the body themselves, as the lane does; this only documents it.
    content = {"application/json": {"schema": model.model_json_schema()}}
    return {"requestBody": {"required": required, "content": content}}


_KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "Repeating a call with the same key answers the first one's place.",
    "schema": {"type": "string", "minLength": 16, "maxLength": 128, "pattern": "^[ -~]+$"},
}
_FOUND: dict[str, Any] = {"response_model": Ticket, "tags": ["visitors"]}


async def _plain(
    server: Server, act: service.Act, request: Request, room: str, ticket: str | None
) -> Response:
    call = Call.of(request.scope, room, ticket, await request.body())
    if request.method == "POST" and len(call.body) > MOST_BODY:  # where the lane stops reading
        raise BodyTooLarge(TOO_LARGE.format(MOST_BODY))
    return (await service.respond(server, act, call)).response()


@router.post(
    "/rooms/{room}/tickets",
    status_code=201,
    responses=problems(400, 401, 403, 404, 408, 413, 422, 429, 503)
    | {200: {"model": Ticket, "description": "A place already held"}},
    openapi_extra={**_body(JoinBody, required=False), "parameters": [_KEY]},
    **_FOUND,
)
async def join(server: Here, request: Request, room: RoomName) -> Response:
    """Take a place, or keep the one you have.

    A browser gets its ticket as a cookie too.
    """
    return await _plain(server, service.join, request, room, None)


@router.get("/rooms/{room}/tickets/{ticket}", responses=problems(404, 410, 422, 503), **_FOUND)
async def status(server: Here, request: Request, room: RoomName, ticket: TicketText) -> Response:
    """Tell where a ticket is, and that its holder is still there."""
    return await _plain(server, service.status, request, room, ticket)


class _EventStream(Response):
    """The answer to a request for events: it takes over the connection."""

    media_type = "text/event-stream"

    def __init__(self, server: Server, call: Call) -> None:
        super().__init__()
        self._server, self._call = server, call

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve events until either side ends them."""
        del scope
        await events.serve(self._server, self._call, receive, send)


@router.get(
    "/rooms/{room}/tickets/{ticket}/events",
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
    return _EventStream(server, Call.of(request.scope, room, ticket))


@router.post(
    "/rooms/{room}/tickets/{ticket}/enter",
    responses=problems(400, 404, 408, 409, 410, 413, 422, 503),
    **_FOUND,
)
async def enter(server: Here, request: Request, room: RoomName, ticket: TicketText) -> Response:
    """Go inside; the answer has the pass. Asked again, it answers the same session."""
    return await _plain(server, service.enter, request, room, ticket)


@router.post(
    "/rooms/{room}/tickets/{ticket}/renew",
    responses=problems(400, 404, 408, 409, 410, 413, 422, 503),
    **_FOUND,
)
async def renew(server: Here, request: Request, room: RoomName, ticket: TicketText) -> Response:
    """Extend a session, where the room's policy has `renewable`."""
    return await _plain(server, service.renew, request, room, ticket)


@router.post(
    "/rooms/{room}/tickets/{ticket}/defer",
    responses=problems(400, 404, 408, 409, 410, 413, 422, 503),
    openapi_extra={**_body(DeferBody, required=True), "parameters": [_KEY]},
    **_FOUND,
)
async def defer(server: Here, request: Request, room: RoomName, ticket: TicketText) -> Response:
    """Let some people go first; the answer has a new ticket."""
    return await _plain(server, service.defer, request, room, ticket)


@router.post(
    "/rooms/{room}/tickets/{ticket}/finish",
    status_code=204,
    responses=problems(400, 404, 408, 409, 410, 413, 422, 503),
    tags=["visitors"],
)
async def finish(server: Here, request: Request, room: RoomName, ticket: TicketText) -> Response:
    """End a session; its place goes to the next one at once."""
    return await _plain(server, service.finish, request, room, ticket)


@router.delete(
    "/rooms/{room}/tickets/{ticket}",
    status_code=204,
    responses=problems(400, 404, 408, 410, 413, 422, 503),
    tags=["visitors"],
)
async def leave(server: Here, request: Request, room: RoomName, ticket: TicketText) -> Response:
    """Give up a place, a turn or a session."""
    return await _plain(server, service.leave, request, room, ticket)


@router.get(
    "/rooms/{room}",
    response_model=RoomView,
    responses=problems(404, 422, 503),
    tags=["visitors"],
)
async def room_view(server: Here, request: Request, room: RoomName) -> Response:
    """Show a room to anybody: is it open, how many wait, how long would it take."""
    return await _plain(server, service.room, request, room, None)


@router.get("/check", status_code=204, responses=problems(401, 422), tags=["gates"])
async def check_pass(
    server: Here,
    request: Request,
    room: Annotated[str | None, Query(description="The room; none = any.")] = None,
) -> Response:
    """Tell whether a pass is good now: for gates and nginx's `auth_request`.

    The pass comes as `Authorization: Bearer`, or in the cookie of the room.
    """
    del room  # read as the lane reads it
    return await _plain(server, check.check, request, room_asked(request.scope), None)
