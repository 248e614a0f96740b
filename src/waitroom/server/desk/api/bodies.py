"""Bodies of requests and answers of the desk's API: their size limit, and their meaning."""

from __future__ import annotations

from collections.abc import AsyncIterator

from fastapi import Request, Response
from pydantic import BaseModel

from waitroom.desk.inputs import Wish
from waitroom.desk.models import Source
from waitroom.errors import BodyTooLarge, InvalidInput
from waitroom.server.desk.bodies.guest_schemas import NewParty
from waitroom.server.desk.bodies.host_schemas import WalkIn
from waitroom.server.http.bodies import TOO_LARGE
from waitroom.server.http.request import MOST_BODY

_JSON = {"content-type": "application/json", "cache-control": "no-store"}


async def small_body(request: Request, response: Response) -> AsyncIterator[None]:
    """Refuse a body that is too long for a guest or a host, and let no cache keep the answer."""
    response.headers["Cache-Control"] = "no-store"
    if len(await request.body()) > MOST_BODY:
        raise BodyTooLarge(TOO_LARGE.format(MOST_BODY))
    try:
        yield
    except InvalidInput as error:
        if error.field != "op_id":
            raise
        # The caller knows the field by the name of its header.
        message = "was used for another call; take a new one for each"
        raise InvalidInput("Idempotency-Key", message) from None


def wish_of(body: NewParty | WalkIn, *, here: bool) -> Wish:
    """Return what a guest or a host asks for; `here` says whether they are at the store."""
    source = Source.ON_SITE if here else Source.REMOTE
    return Wish(size=body.size, name=body.name, phone=body.phone, note=body.note, source=source)


def to_response(body: BaseModel) -> Response:
    """Answer with a body as it is, without checking again what we just made."""
    return Response(body.model_dump_json(), headers=_JSON)
