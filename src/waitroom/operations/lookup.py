"""Find tickets by short code, which people can read out, wherever an operator may give an id."""

from __future__ import annotations

from collections.abc import Sequence

from waitroom.engine import Engine
from waitroom.errors import InvalidInput
from waitroom.short_codes import prefix_of

MOST_CODES = 10
"""Each code is searched among everybody in the room, so a request may have only a few."""


async def ticket_ids(engine: Engine, room: str, words: Sequence[str]) -> list[str]:
    """Return the ids that `words` mean, ids and short codes mixed."""
    if sum(prefix_of(word) is not None for word in words) > MOST_CODES:
        raise InvalidInput("ticket", f"give ids, or at most {MOST_CODES} short codes at once")
    return [await ticket_id(engine, room, word) for word in words]


async def ticket_id(engine: Engine, room: str, word: str) -> str:
    """Return the id that `word` means: itself, or the only ticket with this short code."""
    if prefix_of(word) is None:
        return word
    ids = sorted({ticket.id for ticket in (await engine.find(room, word)).tickets})
    if not ids:
        raise InvalidInput("ticket", f"nobody in the room has the code {word}")
    if len(ids) > 1:
        raise InvalidInput("ticket", f"several have the code {word}, give an id: {', '.join(ids)}")
    return ids[0]
