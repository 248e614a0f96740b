"""Undo the last change of a room, however it was made and wherever the operator sees it.

A change can be undone as long as nobody has changed the room since. An undo is a change too: it
can be undone again. What happened to people (a call, a removal) cannot.
"""

from __future__ import annotations

import json
import time
from typing import Any

from waitroom.engine import Engine
from waitroom.engine.audit import Audit, Entry
from waitroom.errors import CannotUndo, VersionConflict
from waitroom.models import PolicyChange
from waitroom.operations import rooms
from waitroom.operations.trail import Trail

REMEDIES = {
    "admit": "those who were called keep their turn; pause the room, so that nobody else is called",
    "call": "who was called keeps their turn; remove the ticket if it must not enter",
    "kick": "find the person by ticket or short code, and give them their place back",
    "room.clear": "tickets of before are refused for good; people have to join again",
    "room.create": "remove the room, if nobody needs it",
    "room.drop": "make the room again; its people have to join again",
}
"""What to do instead about an action that cannot be undone."""

_ENTRIES = 50  # of the room: calls and removals may have come after its last change
_NEVER_CUT = 1_000  # characters; older versions kept no more than these
_LOOK_AGAIN_S = 5.0
_MOST_ROOMS = 2_000


async def undo(
    engine: Engine,
    trail: Trail,
    room: str,
    *,
    entry_id: str | None = None,
    version: int | None = None,
) -> tuple[PolicyChange, str, Entry]:
    """Restore what the last change of a room changed.

    The caller may name the change, by its line in the log or by the version that it made. Return
    the reverse change, its own line, and the line that was undone.
    """
    now = (await engine.room(room)).version
    if version is not None and version != now:
        raise VersionConflict(room, version, now)
    if entry_id is None:
        entry = await last_change(engine.audit, room, now)
    else:
        entry = await engine.audit.get(entry_id)
    if entry is None or entry.room != room:
        raise CannotUndo("the log has no change of this room that could be undone")
    check(entry, now)
    before = {name: _value(name, pair["old"]) for name, pair in entry.detail["changed"].items()}
    change, undone_id = await rooms.change(engine, trail, room, before, now, undoes=entry.id)
    return change, undone_id, entry


async def last_change(audit: Audit, room: str, version: int) -> Entry | None:
    """Return the line of the change that made this version of a room, if the log has it."""
    entries = (await audit.page(room=room, limit=_ENTRIES)).entries
    return next((entry for entry in entries if _made(entry, version)), None)


def check(entry: Entry, version: int) -> None:
    """Refuse what cannot be undone, and say what to do instead."""
    changed = _changed(entry)
    if changed is None:
        remedy = REMEDIES.get(entry.action, "change the room by hand")
        raise CannotUndo(f"{entry.action} cannot be undone: {remedy}")
    if not _made(entry, version):
        raise VersionConflict(entry.room or "", entry.detail["version"], version)
    if not_whole := [name for name, pair in changed.items() if not _is_whole(entry, pair["old"])]:
        raise CannotUndo(
            f"{not_whole[0]} was too long for the log to keep it whole; set it again by hand"
        )


def can_undo(entry: Entry, version: int) -> bool:
    """Return whether a line of the log can be undone while the room has this version."""
    try:
        check(entry, version)
    except (CannotUndo, VersionConflict):
        return False
    return True


class LastChanges:
    """The last change of each room, as a live page shows it: read once for each version."""

    def __init__(self, audit: Audit) -> None:
        self._audit = audit
        self._known: dict[str, tuple[int, Entry | None, float]] = {}

    async def of(self, room: str, version: int) -> Entry | None:
        """Return the change that made this version; its line may come a moment after it."""
        known = self._known.get(room)
        if known is not None and known[0] == version:
            _, entry, read_at = known
            if entry is not None or time.monotonic() - read_at < _LOOK_AGAIN_S:
                return entry
        entry = await last_change(self._audit, room, version)
        if room not in self._known and len(self._known) >= _MOST_ROOMS:
            del self._known[next(iter(self._known))]
        self._known[room] = (version, entry, time.monotonic())
        return entry


def _changed(entry: Entry) -> dict[str, dict[str, Any]] | None:
    return entry.detail.get("changed") if entry.action == "room.change" else None


def _made(entry: Entry, version: int) -> bool:
    return bool(_changed(entry)) and entry.detail.get("version") == version


def _is_whole(entry: Entry, old: Any) -> bool:
    """Return whether the log has all of a value: a value that was cut ends with an ellipsis."""
    if not isinstance(old, str) or not old.endswith("…"):
        return True
    return len(old) <= _NEVER_CUT and not entry.detail.get("shortened")


def _value(name: str, old: Any) -> Any:
    """Return what the policy takes: the log holds texts by language as JSON."""
    return json.loads(old) if name == "texts" and isinstance(old, str) else old
