"""The operator API, under `/v1/admin`: rooms, people, numbers, the audit log and API keys.

A viewer reads, an operator changes rooms and people, an admin makes and removes rooms and keys.
Times are Unix time with the unit in the name, as in the policy.
"""

from __future__ import annotations

import re
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Path, Query, Response

from waitroom.engine import MOST_SAMPLES
from waitroom.engine.audit import AuditPage, Log
from waitroom.errors import InvalidInput, UnknownRoom, WaitroomError
from waitroom.models import Policy, PolicyChange, State, check_room_name, preset
from waitroom.operations import api_keys, notes, people, rooms, undo
from waitroom.operations.overview import glance_at
from waitroom.operations.selection import Selection
from waitroom.operations.trail import Actor, Trail, Way
from waitroom.server.context import Here, Server
from waitroom.server.http.auth import SIGNED, Admin, Operator, Viewer, Who
from waitroom.server.http.openapi import RoomName, problems
from waitroom.server.operator import schemas as m

MOST_KICKED = 10_000
"""One request removes at most so many by age, so that it ends within seconds."""

_STATUSES = (400, 401, 403, 404, 408, 409, 413, 422, 429, 503)


def _never_kept(response: Response) -> None:
    """Say that no cache may keep what operators see."""
    response.headers["Cache-Control"] = "no-store"


router = APIRouter(
    prefix="/v1/admin",
    tags=["operators"],
    dependencies=[*SIGNED, Depends(_never_kept)],
    responses=problems(*_STATUSES),
)

IfMatch = Annotated[str | None, Header(description="The ETag of the room as it was read.")]
Repeat = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        description="Repeating the request with it does nothing twice.",
        min_length=1,
        max_length=128,
    ),
]


@router.get("/rooms")
async def list_rooms(
    server: Here,
    _: Viewer,
    after: Annotated[str | None, Query(max_length=64)] = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
) -> m.RoomsBody:
    """Return rooms by name, with policy and numbers."""
    names = [name for name in await server.engine.rooms() if after is None or name > after]
    glances = await glance_at(server.engine, names[:limit])
    good = [m.RoomBody.of(*glance) for glance in glances.values() if isinstance(glance, tuple)]
    bad = [
        m.RoomProblem(name=name, code=glance.code, detail=str(glance))
        for name, glance in glances.items()
        if isinstance(glance, WaitroomError) and not isinstance(glance, UnknownRoom)
    ]
    last = names[limit - 1] if len(names) > limit else None
    return m.RoomsBody(rooms=good, problems=bad, after=last)


@router.post("/rooms", status_code=201)
async def create_room(server: Here, who: Admin, body: m.NewRoom, response: Response) -> m.RoomBody:
    """Make a room, from a preset or the defaults, with changes."""
    check_name(body.name)
    given: dict[str, Any] = {}
    if body.policy is not None:
        given = body.policy.model_dump(exclude_unset=True)
    policy = preset(body.preset, **given) if body.preset is not None else Policy().change(**given)
    created = await rooms.create(server.engine, _trail(server, who), body.name, policy)
    response.headers["Location"] = f"/v1/admin/rooms/{body.name}"
    return await _shown(server, created.name, response)


@router.get("/rooms/{room}")
async def get_room(server: Here, _: Viewer, room: RoomName, response: Response) -> m.RoomBody:
    """Return a room; its ETag can be sent as If-Match with a change."""
    return await _shown(server, room, response)


@router.patch("/rooms/{room}")
async def change_room(
    server: Here,
    who: Operator,
    room: RoomName,
    body: m.RoomChange,
    response: Response,
    if_match: IfMatch = None,
) -> m.RoomChanged:
    """Change fields of the policy (the mode is one), at once; 409 if the version is stale."""
    check_room_name(room)
    version = _version(body.version, if_match)
    given = body.policy.model_dump(exclude_unset=True)  # type: ignore[attr-defined]
    change, _ = await rooms.change(server.engine, _trail(server, who), room, given, version)
    return m.RoomChanged(**await _changed(server, room, change, response))


