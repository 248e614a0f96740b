"""What the hosts of a store call: its line, and everything that is done to a party.

Every change names what the host saw where it matters (`expected`, `revision`), so two hosts never
decide over each other unseen; and takes an `Idempotency-Key`, so a flaky network does nothing
twice. All of it works while Redis is away: the record is written, and the live line follows.
"""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request, Response

from waitroom.desk.models import Action, Status
from waitroom.engine.api_keys import Role
from waitroom.errors import InvalidInput
from waitroom.server.context import Here, Server
from waitroom.server.desk import stream
from waitroom.server.desk.api import changes, lines, views
from waitroom.server.desk.api import host_schemas as h
from waitroom.server.desk.api import schemas as b
from waitroom.server.desk.api.auth import SIGNED, Host, HostWho, Reader, desk_of, who_hosts
from waitroom.server.desk.api.guests import small_body
from waitroom.server.http.openapi import problems

_STATUSES = (400, 401, 403, 404, 408, 409, 413, 422, 429, 503)
router = APIRouter(
    prefix="/v1/stores/{store}",
    tags=["desk hosts"],
    dependencies=[*SIGNED, Depends(small_body)],
    responses=problems(*_STATUSES),
)
_ACTIONS = {
    Action.CALL: "Call this party, wherever it stands.",
    Action.SEAT: "Seat a party that waits or was called; its wait counts for the estimate.",
    Action.NO_SHOW: "Note that a called party did not come.",
    Action.CANCEL: "Take a party out of the line because its guests say so.",
    Action.UNDO: "Take the last change of its status back: the party stands where it stood.",
    Action.RESTORE: "Give a party that is gone its old place back.",
}


@router.get("/line", response_model=h.HostedLine)
async def line(
    server: Here,
    _: Reader,
    store: b.StoreId,
    type: Annotated[str | None, Query(max_length=40)] = None,  # noqa: A002 - the desk's word
    day: Annotated[
        str | None,
        Query(description="Of the store, like 2027-01-31.", pattern=r"^\d{4}-\d\d-\d\d$"),
    ] = None,
    status: Annotated[
        list[Status] | None, Query(description="Any number of them; none = who is in line now.")
    ] = None,
    after: Annotated[int | None, Query(ge=0, le=2**53)] = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 200,
) -> Response:
    """Return who is in line now, in order, or with `day` or `status` any parties of the store.

    Phone numbers are masked.
    """
    statuses = tuple(status) if status else None
    asked = lines.Asked(type=type, day=_day(day), statuses=statuses, after=after, limit=limit)
    return views.as_response(await lines.line_json(desk_of(server), store, asked))


def _day(text: str | None) -> date | None:
    try:
        return None if text is None else date.fromisoformat(text)
    except ValueError:
        raise InvalidInput("day", "is no day of the calendar; write it like 2027-01-31") from None


@router.get(
    "/line/events",
    status_code=200,
    response_class=stream.StreamResponse,
    responses=stream.described("`line`, `gone`, `away`, `reconnect`"),
)
async def line_events(server: Here, _: Reader, request: Request, store: b.StoreId) -> Response:
    """Follow the line live: each `line` is the whole of it, as `GET …/line` answers it."""

    async def check() -> None:
        (await who_hosts(server, request, store)).need(store, Role.VIEWER)

    await desk_of(server).record.store(store)
    return stream.StreamResponse(server, stream.Host(store=store, check=check))


@router.post("/line", status_code=201)
async def walk_in(
    server: Here,
    who: Host,
    request: Request,
    store: b.StoreId,
    body: h.WalkIn,
    repeat: b.Repeat = None,
) -> h.WalkedIn:
    """Add a party that stands at the door or calls; by default also to a paused or full line."""
    desk = desk_of(server)
    op = views.op_id(server, "walk-in", who.key_id, repeat)
    party, token = await desk.join(
        store, body.type, views.wish_of(body), by=who.name, op_id=op, force=body.force
    )
    url = views.guest_url(server, request, store, token)
    return h.WalkedIn(party=await lines.party_json(desk, party), token=token, url=url)


@router.post("/line/call-next")
async def call_next(
    server: Here, who: Host, store: b.StoreId, body: h.CallNext, repeat: b.Repeat = None
) -> h.Acted:
    """Call the first party of a line, or the first that fits the table; null if there is none.

    Two hosts who do it at the same moment call two parties.
    """
    desk = desk_of(server)
    party = await desk.call_next(
        store,
        body.type,
        fits=body.fits,
        expected=body.expected,
        by=who.name,
        op_id=views.op_id(server, "call-next", who.key_id, repeat),
    )
    return h.Acted(party=None if party is None else await lines.party_json(desk, party))


def _add(action: Action, about: str) -> None:
    """Make the route of an action."""
    word = action.replace("_", "-")

    async def act(
        server: Here,
        who: Host,
        store: b.StoreId,
        party: b.PartyId,
        body: h.Act | None = None,
        repeat: b.Repeat = None,
    ) -> h.Acted:
        seen = body.revision if body is not None else None
        return await _act(server, who, store, party, action, repeat, revision=seen)

    act.__name__, act.__doc__ = f"{action}_party", about
    router.post(f"/line/{{party}}/{word}")(act)


async def _act(
    server: Server,
    who: HostWho,
    store: str,
    party_id: int,
    action: Action,
    repeat: str | None,
    **given: Any,
) -> h.Acted:
    desk = desk_of(server)
    op = views.op_id(server, action, f"{who.key_id}/{party_id}", repeat)
    party = await desk.act(store, party_id, action, by=who.name, op_id=op, **given)
    return h.Acted(party=await lines.party_json(desk, party))


for _action, _about in _ACTIONS.items():
    _add(_action, _about)


@router.post("/line/{party}/defer")
async def defer_party(
    server: Here,
    who: Host,
    store: b.StoreId,
    party: b.PartyId,
    body: h.HostPlaces,
    repeat: b.Repeat = None,
) -> h.Acted:
    """Put a waiting party behind so many others, as its guests ask."""
    given = {"places": body.places, "revision": body.revision}
    return await _act(server, who, store, party, Action.DEFER, repeat, **given)


@router.get("/line/{party}/history")
async def history(server: Here, _: Reader, store: b.StoreId, party: b.PartyId) -> h.History:
    """Return what happened to a party, and who did it, oldest first."""
    found = await desk_of(server).record.history(store, party)
    return h.History(changes=[views.change_json(one) for one in found])


@router.get("/line/{party}/phone")
async def phone(server: Here, who: Host, store: b.StoreId, party: b.PartyId) -> h.Phone:
    """Return the whole phone number; who looked at it stands in the party's history."""
    return h.Phone(phone=(await desk_of(server).record.show_phone(store, party, by=who.name)).phone)


@router.post("/line/{party}/erase")
async def erase_party(server: Here, who: Host, store: b.StoreId, party: b.PartyId) -> h.Acted:
    """Erase name, phone number and note for ever; a place in the line stays."""
    desk = desk_of(server)
    done = await desk.erase(store, party, by=who.name)
    return h.Acted(party=await lines.party_json(desk, done))


@router.patch("")
async def change_store(
    server: Here, who: Host, store: b.StoreId, body: h.StoreChange
) -> h.StoreRecord:
    """Open, pause or close the store with a reason, and set its limits.

    Title, time zone, how long phone numbers are kept, webhooks and new lines need an admin's key.
    """
    changed = await changes.change(server, who, store, body)
    return views.store_record(changed, secrets=who.role is Role.ADMIN)
