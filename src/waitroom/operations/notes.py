"""Notes on the timeline of a room: what operators want to find again beside its charts."""

from __future__ import annotations

import unicodedata

from waitroom.engine import Engine
from waitroom.errors import BackendUnavailable, InvalidInput
from waitroom.models import check_room_name
from waitroom.operations.trail import Trail

LONGEST_NOTE = 500
_UNSEEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}
"""Control characters, including those that change the direction of text, and surrogates."""


async def add(engine: Engine, trail: Trail, room: str, text: str) -> str:
    """Write a note to the audit log of a room; return its entry's id."""
    text = checked_note(text)
    await engine.room(check_room_name(room))  # an unknown room is an error, not a note
    entry_id = await trail.record("note", room, text=text)
    if not entry_id:  # other actions exist without their entry, a note does not
        raise BackendUnavailable("the note could not be written; try again")
    return entry_id


def checked_note(text: str) -> str:
    """Return a note as one line that is safe to print."""
    line = " ".join(text.split())
    if not 1 <= len(line) <= LONGEST_NOTE:
        raise InvalidInput("text", f"takes 1 to {LONGEST_NOTE} characters; this has {len(line)}")
    for character in line:
        if unicodedata.category(character) in _UNSEEN:
            raise InvalidInput("text", f"has the control character {character!a}; leave it out")
    return line