@router.post("/rooms/{room}/undo")
async def undo_change(
    server: Here, who: Operator, room: RoomName, body: m.Undo, response: Response
) -> m.RoomUndone:
    """Take back the last change of the policy; 409 if it is not the last one any more."""
    check_room_name(room)
    change, _, undone = await undo.undo(
        server.engine, _trail(server, who), room, entry_id=body.entry, version=body.version
    )
    return m.RoomUndone(**await _changed(server, room, change, response), undoes=undone.id)


@router.delete("/rooms/{room}", status_code=204)
async def drop_room(server: Here, who: Admin, room: RoomName) -> None:
    """Remove a room with its policy and everybody in it."""
    await rooms.drop(server.engine, _trail(server, who), room)


@router.post("/rooms/{room}/admit")
async def admit(
    server: Here, who: Operator, room: RoomName, body: m.Admit, repeat: Repeat = None
) -> m.Admitted:
    """Call the first people of the line by hand, as far as limits allow."""
    trail = _trail(server, who)
    called = await people.admit(
        server.engine, trail, room, body.count, force=body.force, op_id=body.op_id or repeat
    )
    return m.Admitted(called=called.count, waiting=(await server.engine.stats(room)).waiting)


@router.post("/rooms/{room}/call")
async def call(
    server: Here, who: Operator, room: RoomName, body: m.Call, repeat: Repeat = None
) -> m.Called:
    """Call one ticket by its id or short code, wherever it stands."""
    trail = _trail(server, who)
    called = await people.call(
        server.engine, trail, room, body.ticket_id, force=body.force, op_id=body.op_id or repeat
    )
    return m.Called(ticket_id=called.ticket_id, enter_by_ms=called.until_ms)


@router.post("/rooms/{room}/kick")
async def kick(
    server: Here, who: Operator, room: RoomName, body: m.Kick, repeat: Repeat = None
) -> m.KickedBody:
    """Remove named tickets, here or not, or those waiting by age; sessions are revoked."""
    by_age = body.older_than_s is not None or body.newer_than_s is not None
    if by_age == (body.ticket_ids is not None):
        raise InvalidInput("ticket_ids", "give either ids, or older_than_s or newer_than_s")
    if by_age and body.ban:
        raise InvalidInput("ban", "is for named tickets; give ticket_ids")
    engine, trail = server.engine, _trail(server, who)
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


@router.post("/rooms/{room}/clear")
async def clear(
    server: Here, who: Admin, room: RoomName, body: m.Clear, repeat: Repeat = None
) -> m.Cleared:
    """Empty a room and refuse all its tickets from now on; the policy stays."""
    check_room_name(room)
    if body.confirm != room:
        raise InvalidInput("confirm", "must repeat the room's name: nobody gets their place back")
    cleared = await rooms.clear(
        server.engine, _trail(server, who), room, op_id=body.op_id or repeat
    )
    return m.Cleared(cleared=cleared)


@router.post("/rooms/{room}/notes", status_code=201)
async def add_note(server: Here, who: Operator, room: RoomName, body: m.NewNote) -> m.NoteMade:
    """Put a note on the timeline of a room; it is an entry of the audit log."""
    entry_id = await notes.add(server.engine, _trail(server, who), room, body.text)
    return m.NoteMade(id=entry_id)


@router.get("/rooms/{room}/tickets")
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
    """Return a page of tickets: those waiting in their order, others by their deadline.

    With `short_code`, everybody who has it instead, in whichever state. Before the opening of a
    draw those waiting come by id and without a place, for any role.
    """
    if short_code is not None:
        return m.TicketsBody.of(await server.engine.find(room, short_code))
    if state != "waiting" and (since is not None or until is not None):
        raise InvalidInput("since", "when they arrived is known of those waiting only")
    page = await server.engine.list(
        room, State(state), after=after, limit=limit, since_ms=since, until_ms=until
    )
    return m.TicketsBody.of(page)


