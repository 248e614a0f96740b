"""Rooms that a file declares, made so when a server starts.

What an operator changed by hand survives a restart: as with `kubectl apply`, only what the file
says differently than last time is changed. The first time, the file wins.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from waitroom.engine import keys
from waitroom.engine.engine import Engine
from waitroom.errors import InvalidPolicy, RoomExists, UnknownRoom
from waitroom.models import POLICY_FIELDS, Policy


async def apply_declared(engine: Engine, rooms: Mapping[str, Policy]) -> dict[str, dict[str, Any]]:
    """Create and change rooms; return what was changed, by room (all fields of a new one)."""
    done: dict[str, dict[str, Any]] = {}
    for name, wanted in rooms.items():
        changes = await _apply(engine, name, wanted, await _last(engine, name))
        if changes:
            done[name] = changes
        text = json.dumps(wanted.as_dict())
        await engine.runner.command("HSET", keys.DECLARED, name, text)
    return done


async def _apply(
    engine: Engine, name: str, wanted: Policy, last: dict[str, Any] | None
) -> dict[str, Any]:
    try:
        current = (await engine.room(name)).policy
    except UnknownRoom:
        try:
            await engine.create(name, wanted)
        except RoomExists:  # another server starts with the same file
            return await _apply(engine, name, wanted, last)
        return wanted.as_dict()
    have, want = current.as_dict(), wanted.as_dict()
    differs = {field: want[field] for field in POLICY_FIELDS if want[field] != have[field]}
    told = {
        field: value for field, value in differs.items() if last is None or last.get(field) != value
    }
    if not told:
        return {}
    try:
        await engine.configure(name, **told)
    except InvalidPolicy:  # it does not go with what was changed by hand: the file wins as a whole
        await engine.configure(name, **differs)
        return differs
    return told


async def _last(engine: Engine, name: str) -> dict[str, Any] | None:
    """Return what the file said last time; None if there was no last time."""
    raw = await engine.runner.command("HGET", keys.DECLARED, name)
    try:
        found = json.loads(raw) if raw else None
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
