"""What guests are told: their signed tokens, and where they stand, from the live line alone.

A guest's look costs one rank in a shared pipeline. How fast a line moves is worked out in the
background, and said from memory.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from waitroom.desk.live.line import POLICY, room_of
from waitroom.desk.models import SAMPLES_NEEDED, Pace, Party, Range
from waitroom.engine import Engine
from waitroom.errors import InvalidTicket, WaitroomError
from waitroom.estimate.methods import Wait, estimator
from waitroom.models import Eta, Mode, Sample, Stats
from waitroom.tickets import KeyRing, Ticket

log = logging.getLogger("waitroom.desk")

OBSERVED_S = 5.0
"""How old a line's observed pace may be before it is looked at again."""

_KEPT_SAMPLES = 720  # an hour, as the ticker makes them: a desk calls a few parties in that time
_SEEN_MS = 600_000  # a shorter look at a restaurant says nothing
_MOST_LINES = 10_000
_MOST_TOKENS = 20_000
_SHARE = 10  # looking at lines takes at most one part in so many of this process's time
_OBSERVED = POLICY.change(mode=Mode.MANUAL, eta=Eta.OBSERVED)


class Tokens:
    """Signs and reads what a guest holds: the waiting type, and a ticket of no use elsewhere."""

    def __init__(self, ring: KeyRing) -> None:
        self._ring = ring
        # A guest looks again and again, with the same token.
        self._verified = lru_cache(maxsize=_MOST_TOKENS)(self._verify)

    def sign(self, party: Party) -> str:
        """Return the token of a party, the same one each time."""
        room = _guest_room(party.store, party.type)
        ticket = Ticket(room, party.ticket, 0, 0, party.registered_ms // 1000)
        return f"{party.type}.{self._ring.sign(ticket)}"

    def read(self, store: str, token: str) -> tuple[str, str]:
        """Return the waiting type and the ticket of a token that was signed for this store."""
        if not isinstance(token, str):
            raise InvalidTicket("is empty; join the line to get one")
        return self._verified(store, token)

    def _verify(self, store: str, token: str) -> tuple[str, str]:
        type_, dot, text = token.partition(".")
        if not dot:
            raise InvalidTicket("is not written as a guest's is; send it as it was given")
        return type_, self._ring.read(_guest_room(store, type_), text).id


def _guest_room(store: str, type_: str) -> str:
    # No room has a '/' in its name, so no guest's token is a ticket of the visitor API.
    return f"{room_of(store, type_)}/g"


def pace_text(pace: Pace) -> str:
    """Return the pace as the live line keeps it: samples and their mean."""
    return f"{pace.samples}:{pace.mean_minutes:.6g}"


@lru_cache(maxsize=4096)
def read_pace(text: str) -> Pace:
    """Return the pace that a live line keeps; no seatings if it says nothing of use."""
    samples, _, mean = text.partition(":")
    try:
        return Pace(int(samples), float(mean))
    except ValueError:
        return Pace()


class _Line:
    """One line's samples, and what they say."""

    __slots__ = ("due", "samples", "wait")

    def __init__(self) -> None:
        self.due = 0.0
        self.samples: deque[Sample] = deque(maxlen=_KEPT_SAMPLES)
        self.wait: Callable[[int], Wait | None] = _unknown


def _unknown(_position: int) -> Wait | None:
    return None


class Observed:
    """What the engine has seen of each line, renewed in the background for those asked for."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._lines: dict[str, _Line] = {}
        self._wanted: dict[str, _Line] = {}
        self._task: asyncio.Task[None] | None = None

    def range(self, room: str, position: int) -> Range | None:
        """Return the range of the wait at a position as far as it is known here, at once."""
        line = self._lines.get(room)
        if line is None or line.due < time.monotonic():
            line = self._want(room, line)
        wait = line.wait(position)
        return None if wait is None else _minutes(wait)

    async def fresh(self, room: str, position: int) -> Range | None:
        """Return the range by what the engine says now, for those who can wait for it."""
        line = self._lines.get(room)
        if line is None or line.due < time.monotonic():
            line = line or self._add(room)
            line.due = time.monotonic() + OBSERVED_S  # others who come now need not look too
            await self._renew(room, line)
        return self.range(room, position)

    async def stop(self) -> None:
        """Look at no more lines."""
        self._wanted.clear()
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.wait([task], timeout=1)

    def _add(self, room: str) -> _Line:
        if len(self._lines) >= _MOST_LINES:
            self._lines.clear()
        line = self._lines[room] = _Line()
        return line

    def _want(self, room: str, line: _Line | None) -> _Line:
        """Have a line looked at soon; a crowd that asks meanwhile is told what was known."""
        line = line or self._add(room)
        line.due = time.monotonic() + OBSERVED_S
        self._wanted[room] = line
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._work())
        return line

    async def _work(self) -> None:
        while self._wanted:
            room = next(iter(self._wanted))
            line = self._wanted.pop(room)
            began = time.monotonic()
            await self._renew(room, line)
            await asyncio.sleep((_SHARE - 1) * (time.monotonic() - began))

    async def _renew(self, room: str, line: _Line) -> None:
        try:
            since = line.samples[-1].at_ms + 1 if line.samples else None
            line.samples.extend(
                await self._engine.series(room, since_ms=since, limit=_KEPT_SAMPLES)
            )
            stats = await self._engine.stats(room)
            seen = tuple(line.samples)
            line.wait = estimator(_OBSERVED, stats, seen).wait if _enough(seen, stats) else _unknown
        except (WaitroomError, ArithmeticError) as error:  # what was known is still the best guess
            log.debug("the pace of %s was not observed: %s", room, error)
        line.due = time.monotonic() + OBSERVED_S


def _enough(samples: Sequence[Sample], stats: Stats) -> bool:
    """Tell whether a line was seen long enough: a few calls in a row are no pace of an evening."""
    if not samples:
        return False
    calls = stats.counters["called_total"] - samples[0].called_total
    return calls >= SAMPLES_NEEDED and stats.now_ms - samples[0].at_ms >= _SEEN_MS


def _minutes(wait: Any) -> Range:
    low, likely, high = wait
    return Range(low // 60, (likely + 30) // 60, -(-high // 60))
