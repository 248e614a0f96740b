"""Rooms in the operator API: create, read, change, empty and remove them."""

from __future__ import annotations

import re
from typing import Annotated, Any

from fastapi import Header, Query, Response

from waitroom.errors import InvalidInput, UnknownRoom, WaitroomError
from waitroom.models import Policy, PolicyChange, check_room_name, preset
from waitroom.operations import rooms, undo
from waitroom.operations.overview import glance_at
from waitroom.server.context import Here, Server
from waitroom.server.http.auth import Admin, Operator, Viewer
from waitroom.server.http.openapi import RoomName
from waitroom.server.operator.api import Repeat, api_router, trail_of
from waitroom.server.operator.rooms import schemas as m

router = api_router(409)
IfMatch = Annotated[str | None, Header(description="The ETag of the room as it was read.")]


@router.get("/rooms", operation_id="listRooms")
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


@router.post("/rooms", operation_id="createRoom", status_code=201)
async def create_room(server: Here, who: Admin, body: m.NewRoom, response: Response) -> m.RoomBody:
    """Make a room, from a preset or the defaults, with changes."""
    check_name(body.name)
    given: dict[str, Any] = {}
    if body.policy is not None:
        given = body.policy.model_dump(exclude_unset=True)
    policy = preset(body.preset, **given) if body.preset is not None else Policy().change(**given)
    created = await rooms.create(server.engine, trail_of(server, who), body.name, policy)
    response.headers["Location"] = f"/v1/admin/rooms/{body.name}"
    return await _shown(server, created.name, response)


@router.get("/rooms/{room}", operation_id="getRoom")
async def get_room(server: Here, _: Viewer, room: RoomName, response: Response) -> m.RoomBody:
    """Return a room; its ETag can be sent as If-Match with a change."""
    return await _shown(server, room, response)


@router.patch("/rooms/{room}", operation_id="changeRoom")
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
    change, _ = await rooms.change(server.engine, trail_of(server, who), room, given, version)
    return m.RoomChanged(**await _changed(server, room, change, response))


@router.post("/rooms/{room}/undo", operation_id="undoChange")
async def undo_change(
    server: Here, who: Operator, room: RoomName, body: m.Undo, response: Response
) -> m.RoomUndone:
    """Undo the last change of the policy; 409 if it is no longer the last one."""
    check_room_name(room)
    change, _, undone = await undo.undo(
        server.engine, trail_of(server, who), room, entry_id=body.entry, version=body.version
    )
    return m.RoomUndone(**await _changed(server, room, change, response), undoes=undone.id)


@router.delete("/rooms/{room}", operation_id="dropRoom", status_code=204)
async def drop_room(server: Here, who: Admin, room: RoomName) -> None:
    """Remove a room with its policy and everybody in it."""
    await rooms.drop(server.engine, trail_of(server, who), room)


@router.post("/rooms/{room}/clear", operation_id="clearRoom")
async def clear(
    server: Here, who: Admin, room: RoomName, body: m.Clear, repeat: Repeat = None
) -> m.Cleared:
    """Empty a room and refuse all its tickets from now on; the policy stays."""
    check_room_name(room)
    if body.confirm != room:
        raise InvalidInput("confirm", "must repeat the room's name: nobody gets their place back")
    cleared = await rooms.clear(
        server.engine, trail_of(server, who), room, op_id=body.op_id or repeat
    )
    return m.Cleared(cleared=cleared)


@router.get("/rooms/{room}/stats", operation_id="getStats")
async def stats(server: Here, _: Viewer, room: RoomName) -> m.StatsNow:
    """Return a room at a glance, and how long a newcomer would wait."""
    numbers = await server.engine.stats(room)
    board = await server.boards.get(room)
    wait = m.WaitBody.of(board.wait(numbers.waiting + 1))
    return m.StatsNow(**m.StatsBody.of(numbers).model_dump(), eta_s=wait)


def check_name(name: str) -> None:
    """Refuse a bad name of a new room as bad input, not as a missing path."""
    try:
        check_room_name(name)
    except InvalidInput as error:
        raise InvalidInput("name", str(error).removeprefix(f"{error.field}: ")) from None


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
    """Return the version that a change is based on, from the body or from If-Match."""
    if if_match is None or if_match.strip() == "*":
        return given
    match = re.fullmatch(r'\s*(?:W/)?"(\d{1,15})"\s*', if_match, re.ASCII)
    if match is None or (given is not None and given != int(match[1])):
        raise InvalidInput(
            "If-Match", 'must be the ETag of the room, like "4", and no other version'
        )
    return int(match[1])
