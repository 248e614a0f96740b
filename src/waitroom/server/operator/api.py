"""What the parts of the operator API share: their routers, bodies, and the audit log.

A viewer reads, an operator changes rooms and people, an admin makes and removes rooms and keys.
Times are Unix time with the unit in the name, as in the policy.
"""

from __future__ import annotations

from typing import Annotated, Self

from fastapi import APIRouter, Depends, Header, Response
from pydantic import BaseModel, ConfigDict, Field

from waitroom.operations.trail import Actor, Trail, Way
from waitroom.server.context import Server
from waitroom.server.http.auth import SIGNED, Who
from waitroom.server.http.openapi import problems

OpId = Annotated[
    str | None,
    Field(pattern=r"^[A-Za-z0-9._:-]{1,64}$", description="Repeating it does nothing twice."),
]
Repeat = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        description="Repeating the request with it does nothing twice.",
        min_length=1,
        max_length=128,
    ),
]
_STATUSES = (400, 401, 403, 404, 408, 413, 422, 429, 503)


class Strict(BaseModel):
    """A body: an unknown field is a typo, and text is not a number."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Shown(BaseModel):
    """The fields of a record that an answer shows: those with the same names."""

    @classmethod
    def of(cls, record: object) -> Self:
        """Make the body of a record."""
        return cls.model_validate(record, from_attributes=True)


def api_router(*statuses: int, path: str = "") -> APIRouter:
    """Return a router below `/v1/admin`, whose routes also answer these statuses."""
    return APIRouter(
        prefix=f"/v1/admin{path}",
        tags=["operators"],
        dependencies=[*SIGNED, Depends(_never_kept)],
        responses=problems(*sorted({*_STATUSES, *statuses})),
    )


def trail_of(server: Server, who: Who) -> Trail:
    """Return the audit log, signed by somebody who uses the API."""
    return Trail(server.audit, Actor.of_key(who.key, Way.API, who.address))


def _never_kept(response: Response) -> None:
    """Forbid caches to keep what operators see."""
    response.headers["Cache-Control"] = "no-store"
