"""What happened to one person in a room: from its events, and before them from the archive."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from waitroom.archive.person import Earlier, earlier
from waitroom.archive.reading import Limits
from waitroom.archive.thread import ArchiveThread
from waitroom.engine import Engine, Steps
from waitroom.errors import Busy

LIMITS = Limits(most_bytes=100_000_000, most_s=3.0, gentle=True)
"""How much of an archive is read for a page that somebody waits for."""

_thread = ArchiveThread("person")


async def steps_of(engine: Engine, room: str, ticket_id: str, folder: Path | None) -> Steps:
    """Return the steps of a ticket, as far back as events or the archive in `folder` reach."""
    steps = await engine.steps(room, ticket_id)
    if folder is None or (steps.complete and steps.since_us is not None):
        return steps
    # Tickets from before the room was made or last cleared no longer count.
    made_ms = (await engine.room(room)).epoch // 1000
    until_us = steps.since_us or 1000 * (await engine.stats(room)).now_ms
    span = made_ms, until_us // 1000
    try:
        archived = await _thread.run(partial(earlier, folder, room, ticket_id, span, LIMITS))
    except Busy:  # the page says how far back it knows
        return steps
    return merged(steps, archived, made_ms)


def merged(steps: Steps, archived: Earlier, made_ms: int) -> Steps:
    """Put the steps of the archive before those of events; at the seam both may have the same."""
    if archived.since_ms is None:
        return steps
    kept = {(event.kind, event.at_us // 1000) for event in steps.events}
    before = [e for e in archived.events if (e.kind, e.at_us // 1000) not in kept]
    since_us = 1000 * archived.since_ms
    if steps.since_us is not None:
        since_us = min(since_us, steps.since_us)
    complete = archived.since_ms <= made_ms
    return Steps((*before, *steps.events), since_us, complete)
