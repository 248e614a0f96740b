"""Requests of gates and proxies without a session: is a pass valid, and the public keys."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import JSONResponse

from waitroom.server.context import Here
from waitroom.server.http.openapi import problems
from waitroom.server.http.request import VisitorRequest, room_in_query
from waitroom.server.site.check import check

router = APIRouter(tags=["gates"])


@router.get("/v1/check", operation_id="checkPass", status_code=204, responses=problems(401, 422))
async def check_pass(
    server: Here,
    request: Request,
    room: Annotated[str | None, Query(description="The room; none = any.")] = None,
) -> Response:
    """Check whether a pass is valid now: for gates and nginx's `auth_request`.

    The pass comes as `Authorization: Bearer`, or in the cookie of the room. With a claim of the
    site in `Waitroom-Claim` it must be of that account.
    """
    del room  # read as the lane reads it
    asked = room_in_query(request.scope["query_string"])
    visitor_request = VisitorRequest.of(server.origins, request.scope, asked, None)
    return (await check(server, visitor_request)).response()


@router.get("/.well-known/jwks.json", operation_id="getPassKeys")
async def jwks(server: Here) -> JSONResponse:
    """Return the public keys of passes, and the `iss` that they must have."""
    # A removed key must be refused within seconds, whoever caches this in between.
    headers = {"cache-control": "public, max-age=3"}
    document = {**server.passes.keys.jwks(), "issuer": server.passes.issuer}
    return JSONResponse(document, headers=headers)
