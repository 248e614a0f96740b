"""Requests of guests, without a key: see a store, join its line, see their place, defer.

A place is read from the live line alone, so that any number of phones may poll; only changes, and
places that have ended, go to the record.
"""

from __future__ import annotations

from fastapi import APIRouter, Depends, Request, Response

from waitroom.desk.models import Action, Party, Status
from waitroom.errors import BackendUnavailable, WrongStatus
from waitroom.server.context import Here, Server
from waitroom.server.desk import lines, requests, stream
from waitroom.server.desk.access import desk_of
from waitroom.server.desk.api.bodies import small_body, to_response, wish_of
from waitroom.server.desk.bodies.guest_schemas import (
    GuestAnswer,
    Joined,
    NewParty,
    PlaceBody,
    Places,
    Repeat,
    StoreBody,
    StoreId,
    Token,
)
from waitroom.server.desk.bodies.guests import guest_party, place_body
from waitroom.server.http.openapi import problems

_READS = (404, 422, 503)
_WRITES = (400, 403, 404, 408, 409, 413, 422, 503)
router = APIRouter(
    prefix="/v1/stores/{store}", tags=["desk guests"], dependencies=[Depends(small_body)]
)


@router.get("", operation_id="getStore", responses=problems(*_READS))
async def store_view(server: Here, store: StoreId) -> StoreBody:
    """Show a store to anybody: is it open, how many wait in each line, how long it would take."""
    return await lines.read_store(desk_of(server), server.backend_health, store)


@router.post(
    "/parties", operation_id="joinStore", status_code=201, responses=problems(*_WRITES, 429)
)
async def join(
    server: Here, request: Request, store: StoreId, body: NewParty, repeat: Repeat = None
) -> Joined:
    """Join a line; the answer has the token, which stands for the place.

    The same `Idempotency-Key` gets the same place again, even after a lost answer.
    """
    shown = await desk_of(server).record.store(store)
    here = desk_of(server).on_site.is_good(shown, body.code)
    wish = wish_of(body, here=here)
    party, token = await requests.join(server, request, store, body.type, wish, repeat)
    answer = await _answer(server, party, token)
    url = requests.guest_url(server, request, store, token)
    return Joined(token=token, url=url, **dict(answer))


@router.get(
    "/parties/{token}",
    operation_id="getPlace",
    response_model=PlaceBody,
    responses=problems(*_READS),
)
async def place(server: Here, store: StoreId, token: Token) -> Response:
    """Return where a party stands and how long it may take."""
    desk = desk_of(server)
    desk.read_token(store, token)  # a wrong token is refused even while the line is away
    server.backend_health.check()
    try:
        current = await desk.place(store, token)
    except BackendUnavailable:
        server.backend_health.suspect()
        raise
    return to_response(place_body(current))


@router.get(
    "/parties/{token}/events",
    operation_id="followPlace",
    status_code=200,
    response_class=stream.StreamResponse,
    responses=problems(*_READS, 429)
    | stream.described("`place`, `store`, `gone`, `away`, `reconnect`"),
)
async def place_events(server: Here, store: StoreId, token: Token) -> Response:
    """Follow a place live: each event is the whole state, so a reconnect misses nothing."""
    desk_of(server).read_token(store, token)
    return stream.StreamResponse(server, stream.Guest(store=store, token=token))


@router.post("/parties/{token}/defer", operation_id="deferPlace", responses=problems(*_WRITES))
async def defer(
    server: Here, store: StoreId, token: Token, body: Places, repeat: Repeat = None
) -> GuestAnswer:
    """Let some parties go first, as often as the store allows."""
    op_id = requests.op_id(server, "defer", f"{store}/{token}", repeat)
    party = await desk_of(server).guest_act(
        store, token, Action.DEFER, places=body.places, op_id=op_id
    )
    return await _answer(server, party, token)


@router.delete("/parties/{token}", operation_id="cancelPlace", responses=problems(*_WRITES))
async def cancel(server: Here, store: StoreId, token: Token, repeat: Repeat = None) -> GuestAnswer:
    """Give up the place. A repeated request gets the same answer."""
    desk = desk_of(server)
    op_id = requests.op_id(server, "cancel", f"{store}/{token}", repeat)
    try:
        party = await desk.guest_act(store, token, Action.CANCEL, op_id=op_id)
    except WrongStatus:
        party = await desk.guest_party(store, token)
        if party.status is not Status.CANCELLED:
            raise
    return await _answer(server, party, token)


@router.post("/parties/{token}/erase", operation_id="erasePlace", responses=problems(*_WRITES))
async def erase(server: Here, store: StoreId, token: Token) -> GuestAnswer:
    """Erase name, phone number and note for ever; a place in the line stays."""
    desk = desk_of(server)
    party = await desk.guest_party(store, token)
    party = await desk.erase(store, party.id, by="guest")
    return await _answer(server, party, token)


async def _answer(server: Server, party: Party, token: str) -> GuestAnswer:
    """Return a party to its guest, with its place if the live line answers."""
    desk, place = desk_of(server), None
    if not server.backend_health.away:
        try:
            place = place_body(await desk.place(party.store, token))
        except BackendUnavailable:  # the change is done and in the record
            server.backend_health.suspect()
    store = await desk.record.store(party.store)
    return GuestAnswer(party=guest_party(store, party), place=place)
