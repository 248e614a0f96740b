"""An estimated wait compared with the real one: of the last person called from the head."""

from __future__ import annotations

from dataclasses import dataclass

from waitroom.engine import Engine
from waitroom.history import Step

_LATELY_MS = 600_000
_MINUTE_MS = 60_000


@dataclass(frozen=True, slots=True)
class KeptWait:
    """A wait that is over, and what a newcomer was told when it began; None if that is unknown."""

    waited_s: int
    told_s: int | None


async def last_wait(engine: Engine, room: str, now_ms: int) -> KeptWait | None:
    """Return the wait of the last person called in the last ten minutes; None if nobody was."""
    minutes = await engine.history(room, now_ms - _LATELY_MS, now_ms, Step.MINUTE)
    called = next((point for point in reversed(minutes) if point.waited_s is not None), None)
    if called is None or called.waited_s is None:
        return None
    began_ms = min(called.at_ms + called.span_ms, now_ms) - 1000 * called.waited_s
    since_ms = began_ms - began_ms % _MINUTE_MS
    arrival = await engine.history(room, since_ms - _MINUTE_MS, since_ms, Step.MINUTE)
    told_s = next((point.told_s for point in reversed(arrival) if point.told_s is not None), None)
    return KeptWait(called.waited_s, told_s)
