"""The operator API about one person: found in all rooms, and given their place back."""

from __future__ import annotations

from typing import Annotated, Self

from fastapi import APIRouter, Depends, Query, Response
from pydantic import BaseModel, Field

from waitroom.models import Reason, State
from waitroom.operations import finding, reinstating
from waitroom.operations.finding import LONGEST_WORDS, Sighting
from waitroom.operations.trail import Actor, Trail, Way
from waitroom.server.context import Here
from waitroom.server.http.auth import SIGNED, Operator, Viewer
from waitroom.server.http.openapi import RoomName, problems
from waitroom.server.operator.api import Repeat
from waitroom.server.operator.schemas import OpId, Strict
from waitroom.short_codes import code_of
from waitroom.tickets import LONGEST_TICKET


def _never_kept(response: Response) -> None:
    """Say that no cache may keep what operators see."""
    response.headers["Cache-Control"] = "no-store"


router = APIRouter(
    prefix="/v1/admin",
    tags=["operators"],
    dependencies=[*SIGNED, Depends(_never_kept)],
    responses=problems(400, 401, 403, 404, 408, 409, 410, 413, 422, 429, 503),
)


class SightingBody(BaseModel):
    """One ticket in one room."""

    room: str
    id: str
    short_code: str
    state: State
    reason: Reason | None = Field(description="Why they are gone, as far as it is known.")
    since_ms: int | None = Field(description="Since when they are there, as far as it is known.")
    position: int | None
    seen_ms: int | None
    until_ms: int | None
    banned: bool

    @classmethod
    def of(cls, sighting: Sighting) -> Self:
        """Return a sighting as JSON."""
        person = sighting.person
        return cls(
            room=person.room,
            id=person.id,
            short_code=code_of(person.id),
            state=person.state,
            reason=sighting.reason,
            since_ms=sighting.since_ms,
            position=person.position,
            seen_ms=person.seen_ms,
            until_ms=person.until_ms,
            banned=person.banned,
        )


class FindingsBody(BaseModel):
    """All who were found, those waiting first."""

    matches: list[SightingBody]
    more: bool = Field(description="50 were found, and there may be others.")


class Reinstate(Strict):
    """Give somebody their place back."""

    ticket: str = Field(
        min_length=1,
        max_length=LONGEST_TICKET,
        description="An id, a short code, an account or, best, the whole ticket.",
    )
    lift_ban: bool = False
    force: bool = Field(False, description="Somebody unknown too, at the end of the line.")
    op_id: OpId = None


class ReinstatedBody(BaseModel):
    """Where somebody stands again."""

    ticket_id: str
    short_code: str
    position: int
    waiting: int


@router.get("/find")
async def find(
    server: Here,
    _: Viewer,
    q: Annotated[str, Query(min_length=1, max_length=LONGEST_WORDS)],
) -> FindingsBody:
    """Find one person in all rooms, here or gone: by ticket, id, short code or account."""
    findings = await finding.find(server.engine, q)
    matches = [SightingBody.of(sighting) for sighting in findings.sightings]
    return FindingsBody(matches=matches, more=findings.full)


@router.post("/rooms/{room}/reinstate")
async def reinstate(
    server: Here, who: Operator, room: RoomName, body: Reinstate, repeat: Repeat = None
) -> ReinstatedBody:
    """Give a place back to somebody who was dropped, left, was kicked or did not come."""
    returned = await reinstating.reinstate(
        server.engine,
        Trail(server.audit, Actor.of_key(who.key, Way.API, who.address)),
        room,
        body.ticket,
        lift_ban=body.lift_ban,
        force=body.force,
        op_id=body.op_id or repeat,
    )
    place = returned.reinstated
    return ReinstatedBody(
        ticket_id=returned.ticket_id,
        short_code=code_of(returned.ticket_id),
        position=place.position,
        waiting=place.waiting,
    )