@router.get("/rooms/{room}/stats")
async def stats(server: Here, _: Viewer, room: RoomName) -> m.StatsNow:
    """Return a room at a glance, and what a newcomer would wait."""
    numbers = await server.engine.stats(room)
    board = await server.boards.get(room)
    wait = m.WaitBody.of(board.wait(numbers.waiting + 1))
    return m.StatsNow(**m.StatsBody.of(numbers).model_dump(), eta_s=wait)


@router.get("/rooms/{room}/series")
async def series(
    server: Here, _: Viewer, room: RoomName, minutes: Annotated[int, Query(ge=1, le=1440)] = 60
) -> m.SeriesBody:
    """Return samples of the last minutes, oldest first."""
    now_ms = (await server.engine.stats(room)).now_ms
    samples = await server.engine.series(
        room, since_ms=now_ms - minutes * 60_000, limit=MOST_SAMPLES
    )
    return m.SeriesBody(samples=[m.SampleBody.of(sample) for sample in samples])


@router.get("/audit")
async def audit(
    server: Here,
    _: Viewer,
    before: Annotated[str | None, Query(max_length=40)] = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
    room: Annotated[str | None, Query(max_length=64)] = None,
    log: Annotated[Log, Query(description="What was done, or who signed in.")] = Log.ACTIONS,
) -> m.AuditBody:
    """Return who changed what, newest first; of one room a page may be short, and others follow."""
    page: AuditPage = await server.audit.page(before=before, limit=limit, room=room, log=log)
    return m.AuditBody(
        entries=[m.AuditLine.of(entry) for entry in page.entries], before=page.before
    )


@router.get("/keys")
async def list_keys(server: Here, _: Admin) -> m.KeysBody:
    """Return all API keys, without their secrets."""
    return m.KeysBody(keys=[m.KeyBody.of(key) for key in await server.keys.list()])


@router.post("/keys", status_code=201)
async def create_key(server: Here, who: Admin, body: m.NewKey) -> m.KeyMade:
    """Make an API key; this answer is the only place where it is shown."""
    text, key = await api_keys.create(server.keys, _trail(server, who), body.name, body.role)
    return m.KeyMade(key=text, **m.KeyBody.of(key).model_dump())


@router.delete("/keys/{key_id}", status_code=204)
async def revoke_key(server: Here, who: Admin, key_id: Annotated[str, Path(max_length=64)]) -> None:
    """Revoke an API key; every server refuses it within two seconds."""
    await api_keys.revoke(server.keys, _trail(server, who), key_id)


def check_name(name: str) -> None:
    """Refuse a bad name of a new room as input, not as a path that is not there."""
    try:
        check_room_name(name)
    except InvalidInput as error:
        raise InvalidInput("name", str(error).removeprefix(f"{error.field}: ")) from None


def _trail(server: Server, who: Who) -> Trail:
    return Trail(server.audit, Actor.of_key(who.key, Way.API, who.address))


def _ms(seconds: float | None) -> int | None:
    return None if seconds is None else round(seconds * 1000)


async def _shown(server: Server, name: str, response: Response) -> m.RoomBody:
    room, numbers = await server.engine.room(name), await server.engine.stats(name)
    response.headers["ETag"] = f'"{room.version}"'
    return m.RoomBody.of(room, numbers)


async def _changed(
    server: Server, room: str, change: PolicyChange, response: Response
) -> dict[str, Any]:
    shown = m.RoomBody.of(change.new, await server.engine.stats(room))
    response.headers["ETag"] = f'"{change.new.version}"'
    changed = {name: m.FieldChange(old=old, new=new) for name, (old, new) in change.fields.items()}
    return shown.model_dump() | {"changed": changed}


def _version(given: int | None, if_match: str | None) -> int | None:
    """Return the version that a change rests on, from the body or from If-Match."""
    if if_match is None or if_match.strip() == "*":
        return given
    match = re.fullmatch(r'\s*(?:W/)?"(\d{1,15})"\s*', if_match, re.ASCII)
    if match is None or (given is not None and given != int(match[1])):
        raise InvalidInput(
            "If-Match", 'must be the ETag of the room, like "4", and no other version'
        )
    return int(match[1])
