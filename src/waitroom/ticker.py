"""The loop that calls `advance`. It runs in every process, and sleeps until something is due.

Every `advance` returns when the next one is due (a deadline, a pace slot, a bucket of the rolling
limit); the ticker keeps those moments per room and sleeps until the first. A room that this process
changes is advanced soon after. A slow lap over all rooms uses a cheap query to find rooms that
another process left behind, so thousands of idle rooms cost almost nothing. After an advance a room
is sometimes sampled for charts and estimates. When a minute is over, its samples become history. A
failure there does no harm.
"""

from __future__ import annotations

import asyncio
import contextlib
import heapq
import logging
import random
import time
from collections.abc import Awaitable, Callable
from typing import Self

from waitroom.engine import Engine
from waitroom.errors import UnknownRoom, WaitroomError
from waitroom.history import Step
from waitroom.models import Advanced

log = logging.getLogger("waitroom.ticker")

LAP_S = 10.0
"""How long a room unknown to this process may go unnoticed."""

SOON_S = 0.1
"""How soon a room changed here is advanced; changes until then share that call."""

NEW_PER_LAP = 500
"""Most unknown rooms that one lap takes up, so that a start causes no burst."""

SAMPLE_S = 5.05
"""How often a process asks for a sample of a room: long enough for one to be due."""

HISTORY_SPREAD_S = (0.5, 8.0)
"""How long after the end of a minute a room's history is written: not all rooms at once."""

NewcomerWait = Callable[[str, int], Awaitable[int | None]]
"""Returns the likely wait in s that a newcomer to a room is told, given how many wait there."""

AT_ONCE = 16
_BACK_OFF_S = (0.1, 5.0)
_LONGEST_SLEEP_S = 3600.0


