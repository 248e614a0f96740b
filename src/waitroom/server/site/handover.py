"""Requests of gates, with a pass or a one-time code: hand over, redeem, renew, finish, announce.

A gate knows a session only by its pass. The pass is verified here as everywhere: by its signature
and its end.
"""

from __future__ import annotations

import time
from typing import Annotated

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from waitroom.engine.handoffs import LIFE_S, Handoff
from waitroom.errors import InvalidPass, SessionOver, UnknownRoom
from waitroom.models import State, TicketView
from waitroom.passes import Pass
from waitroom.server.context import Here, Server
from waitroom.server.http.answers import moment
from waitroom.server.http.auth import address_of
from waitroom.server.http.openapi import RoomName, TicketText, problems
from waitroom.server.http.request import VisitorRequest
from waitroom.server.site import announcing, check
from waitroom.server.tickets import actions
from waitroom.web.names import MOST_PASSES

router = APIRouter(prefix="/v1", tags=["gates"])
NO_STORE = {"cache-control": "no-store"}


class Code(BaseModel):
    """A one-time code."""

    code: str
    expires_at: str


class HandOver(BaseModel):
    """For whom a code is made."""

    model_config = ConfigDict(extra="forbid")
    browser: str | None = Field(
        None,
        pattern=r"^[A-Za-z0-9_-]{43}$",
        description="The mark that the site's gate gave its waiting page.",
    )


class Redeem(BaseModel):
    """A code to redeem."""

    model_config = ConfigDict(extra="forbid")
    code: str = Field(min_length=1, max_length=64)
    browser: str | None = Field(
        None, max_length=64, description="The secret whose mark the code was made for."
    )


class Session(BaseModel):
    """A session, with its pass."""

    room: str
    pass_: str = Field(alias="pass")
    session_ends_at: str | None


class Announce(BaseModel):
    """Live passes that a gate has seen."""

    model_config = ConfigDict(extra="forbid")
    passes: list[Annotated[str, Field(max_length=2048)]] = Field(max_length=MOST_PASSES)


class Announced(BaseModel):
    """How many of them are inside now."""

    inside: int


@router.post(
    "/rooms/{room}/tickets/{ticket}/handoff",
    operation_id="createHandoff",
    status_code=201,
    responses=problems(404, 408, 409, 410, 413, 422, 503),
)
async def hand_off(
    server: Here,
    request: Request,
    response: Response,
    room: RoomName,
    ticket: TicketText,
    body: HandOver | None = None,
) -> Code:
    """Make a one-time code that takes a session to a site on another host, within a minute."""
    response.headers.update(NO_STORE)
    visitor_request = VisitorRequest.of(server.origins, request.scope, room, ticket)
    code = await actions.hand_off(server, visitor_request, body.browser if body else None)
    return Code(code=code, expires_at=moment(int(time.time() + LIFE_S) * 1000) or "")


@router.post("/redeem", operation_id="redeemCode", responses=problems(400, 408, 410, 413, 422, 503))
async def redeem(server: Here, response: Response, body: Redeem) -> Session:
    """Turn a one-time code into the pass of its session; once, and only while that is inside."""
    response.headers.update(NO_STORE)
    server.backend_health.check()
    session = await server.handoffs.redeem(body.code, body.browser)
    await _check_inside(server, session)
    view = TicketView(session.room, session.ticket_id, State.INSIDE, "", sid=session.sid)
    return _session(server, view._replace(session_ends_at_ms=session.ends_at_ms))


@router.post(
    "/passes/renew", operation_id="renewPass", responses=problems(401, 408, 409, 410, 413, 422, 503)
)
async def renew(server: Here, request: Request, response: Response) -> Session:
    """Extend the session of a pass; the answer has the new pass.

    After a loss of state this vouches for the session too, as long as admission holds.
    """
    response.headers.update(NO_STORE)
    pass_ = _pass_of(server, request)
    return _session(server, await announcing.renew(server, pass_))


@router.post(
    "/passes/finish",
    operation_id="finishPass",
    status_code=204,
    responses=problems(401, 408, 410, 413, 503),
)
async def finish(server: Here, request: Request) -> None:
    """End the session of a pass; its place goes to the next person at once."""
    pass_ = _pass_of(server, request)
    server.backend_health.check(pass_.room)
    await server.engine.finish_session(pass_.room, pass_.ticket_id, pass_.sid)


@router.post(
    "/passes/announce",
    operation_id="announcePasses",
    responses=problems(400, 408, 413, 422, 429, 503),
)
async def announce(server: Here, request: Request, body: Announce) -> Announced:
    """Announce the passes in use after a loss of state, so that their places are not given twice.

    Passes that are forged, expired or finished are ignored. While a room does not hold admission
    after a loss, nothing changes in it: the answer only says how many are inside.
    """
    server.backend_health.check()
    announcing.take_turn(server, address_of(server, request))
    return Announced(inside=await announcing.announce(server, body.passes))


async def _check_inside(server: Server, session: Handoff) -> None:
    """Refuse a session that has ended since its code was made: it was finished, left or kicked."""
    try:
        inside = await server.engine.check(session.room, session.ticket_id, session.sid)
    except UnknownRoom:
        inside = False
    if not inside:
        raise SessionOver("the session has ended since the code was made; join again")


def _pass_of(server: Server, request: Request) -> Pass:
    visitor_request = VisitorRequest.of(server.origins, request.scope, "", None)
    if not visitor_request.bearer:
        raise InvalidPass("is missing; send it as `Authorization: Bearer`")
    pass_ = check.read(server, visitor_request)
    if not pass_.sid:
        raise InvalidPass("was given while the backend was away, and belongs to no session")
    return pass_


def _session(server: Server, view: TicketView) -> Session:
    ends = moment(view.session_ends_at_ms)
    body = {"room": view.room, "pass": server.passes.of(view), "session_ends_at": ends}
    return Session.model_validate(body)
