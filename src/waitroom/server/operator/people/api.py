"""People in the operator API: list, call, remove, find in all rooms, give a place back."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Query

from waitroom.errors import InvalidInput, UnknownTicket
from waitroom.models import State, check_room_name
from waitroom.operations import finding, people, reinstating, ways
from waitroom.operations.finding import Sighting
from waitroom.operations.selection import Selection
from waitroom.server.context import Here
from waitroom.server.http.auth import Operator, Viewer
from waitroom.server.http.openapi import RoomName
from waitroom.server.operator.api import Repeat, api_router, trail_of
from waitroom.server.operator.people import schemas as m
from waitroom.short_codes import code_of

MOST_KICKED = 10_000
"""One request removes at most this many by age, so that it ends within seconds."""

router = api_router(409, 410)


@router.get("/rooms/{room}/tickets", operation_id="listTickets")
async def list_tickets(
    server: Here,
    _: Viewer,
    room: RoomName,
    state: m.ListState = "waiting",
    after: Annotated[str | None, Query(max_length=100)] = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
    since: Annotated[int | None, Query(ge=0, le=10**13, description="Arrived from, in ms.")] = None,
    until: Annotated[int | None, Query(ge=0, le=10**13, description="Arrived to, in ms.")] = None,
    short_code: Annotated[str | None, Query(max_length=20, description="A short code.")] = None,
) -> m.TicketsBody:
    """Return a page of tickets: waiting ones in order, others by their deadline.

    With `short_code`, return everybody who has it instead, in any state. Before the opening of a
    draw, waiting tickets are sorted by id and have no place, for any role.
    """
    if short_code is not None:
        return m.TicketsBody.of(await server.engine.find(room, short_code))
    if state != "waiting" and (since is not None or until is not None):
        raise InvalidInput("since", "when they arrived is known of those waiting only")
    page = await server.engine.list(
        room, State(state), after=after, limit=limit, since_ms=since, until_ms=until
    )
    return m.TicketsBody.of(page)


@router.post("/rooms/{room}/admit", operation_id="admitTickets")
async def admit(
    server: Here, who: Operator, room: RoomName, body: m.Admit, repeat: Repeat = None
) -> m.Admitted:
    """Call the first people of the line by hand, as far as limits allow."""
    trail = trail_of(server, who)
    called = await people.admit(
        server.engine, trail, room, body.count, force=body.force, op_id=body.op_id or repeat
    )
    return m.Admitted(called=called.count, waiting=(await server.engine.stats(room)).waiting)


@router.post("/rooms/{room}/call", operation_id="callTickets")
async def call(
    server: Here, who: Operator, room: RoomName, body: m.Call, repeat: Repeat = None
) -> m.Called:
    """Call one ticket by its id or short code, wherever it stands."""
    trail = trail_of(server, who)
    called = await people.call(
        server.engine, trail, room, body.ticket_id, force=body.force, op_id=body.op_id or repeat
    )
    return m.Called(ticket_id=called.ticket_id, enter_by_ms=called.until_ms)


@router.post("/rooms/{room}/kick", operation_id="kickTickets")
async def kick(
    server: Here, who: Operator, room: RoomName, body: m.Kick, repeat: Repeat = None
) -> m.KickedBody:
    """Remove named tickets, present or not, or waiting ones by age; sessions are revoked."""
    by_age = body.older_than_s is not None or body.newer_than_s is not None
    if by_age == (body.ticket_ids is not None):
        raise InvalidInput("ticket_ids", "give either ids, or older_than_s or newer_than_s")
    if by_age and body.ban:
        raise InvalidInput("ban", "is for named tickets; give ticket_ids")
    engine, trail = server.engine, trail_of(server, who)
    if body.ticket_ids is not None:
        ids, op_id = body.ticket_ids, body.op_id or repeat
        kicked = await people.kick(engine, trail, room, ids, ban=body.ban, op_id=op_id)
    else:
        selection = Selection(State.WAITING, _ms(body.older_than_s), _ms(body.newer_than_s))
        now_ms = (await engine.stats(room)).now_ms
        kicked = await people.kick_selected(
            engine, trail, room, selection, now_ms, most=MOST_KICKED
        )
    return m.KickedBody(found=kicked.asked, kicked=kicked.kicked, more=kicked.more)


@router.post("/rooms/{room}/reinstate", operation_id="reinstateTickets")
async def reinstate(
    server: Here, who: Operator, room: RoomName, body: m.Reinstate, repeat: Repeat = None
) -> m.ReinstatedBody:
    """Give a place back to somebody who was dropped, left, was kicked or did not come."""
    returned = await reinstating.reinstate(
        server.engine,
        trail_of(server, who),
        room,
        body.ticket,
        lift_ban=body.lift_ban,
        force=body.force,
        op_id=body.op_id or repeat,
    )
    place = returned.reinstated
    return m.ReinstatedBody(
        ticket_id=returned.ticket_id,
        short_code=code_of(returned.ticket_id),
        position=place.position,
        waiting=place.waiting,
    )


@router.get("/rooms/{room}/people/{ticket_id}", operation_id="getPerson")
async def get_person(
    server: Here,
    _: Viewer,
    room: RoomName,
    ticket_id: Annotated[str, Path(pattern="^[A-Za-z0-9_-]{16}$")],
) -> m.PersonBody:
    """Return one person by ticket id, with what happened to them."""
    (person,) = await server.engine.people(check_room_name(room), [ticket_id])
    steps = await ways.steps_of(server.engine, room, ticket_id, server.settings.archive)
    if not person.known and not steps.events:
        raise UnknownTicket("there is no record of this ticket in this room")
    last = steps.events[-1] if steps.events else None
    return m.PersonBody(
        **m.SightingBody.of(Sighting(person, last)).model_dump(),
        steps=[
            m.StepBody(at_ms=event.at_us // 1000, kind=event.kind, reason=event.reason)
            for event in steps.events
        ],
        steps_since_ms=steps.known_since_ms,
    )


@router.post("/find", operation_id="findPerson")
async def find(server: Here, _: Viewer, body: m.Find) -> m.FindingsBody:
    """Find one person in all rooms, here or gone: by ticket, id, short code or account.

    It changes nothing. It is a POST because accounts must not stand in addresses.
    """
    findings = await finding.find(server.engine, body.q)
    matches = [m.SightingBody.of(sighting) for sighting in findings.sightings]
    return m.FindingsBody(matches=matches, more=findings.full)


def _ms(seconds: float | None) -> int | None:
    return None if seconds is None else round(seconds * 1000)
