"""Rooms: create, change, empty and remove them."""

from __future__ import annotations

import json
from typing import Any

from waitroom.credentials.roles import Role
from waitroom.engine import Engine
from waitroom.errors import Forbidden, InvalidInput, UnknownRoom
from waitroom.models import Policy, PolicyChange, Room
from waitroom.operations.trail import Trail

FOR_ADMINS = frozenset({"go_to", "help_link", "ended_link"})
"""Fields that say where people are sent: who sets one can send everybody to another site."""

_LONGEST_TEXT = 2_000  # whole messages and texts, so that they can be undone; a logo may have 64 kB


async def create(engine: Engine, trail: Trail, room: str, policy: Policy) -> Room:
    """Make a room."""
    created = await engine.create(room, policy)
    defaults = Policy().as_dict()
    unusual = {
        name: _cut(value) for name, value in policy.as_dict().items() if value != defaults[name]
    }
    await trail.record("room.create", room, policy=unusual)
    return created


async def change(
    engine: Engine,
    trail: Trail,
    room: str,
    changes: dict[str, Any],
    version: int | None = None,
    *,
    op_id: str | None = None,
    undoes: str | None = None,
) -> tuple[PolicyChange, str]:
    """Change fields of a policy; with `version`, only if nobody else changed it since.

    Return what changed, and the id of its line in the log: empty if nothing did. `undoes` is the
    line of the change that this one undoes.
    """
    if not changes:
        raise InvalidInput("policy", "give at least one field to change")
    check_role(trail.actor.role, changes)
    op_id = trail.op_id("room.change", op_id)
    doing = engine.configure(room, version=version, op_id=op_id, **changes)
    new = {name: _cut(value) for name, value in changes.items()}
    changed = await trail.attempt("room.change", room, doing, new=new)
    if not changed.fields:  # set to the same values, or a repeated call: nothing changed
        return changed, ""
    fields = {
        name: {"old": _cut(old), "new": _cut(new)} for name, (old, new) in changed.fields.items()
    }
    detail: dict[str, Any] = {"changed": fields, "version": changed.new.version}
    if undoes is not None:
        detail["undoes"] = undoes
    return changed, await trail.record("room.change", room, **detail)


async def clear(engine: Engine, trail: Trail, room: str, *, op_id: str | None = None) -> int:
    """Empty a room and refuse its tickets from now on; return how many it held."""
    doing = engine.clear(room, op_id=trail.op_id("room.clear", op_id))
    cleared = await trail.attempt("room.clear", room, doing)
    await trail.record("room.clear", room, cleared=cleared)
    return cleared


async def drop(engine: Engine, trail: Trail, room: str) -> bool:
    """Remove a room with everybody in it; False if only its name was left in the index."""
    try:
        stats = await engine.stats(room)
    except UnknownRoom:
        if room not in await engine.rooms():
            raise
        people = {}
    else:
        people = {"waiting": stats.waiting, "called": stats.called, "inside": stats.inside}
    dropped = await trail.attempt("room.drop", room, engine.drop(room), people=people)
    if people and not dropped:  # somebody else dropped it first
        raise UnknownRoom(room)
    await trail.record("room.drop", room, people=people)
    return dropped


def check_role(role: str, changes: dict[str, Any]) -> None:
    """Refuse fields that only admins may set."""
    if role != Role.ADMIN and (fields := sorted(FOR_ADMINS & changes.keys())):
        raise Forbidden(f"{fields[0]} needs the role {Role.ADMIN}: it says where people are sent")


def _cut(value: Any) -> Any:
    """Shorten the texts of pages."""
    if isinstance(value, dict):
        value = json.dumps(value, ensure_ascii=False)
    if isinstance(value, str) and len(value) > _LONGEST_TEXT:
        return f"{value[:_LONGEST_TEXT]}…"
    return value
