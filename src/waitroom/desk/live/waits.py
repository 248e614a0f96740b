"""How long a wait in a line is: what a newcomer is told, and what the engine has observed.

A guest's request costs one rank in a shared pipeline. Observed waits are calculated in the
background and answered from memory.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from waitroom.desk.live.line import POLICY
from waitroom.desk.live.turnover import read_turnover
from waitroom.desk.models import SAMPLES_NEEDED, Range, Source, Store, WaitingType
from waitroom.desk.record.join import check_closing, check_mode
from waitroom.engine import Engine, LineCounts
from waitroom.errors import DeskError, LineFull, WaitroomError
from waitroom.estimate.methods import Wait, estimator
from waitroom.models import Eta, Mode, Sample, Stats

log = logging.getLogger("waitroom.desk")

OBSERVED_S = 5.0
"""How old the observed waits of a line may be before they are renewed."""

_KEPT_SAMPLES = 720  # an hour, made by the ticker: a desk calls only a few parties in that time
_OBSERVED_MS = 600_000  # a shorter observation of a restaurant says nothing
_MOST_LINES = 10_000
_SHARE = 10  # observing takes at most this fraction (1/n) of the process's time
_POLICY = POLICY.change(mode=Mode.MANUAL, eta=Eta.OBSERVED)


@dataclass(frozen=True, slots=True, kw_only=True)
class LineSummary:
    """One line at a glance."""

    name: str
    title: str
    waiting: int
    called: int
    wait_minutes: int
    """What a party that joins now would wait."""

    observed: Range | None
    accepts: bool
    why_not: str | None = None
    """The error code that a guest at the store would get."""


def summarize_line(
    store: Store, waiting_type: WaitingType, counts: LineCounts, observed: Range | None, now_ms: int
) -> LineSummary:
    """Return a line as a newcomer sees it now."""
    turnover = read_turnover(counts.turnover)
    refusal: DeskError | None = None
    try:
        check_mode(store, Source.ON_SITE)
        if waiting_type.queue_limit is not None and counts.waiting >= waiting_type.queue_limit:
            raise LineFull("as many parties wait as may")
        check_closing(store, turnover, counts.waiting, now_ms)
    except DeskError as error:
        refusal = error
    return LineSummary(
        name=waiting_type.name,
        title=waiting_type.title,
        waiting=counts.waiting,
        called=counts.called,
        wait_minutes=turnover.wait_minutes(counts.waiting + 1),
        observed=observed,
        accepts=refusal is None,
        why_not=None if refusal is None else refusal.code,
    )


class _Samples:
    """One line's samples, and what they say."""

    __slots__ = ("due", "samples", "wait")

    def __init__(self) -> None:
        self.due = 0.0
        self.samples: deque[Sample] = deque(maxlen=_KEPT_SAMPLES)
        self.wait: Callable[[int], Wait | None] = _unknown


def _unknown(_position: int) -> Wait | None:
    return None


class ObservedWaits:
    """What the engine has seen of each line, renewed in the background for those asked for."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._lines: dict[str, _Samples] = {}
        self._wanted: dict[str, _Samples] = {}
        self._task: asyncio.Task[None] | None = None

    def range(self, room: str, position: int) -> Range | None:
        """Return the range of the wait at a position, at once, from this process's memory."""
        line = self._lines.get(room)
        if line is None or line.due < time.monotonic():
            line = self._want(room, line)
        wait = line.wait(position)
        return None if wait is None else _minutes(wait)

    async def fresh(self, room: str, position: int) -> Range | None:
        """Return the range from the engine's present state, for callers who can wait for it."""
        line = self._lines.get(room)
        if line is None or line.due < time.monotonic():
            line = line or self._add(room)
            line.due = time.monotonic() + OBSERVED_S  # callers that come now need not look again
            await self._renew(room, line)
        return self.range(room, position)

    async def stop(self) -> None:
        """Stop observing."""
        self._wanted.clear()
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.wait([task], timeout=1)

    def _add(self, room: str) -> _Samples:
        if len(self._lines) >= _MOST_LINES:
            self._lines.clear()
        line = self._lines[room] = _Samples()
        return line

    def _want(self, room: str, line: _Samples | None) -> _Samples:
        """Schedule an observation of a line; until then callers get the last known range."""
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

    async def _renew(self, room: str, line: _Samples) -> None:
        try:
            since = line.samples[-1].at_ms + 1 if line.samples else None
            line.samples.extend(
                await self._engine.series(room, since_ms=since, limit=_KEPT_SAMPLES)
            )
            stats = await self._engine.stats(room)
            samples = tuple(line.samples)
            line.wait = (
                estimator(_POLICY, stats, samples).wait if _enough(samples, stats) else _unknown
            )
        except (
            WaitroomError,
            ArithmeticError,
        ) as error:  # the last known range is still the best guess
            log.debug("the waits in %s were not observed: %s", room, error)
        line.due = time.monotonic() + OBSERVED_S


def _enough(samples: Sequence[Sample], stats: Stats) -> bool:
    """Return whether a line was observed long enough: a few calls do not show its speed."""
    if not samples:
        return False
    calls = stats.counters["called_total"] - samples[0].called_total
    return calls >= SAMPLES_NEEDED and stats.now_ms - samples[0].at_ms >= _OBSERVED_MS


def _minutes(wait: Any) -> Range:
    low, likely, high = wait
    return Range(low // 60, (likely + 30) // 60, -(-high // 60))
