"""Is the backend there? Known within a quarter of a second, so that no visitor waits for it.

While it is away every call fails at once, nothing queues up, and one ping every quarter of a second
finds out when it is back.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time

from waitroom.engine import Engine
from waitroom.errors import BackendUnavailable
from waitroom.server.counters.worker import Counters

log = logging.getLogger("waitroom.backend_health")

LOOK_S = 0.05
HUNG_SHARE = 0.6
"""Share of `answer_within_s` after which a call is given up: the rest is for the answer."""

_IN_TIME = 3
PING_EVERY_S = 1.0
PING_AWAY_S = 0.25


class BackendHealth:
    """Watches one backend: while `away`, calls are not worth making."""

    def __init__(self, engine: Engine, counters: Counters, answer_within_s: float) -> None:
        self.hung_s = HUNG_SHARE * answer_within_s
        self.away = False
        self.away_since = 0.0
        self._engine = engine
        self._counters = counters
        self._asked = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Begin to watch."""
        self._tasks = [asyncio.create_task(loop) for loop in (self._watch(), self._ask())]

    async def stop(self) -> None:
        """Stop."""
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=1)

    def check(self) -> None:
        """Raise at once if the backend is away."""
        if self.away:
            raise _unavailable()

    def suspect(self) -> None:
        """Check now, because a call has just failed."""
        self._asked.set()

    async def _watch(self) -> None:
        """Notice calls that take too long; pings are not enough, because they may hang as well."""
        on_time = 0
        while True:
            began = time.monotonic()
            await asyncio.sleep(LOOK_S)
            # If this process was late, replies may be unread: that is not the backend's fault.
            late = time.monotonic() - began > 2 * LOOK_S
            on_time = 0 if late else on_time + 1
            if on_time >= _IN_TIME and self._engine.oldest_call_s > self.hung_s:
                self._set(True)
                self._asked.set()

    async def _ask(self) -> None:
        """Ping the backend now and then, and at once when a call has failed."""
        while True:
            self._asked.clear()
            self._set(not await self._ping())
            if self.away:
                await asyncio.sleep(PING_AWAY_S)
                continue
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(PING_EVERY_S):
                    await self._asked.wait()

    async def _ping(self) -> bool:
        """Ping once, with a visitor's time limit."""
        try:
            async with asyncio.timeout(self.hung_s):
                await self._engine.ping()
        except Exception:  # any failure means no answer
            return False
        return True

    def _set(self, away: bool) -> None:
        if away:
            # Those who wait for an answer get one now, also those who came after it went away.
            self._engine.fail_waiting(_unavailable())
        if away == self.away:
            return
        self.away = away
        if away:
            self._counters.backend_errors += 1
            self.away_since = time.monotonic()
            log.warning("the backend is away; answering without it until it is back")
        else:
            log.warning("the backend is back after %.1f s", time.monotonic() - self.away_since)


def _unavailable() -> BackendUnavailable:
    return BackendUnavailable(
        "the backend cannot be reached; places are kept, try again in a moment"
    )
