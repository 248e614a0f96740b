"""A room's streams (samples and events), read without a script."""

from __future__ import annotations

from waitroom.engine import inputs
from waitroom.engine.protocol import streams
from waitroom.engine.runner import Runner
from waitroom.models import EventPage, Sample

MOST_SAMPLES = 2_000
MOST_EVENTS = 10_000
_START = "0-0"


async def series(runner: Runner, room: str, since_ms: int | None, limit: int) -> tuple[Sample, ...]:
    """Return the newest samples, oldest first."""
    inputs.check_count("limit", limit, MOST_SAMPLES)
    # An id is the time of its sample, or a little later if the clock went back.
    since = max(since_ms or 0, 0)
    (entries,) = await runner.streams(room, ("series", True, f"{min(since, 2**63)}-0", limit))
    samples = [streams.sampled(entry) for _, entry in reversed(entries)]
    return tuple(sample for sample in samples if sample.at_ms >= since)


async def events(runner: Runner, room: str, after: str | None, limit: int) -> EventPage:
    """Return the events after a cursor, and the cursor after them."""
    inputs.check_count("limit", limit, MOST_EVENTS)
    newest = ("events", True, "-", 1)
    if after is None:
        (last,) = await runner.streams(room, newest)
        return EventPage(last[0][0].decode() if last else _START, ())
    inputs.stream_id("after", after)
    entries, last = await runner.streams(room, ("events", False, f"({after}", limit), newest)
    if not entries and last and _id(last[0][0].decode()) < _id(after):
        # The stream started again, with a clock that had gone back: all of it is new.
        (entries,) = await runner.streams(room, ("events", False, "-", limit))
    cursor = entries[-1][0].decode() if entries else after
    return EventPage(cursor, tuple(streams.event(entry) for _, entry in entries))


def _id(text: str) -> tuple[int, int]:
    return inputs.stream_id("after", text)
