"""What the OpenAPI document says about every route: group, path parameters, possible problems.

`document` also adds the schemas that routes refer to by name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import FastAPI, Path
from pydantic import BaseModel, ConfigDict, Field

from waitroom.server.http.problems import MEDIA_TYPE, TITLES

TAGS = {
    "visitors": "What a browser or an app calls for somebody who waits.",
    "gates": "What the protected site asks, to let nobody in without a pass.",
    "operators": "Running rooms. Every call needs an API key: `Bearer wr_…`.",
    "desk guests": "A restaurant's waitlist, for those who wait. No key.",
    "desk hosts": "Running a store's line. Needs its key: `Bearer wrh_…`.",
    "desk admin": "Stores and host keys. Needs an API key of the role admin.",
    "operations": "Health, readiness and numbers, for those who run the server.",
}
"""The groups of calls, in their order, with a sentence each."""

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
    request_id: str = Field(
        description="What the log calls this request, and `X-Request-Id` too: the trace id of its "
        "`traceparent`, or else one of ours.",
        examples=["4bf92f3577b34da6a3ce929d0e0e4736"],
    )


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the documentation of the problems that a route may answer."""
    # A reference, because FastAPI would document a model as JSON; `document` adds the schema.
    content = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return {status: {"description": TITLES[status], "content": content} for status in statuses}


def document(app: FastAPI, components: Mapping[str, Any]) -> dict[str, Any]:
    """Return the OpenAPI document of an app whose routes answer problems and `components`."""
    if app.openapi_schema is None:
        schemas = FastAPI.openapi(app)["components"]["schemas"]
        schemas.update(components, Problem=Problem.model_json_schema())
    return app.openapi_schema or {}
