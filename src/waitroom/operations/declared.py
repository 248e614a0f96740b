"""Rooms that a file declares, created or changed when a server starts.

What an operator changed by hand survives a restart: as with `kubectl apply`, only fields that
differ from the last version of the file are changed. The first time, the file wins.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from waitroom.engine import Engine
from waitroom.errors import InvalidPolicy, RoomExists, UnknownRoom
from waitroom.models import POLICY_FIELDS, Policy
from waitroom.operations import rooms
from waitroom.operations.trail import Trail


async def apply_declared(
    engine: Engine, trail: Trail, declared: Mapping[str, Policy]
) -> dict[str, dict[str, Any]]:
    """Create and change rooms; return what changed in each room (all fields of a new one)."""
    applied: dict[str, dict[str, Any]] = {}
    for name, policy in declared.items():
        changes = await _apply(engine, trail, name, policy, await engine.declared.last(name))
        if changes:
            applied[name] = changes
        await engine.declared.keep(name, policy)
    return applied


async def _apply(
    engine: Engine, trail: Trail, name: str, wanted: Policy, last: dict[str, Any] | None
) -> dict[str, Any]:
    try:
        current = (await engine.room(name)).policy
    except UnknownRoom:
        try:
            await rooms.create(engine, trail, name, wanted)
        except RoomExists:  # another server starts with the same file
            return await _apply(engine, trail, name, wanted, last)
        return wanted.as_dict()
    have, want = current.as_dict(), wanted.as_dict()
    differs = {field: want[field] for field in POLICY_FIELDS if want[field] != have[field]}
    edited = {
        field: value for field, value in differs.items() if last is None or last.get(field) != value
    }
    if not edited:
        return {}
    try:
        await rooms.change(engine, trail, name, edited)
    except InvalidPolicy:  # does not fit the changes made by hand: the whole file wins
        await rooms.change(engine, trail, name, differs)
        return differs
    return edited
