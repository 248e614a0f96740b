"""Requests of a store's hosts: its line, and everything that is done to a party.

Every change names what the host saw if that matters (`expected`, `revision`), so two hosts never
overrule each other without noticing; and it takes an `Idempotency-Key`, so a bad network does
nothing twice. All of it works while Redis is away: the record is written, and the live line
follows.
"""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request, Response

from waitroom.credentials.roles import Role
from waitroom.desk.models import Action, Status
from waitroom.errors import InvalidInput
from waitroom.server.context import Here, Server
from waitroom.server.desk import changes, lines, requests, stream
from waitroom.server.desk.access import HostCaller, caller_of, desk_of
from waitroom.server.desk.api.auth import SIGNED, Host, Reader
from waitroom.server.desk.api.bodies import small_body, to_response, wish_of
from waitroom.server.desk.bodies.guest_schemas import PartyId, Repeat, StoreId
from waitroom.server.desk.bodies.host_schemas import (
    Act,
    Acted,
    CallNext,
    History,
    HostedLine,
    HostPlaces,
    OnSiteCode,
    Phone,
    StoreChange,
    StoreRecord,
    WalkedIn,
    WalkIn,
)
from waitroom.server.desk.bodies.hosts import change_body, store_record
from waitroom.server.http.answers import moment
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


@router.get("/line", operation_id="getLine", response_model=HostedLine)
async def line(
    server: Here,
    _: Reader,
    store: StoreId,
    line_name: Annotated[str | None, Query(alias="type", max_length=40)] = None,
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
    selection = lines.Selection(
        line_name=line_name,
        day=_day(day),
        statuses=tuple(status) if status else None,
        after=after,
        limit=limit,
    )
    return to_response(
        await lines.read_line(desk_of(server), server.backend_health, store, selection)
    )


def _day(text: str | None) -> date | None:
    try:
        return None if text is None else date.fromisoformat(text)
    except ValueError:
        raise InvalidInput("day", "is not a calendar day; write it like 2027-01-31") from None


@router.get(
    "/line/events",
    operation_id="followLine",
    status_code=200,
    response_class=stream.StreamResponse,
    responses=stream.described("`line`, `gone`, `away`, `reconnect`"),
)
async def line_events(server: Here, _: Reader, request: Request, store: StoreId) -> Response:
    """Follow the line live: each `line` is the whole of it, as `GET …/line` answers it."""

    async def check() -> None:
        (await caller_of(server, request, store)).need(store, Role.VIEWER)

    await desk_of(server).record.store(store)
    return stream.StreamResponse(server, stream.Host(store=store, check=check))


@router.post("/line", operation_id="addWalkIn", status_code=201)
async def walk_in(
    server: Here,
    caller: Host,
    request: Request,
    store: StoreId,
    body: WalkIn,
    repeat: Repeat = None,
) -> WalkedIn:
    """Add a party that stands at the door or calls; by default also to a paused or full line."""
    desk = desk_of(server)
    op_id = requests.op_id(server, "walk-in", caller.key_id, repeat)
    party, token = await desk.join(
        store,
        body.type,
        wish_of(body, here=not body.remote),
        by=caller.name,
        op_id=op_id,
        force=body.force,
    )
    url = requests.guest_url(server, request, store, token)
    return WalkedIn(party=await lines.read_party(desk, party), token=token, url=url)


@router.post("/line/call-next", operation_id="callNextParty")
async def call_next(
    server: Here, caller: Host, store: StoreId, body: CallNext, repeat: Repeat = None
) -> Acted:
    """Call the first party of a line, or the first that fits the table; null if there is none.

    Two hosts who do it at the same moment call two parties.
    """
    desk = desk_of(server)
    party = await desk.call_next(
        store,
        body.type,
        fits=body.fits,
        expected=body.expected,
        by=caller.name,
        op_id=requests.op_id(server, "call-next", caller.key_id, repeat),
    )
    return Acted(party=None if party is None else await lines.read_party(desk, party))


def _add(action: Action, about: str) -> None:
    """Make the route of an action."""
    word = action.replace("_", "-")

    async def act(
        server: Here,
        caller: Host,
        store: StoreId,
        party: PartyId,
        body: Act | None = None,
        repeat: Repeat = None,
    ) -> Acted:
        revision = body.revision if body is not None else None
        return await _act(server, caller, store, party, action, repeat, revision=revision)

    act.__name__, act.__doc__ = f"{action}_party", about
    name = action[0] + action.title().replace("_", "")[1:] + "Party"  # like noShowParty
    router.post(f"/line/{{party}}/{word}", operation_id=name)(act)


async def _act(
    server: Server,
    caller: HostCaller,
    store: str,
    party_id: int,
    action: Action,
    repeat: str | None,
    **given: Any,
) -> Acted:
    desk = desk_of(server)
    op_id = requests.op_id(server, action, f"{caller.key_id}/{party_id}", repeat)
    party = await desk.act(store, party_id, action, by=caller.name, op_id=op_id, **given)
    return Acted(party=await lines.read_party(desk, party))


for _action, _about in _ACTIONS.items():
    _add(_action, _about)


@router.post("/line/{party}/defer", operation_id="deferParty")
async def defer_party(
    server: Here,
    caller: Host,
    store: StoreId,
    party: PartyId,
    body: HostPlaces,
    repeat: Repeat = None,
) -> Acted:
    """Let N other parties go first, as the party's guests ask."""
    given = {"places": body.places, "revision": body.revision}
    return await _act(server, caller, store, party, Action.DEFER, repeat, **given)


@router.get("/line/{party}/history", operation_id="getPartyHistory")
async def history(server: Here, _: Reader, store: StoreId, party: PartyId) -> History:
    """Return what happened to a party, and who did it, oldest first."""
    changed = await desk_of(server).record.history(store, party)
    return History(changes=[change_body(change) for change in changed])


@router.get("/line/{party}/phone", operation_id="getPartyPhone")
async def phone(server: Here, caller: Host, store: StoreId, party: PartyId) -> Phone:
    """Return the whole phone number; the party's history says who looked at it."""
    shown = await desk_of(server).record.show_phone(store, party, by=caller.name)
    return Phone(phone=shown.phone)


@router.post("/line/{party}/erase", operation_id="eraseParty")
async def erase_party(server: Here, caller: Host, store: StoreId, party: PartyId) -> Acted:
    """Erase name, phone number and note for ever; a place in the line stays."""
    desk = desk_of(server)
    done = await desk.erase(store, party, by=caller.name)
    return Acted(party=await lines.read_party(desk, done))


@router.get("/on-site-code", operation_id="getOnSiteCode")
async def on_site_code(server: Here, _: Reader, request: Request, store: StoreId) -> OnSiteCode:
    """Return the code that shows that a guest is at the store, for a screen of your own."""
    shown, codes = await desk_of(server).record.store(store), desk_of(server).on_site
    ends_s = codes.ends_s(shown)
    return OnSiteCode(
        code=codes.current(shown),
        url=requests.door_url(server, request, shown),
        ends_at=None if ends_s is None else moment(ends_s * 1000),
    )


@router.patch("", operation_id="changeStore")
async def change_store(
    server: Here, caller: Host, store: StoreId, body: StoreChange
) -> StoreRecord:
    """Open, pause or close the store with a reason, and set its limits.

    Title, time zone, how long phone numbers are kept, webhooks and new lines need an admin's key.
    """
    changed = await changes.change(server, caller, store, body)
    return store_record(changed, secrets=caller.role is Role.ADMIN)
