"""The OpenAPI of visitors' requests and answers, made from the structs that we read and write."""

from __future__ import annotations

from typing import Any

import msgspec

from waitroom.server.rooms.schemas import RoomView, Ticket
from waitroom.server.tickets.bodies import DeferBody, JoinBody
from waitroom.server.tickets.entry.newcomer import LONGEST_KEY, SHORTEST_KEY

_REF = "#/components/schemas/{name}"
COMPONENTS: dict[str, Any] = msgspec.json.schema_components(
    (Ticket, RoomView, JoinBody, DeferBody), ref_template=_REF
)[1]
"""The schemas by name, for the document's `components`."""

# `3.0` is an integer to JSON Schema but not to msgspec, so it is read as a float.
COMPONENTS["DeferBody"]["properties"]["places"]["type"] = "integer"

IDEMPOTENCY_KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "Repeating a request with the same key answers the first one's place.",
    "schema": {
        "type": "string",
        "minLength": SHORTEST_KEY,
        "maxLength": LONGEST_KEY,
        "pattern": "^[ -~]+$",
    },
}


def content(struct: type[msgspec.Struct]) -> dict[str, Any]:
    """Return the documentation of a JSON body."""
    schema = {"$ref": _REF.format(name=struct.__name__)}
    return {"content": {"application/json": {"schema": schema}}}


def request_body(struct: type[msgspec.Struct], *, required: bool) -> dict[str, Any]:
    """Return the documentation of a body; handlers read the body themselves, as the lane does."""
    return {"requestBody": {"required": required, **content(struct)}}