class Ticker:
    """Keeps the rooms of one engine moving: `async with Ticker(engine): ...`."""

    def __init__(
        self, engine: Engine, *, lap_s: float = LAP_S, newcomer_wait: NewcomerWait | None = None
    ) -> None:
        self._engine = engine
        self._lap_s = lap_s
        self._newcomer_wait = newcomer_wait
        self._due: dict[str, float] = {}
        self._heap: list[tuple[float, str]] = []
        self._failures: dict[str, int] = {}
        self._met: set[str] = set()
        self._sample_at: dict[str, float] = {}
        self._history_at: dict[str, float | None] = {}
        self._wake = asyncio.Event()
        self._stopping = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._loops: list[asyncio.Task[None]] = []
        self._unsubscribe: Callable[[], None] = lambda: None

    def start(self) -> None:
        """Start to tick, in the background."""
        self._unsubscribe = self._engine.on_change(self.touch)
        self._stopping.clear()
        self._loops = [asyncio.create_task(self._tick()), asyncio.create_task(self._laps())]

    async def stop(self) -> None:
        """Stop, after finishing steps under way."""
        self._unsubscribe()
        self._stopping.set()
        self._wake.set()
        pending = {*self._loops, *self._tasks}
        while pending:
            _, pending = await asyncio.wait(pending, timeout=1)
            # The lap may hang on the server; cancel repeatedly, because redis-py can lose a
            # cancellation.
            for task in pending.intersection(self._loops):
                task.cancel()
        self._loops = []

    async def __aenter__(self) -> Self:
        self.start()
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.stop()

    def touch(self, room: str) -> None:
        """Advance a room soon, because it was changed. Every verb calls this, so it is cheap."""
        self._schedule(room, time.monotonic() + SOON_S * random.uniform(0.5, 1))  # noqa: S311

    def _schedule(self, room: str, at: float) -> None:
        """Plan to advance a room at a moment, unless an earlier moment is planned."""
        if self._due.get(room, float("inf")) <= at:
            return
        self._due[room] = at
        heapq.heappush(self._heap, (at, room))
        if self._heap[0][0] == at:
            self._wake.set()

    async def _tick(self) -> None:
        while not self._stopping.is_set():
            self._wake.clear()
            pause = self._start_due()
            # Not `wait_for`: in Python 3.11 it loses a cancellation that comes together with the
            # wake.
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._wake.wait()

    def _start_due(self) -> float:
        """Start a step for each room that is due; return the time until the next one is due."""
        while self._heap and len(self._tasks) < AT_ONCE:
            at, room = self._heap[0]
            if self._due.get(room) != at:  # planned again since then
                heapq.heappop(self._heap)
                continue
            pause = at - time.monotonic()
            if pause > 0:
                return min(pause, _LONGEST_SLEEP_S)
            heapq.heappop(self._heap)
            del self._due[room]
            task = asyncio.create_task(self._step(room))
            self._tasks.add(task)
            task.add_done_callback(self._ended)
        return _LONGEST_SLEEP_S  # a step that ends wakes us

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._wake.set()

    async def _step(self, room: str) -> None:
        try:
            done = await self._engine.advance(room)
        except UnknownRoom:  # dropped, or only a name in the index
            self._failures.pop(room, None)
            self._sample_at.pop(room, None)
            self._history_at.pop(room, None)
        except WaitroomError as error:
            self._back_off(room, error)
        except Exception as error:
            log.exception("advance of room %s failed", room)
            self._back_off(room, error)
        else:
            self._failures.pop(room, None)
            if done.due_ms is not None:
                pause = max(0.0, (done.due_ms - done.now_ms) / 1000)
                # A small spread, so that processes do not all call in the same millisecond.
                self._schedule(room, time.monotonic() + pause + random.uniform(0, 0.005))  # noqa: S311
            await self._sample(room, done)
            await self._keep_history(room, done)

    async def _sample(self, room: str, done: Advanced) -> None:
        """Sample a room, or plan to do so when due: its last change must be sampled."""
        now = time.monotonic()
        due = self._sample_at.get(room, now)
        if now < due:
            self._schedule(room, due)
            return
        self._sample_at[room] = now + SAMPLE_S
        try:
            told_s = await self._told_s(room, done.waiting)
            sample = await self._engine.sample(room, told_s=told_s)
        except Exception as error:  # only a failed step matters, and it is logged
            log.debug("no sample of room %s: %s", room, error)
            return
        if sample is not None and room in self._history_at:
            self._plan_history(room, Step.MINUTE.span_ms - sample.at_ms % Step.MINUTE.span_ms)

    async def _told_s(self, room: str, waiting: int) -> int | None:
        if self._newcomer_wait is None:
            return None
        try:
            return await self._newcomer_wait(room, waiting)
        except Exception as error:
            log.debug("no estimate of room %s: %s", room, error)
            return None

    async def _keep_history(self, room: str, done: Advanced) -> None:
        """Write the spans that are over; the first time, also those that others have left."""
        at = self._history_at.get(room, 0.0)
        if at is None:
            return
        if time.monotonic() < at:
            self._schedule(room, at)
            return
        self._history_at[room] = None
        try:
            next_ms = await self._engine.keep_history(room, done.now_ms)
        except Exception as error:
            log.debug("no history of room %s: %s", room, error)
            return
        if next_ms is not None:
            self._plan_history(room, next_ms - done.now_ms)

    def _plan_history(self, room: str, in_ms: int) -> None:
        """Plan to write a span after its end, unless an earlier write is planned."""
        planned, end = self._history_at[room], time.monotonic() + in_ms / 1000
        if planned is None or planned > end + HISTORY_SPREAD_S[1]:
            planned = self._history_at[room] = end + random.uniform(*HISTORY_SPREAD_S)  # noqa: S311
        self._schedule(room, planned)

    def _back_off(self, room: str, error: Exception) -> None:
        failures = self._failures[room] = self._failures.get(room, 0) + 1
        first, longest = _BACK_OFF_S
        pause = min(longest, first * 2 ** min(failures - 1, 10)) * random.uniform(0.5, 1)  # noqa: S311
        if failures == 1:
            log.warning("advance of room %s failed, trying again: %s", room, error)
        self._schedule(room, time.monotonic() + pause)

    async def _laps(self) -> None:
        while not self._stopping.is_set():
            try:
                await self._lap()
            except Exception as error:
                log.warning("could not look for rooms, trying again: %s", error)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._lap_s * random.uniform(0.8, 1.2)):  # noqa: S311
                    await self._stopping.wait()

    async def _lap(self) -> None:
        rooms = await self._engine.rooms()
        now = time.monotonic()
        # Visitors of another process may have made plans for after the next lap outdated.
        idle = [room for room in rooms if self._due.get(room, float("inf")) > now + self._lap_s]
        for room in await self._engine.occupied(idle):
            self._schedule(room, now)
        new = [room for room in idle if room not in self._met][:NEW_PER_LAP]
        for room in await self._engine.meet(new):
            self._schedule(room, now)
        await self._engine.note_kicks([room for room in rooms if room in self._due or room in new])
        self._met = (self._met | set(new)) & set(rooms)
        self._sample_at = {room: at for room, at in self._sample_at.items() if at > now}
        for room in self._history_at.keys() - set(rooms):
            del self._history_at[room]
        # The index lost rooms that we remember: a step restores them, or finds that they were
        # dropped.
        for room in self._engine.remembered() - set(rooms):
            self._schedule(room, now)
