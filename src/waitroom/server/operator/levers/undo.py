"""Which changes the page offers to take back."""

from __future__ import annotations

from waitroom.engine.audit import Entry
from waitroom.server.operator.levers.wishes import FIELDS

_UNDOABLE = {"ends_at", *(name for names in FIELDS.values() for name in names)}


def can_undo(entry: Entry, version: int | None = None) -> bool:
    """Tell whether a change can be taken back; with `version`, if it is the last one still."""
    changed = entry.detail.get("changed") if entry.action == "room.change" else None
    if not changed or not set(changed) <= _UNDOABLE:
        return False
    return version is None or entry.detail.get("version") == version
