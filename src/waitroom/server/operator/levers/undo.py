"""The last change of a room as pages show it, with the reason if it cannot be undone."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from waitroom.credentials.roles import Role
from waitroom.engine.audit import Entry
from waitroom.errors import UnknownRoom
from waitroom.operations.rooms import FOR_ADMINS
from waitroom.operations.undo import REMEDIES, can_undo
from waitroom.server.context import Server


@dataclass(frozen=True, slots=True)
class LastChange:
    """A line of the log; `obstacle` is the text that says why it cannot be undone, if so."""

    entry: Entry
    obstacle: str | None


async def last_change(server: Server, room: str, version: int, role: Role) -> LastChange | None:
    """Return the last change of a room, with what keeps this role from undoing it, if anything."""
    entry = await server.last_changes.of(room, version)
    return None if entry is None else LastChange(entry, _obstacle(entry, version, role))


def remedy(entry: Entry) -> str | None:
    """Return the text that says what to do about an action that cannot be undone."""
    return f"undo_not_{entry.action.replace('.', '_')}" if entry.action in REMEDIES else None


async def undoable(server: Server, entries: Sequence[Entry], role: Role) -> set[str]:
    """Return which lines of the log can be undone now: of each room at most its last change."""
    newest: dict[str, Entry] = {}
    for entry in entries:
        if entry.room is not None and "version" in entry.detail:
            newest.setdefault(entry.room, entry)

    async def is_undoable(room: str, entry: Entry) -> bool:
        try:
            version = (await server.engine.room(room)).version
        except UnknownRoom:
            return False
        return _obstacle(entry, version, role) is None

    good = await asyncio.gather(*(is_undoable(*item) for item in newest.items()))
    return {entry.id for entry, yes in zip(newest.values(), good, strict=True) if yes}


def _obstacle(entry: Entry, version: int, role: Role) -> str | None:
    if not can_undo(entry, version):
        return "undo_not_whole"
    if role is not Role.ADMIN and FOR_ADMINS & entry.detail["changed"].keys():
        return "undo_not_yours"
    return None
