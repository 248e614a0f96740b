"""What guests call, without a key: see a store, join its line, see their place, go behind others.

A place is read from the live line alone, so that any number of phones may ask; only what changes
something, and what ended, goes to the record.
"""

from __future__ import annotations

import math
from collections.abc import AsyncIterator

from fastapi import APIRouter, Depends, Request, Response

from waitroom.desk.models import Action, Status
from waitroom.errors import BackendUnavailable, BodyTooLarge, InvalidInput, TooMany, WrongStatus
from waitroom.server.context import Here, Server
from waitroom.server.desk import stream
from waitroom.server.desk.api import lines, views
from waitroom.server.desk.api import schemas as b
from waitroom.server.desk.api.auth import desk_of
from waitroom.server.http.auth import address_of
from waitroom.server.http.bodies import TOO_LARGE
from waitroom.server.http.openapi import problems
from waitroom.server.http.request import MOST_BODY


async def small_body(request: Request, response: Response) -> AsyncIterator[None]:
    """Refuse a body that is longer than any guest's or host's, and let no cache keep the answer."""
    response.headers["Cache-Control"] = "no-store"
    if len(await request.body()) > MOST_BODY:
        raise BodyTooLarge(TOO_LARGE.format(MOST_BODY))
    try:
        yield
    except InvalidInput as error:
        if error.field != "op_id":
            raise
        # The caller knows it by the name of its header.
        message = "was used for another call; take a new one for each"
        raise InvalidInput("Idempotency-Key", message) from None


_READS = (404, 422, 503)
_WRITES = (400, 403, 404, 408, 409, 413, 422, 503)
router = APIRouter(
    prefix="/v1/stores/{store}", tags=["desk guests"], dependencies=[Depends(small_body)]
)


@router.get("", responses=problems(*_READS))
async def store_view(server: Here, store: b.StoreId) -> b.StoreBody:
    """Show a store to anybody: is it open, how many wait in each line, how long it would take."""
    return await lines.store_body(desk_of(server), store)


@router.post("/parties", status_code=201, responses=problems(*_WRITES, 429))
async def join(
    server: Here, request: Request, store: b.StoreId, body: b.NewParty, repeat: b.Repeat = None
) -> b.Joined:
    """Join a line; the answer has the token, which is the place.

    Who sends the same `Idempotency-Key` again gets the same place, also after a lost answer.
    """
    limit_joins(server, request)
    desk = desk_of(server)
    wish = views.wish_of(body)
    op = views.op_id(server, "join", store, repeat)
    party, token = await desk.join(store, body.type, wish, op_id=op)
    told = await views.guest_answer(server, party, token)
    return b.Joined(token=token, url=views.guest_url(server, request, store, token), **dict(told))


@router.get("/parties/{token}", response_model=b.PlaceBody, responses=problems(*_READS))
async def place(server: Here, store: b.StoreId, token: b.Token) -> Response:
    """Tell where a party stands and how long it may take."""
    desk = desk_of(server)
    desk.read_token(store, token)  # a wrong one is refused also while the line is away
    server.backend_health.check()
    try:
        found = await desk.place(store, token)
    except BackendUnavailable:
        server.backend_health.suspect()
        raise
    return views.as_response(views.place_json(found))


@router.get(
    "/parties/{token}/events",
    status_code=200,
    response_class=stream.StreamResponse,
    responses=problems(*_READS, 429)
    | stream.described("`place`, `store`, `gone`, `away`, `reconnect`"),
)
async def place_events(server: Here, store: b.StoreId, token: b.Token) -> Response:
    """Follow a place live: each event is the whole state, so a reconnect misses nothing."""
    desk_of(server).read_token(store, token)
    return stream.StreamResponse(server, stream.Guest(store=store, token=token))


@router.post("/parties/{token}/defer", responses=problems(*_WRITES))
async def defer(
    server: Here, store: b.StoreId, token: b.Token, body: b.Places, repeat: b.Repeat = None
) -> b.GuestAnswer:
    """Let some parties go first, as often as the store allows."""
    op = views.op_id(server, "defer", f"{store}/{token}", repeat)
    party = await desk_of(server).guest_act(
        store, token, Action.DEFER, places=body.places, op_id=op
    )
    return await views.guest_answer(server, party, token)


@router.delete("/parties/{token}", responses=problems(*_WRITES))
async def cancel(
    server: Here, store: b.StoreId, token: b.Token, repeat: b.Repeat = None
) -> b.GuestAnswer:
    """Give up the place. Asked again, it answers the same."""
    desk = desk_of(server)
    op = views.op_id(server, "cancel", f"{store}/{token}", repeat)
    try:
        party = await desk.guest_act(store, token, Action.CANCEL, op_id=op)
    except WrongStatus:
        party = await desk.guest_party(store, token)
        if party.status is not Status.CANCELLED:
            raise
    return await views.guest_answer(server, party, token)


@router.post("/parties/{token}/erase", responses=problems(*_WRITES))
async def erase(server: Here, store: b.StoreId, token: b.Token) -> b.GuestAnswer:
    """Erase name, phone number and note for ever; a place in the line stays."""
    desk = desk_of(server)
    party = await desk.guest_party(store, token)
    party = await desk.erase(store, party.id, by="guest")
    return await views.guest_answer(server, party, token)


def limit_joins(server: Server, request: Request) -> None:
    """Refuse an address from which too many join."""
    wait_s = server.joins.take(address_of(server, request))
    if wait_s > 0:
        server.counters.limited("joins")
        raise TooMany("too many join from this address; try again", math.ceil(wait_s))
