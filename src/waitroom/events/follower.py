"""What all readers of the outbox share: which rooms have something for them, and when to look."""

from __future__ import annotations

import asyncio
import random
import time
from abc import ABC, abstractmethod

from waitroom.engine import Engine
from waitroom.events.relay import LAP_S, STEP_S, guarded

LEASE_MS = 40_000
"""Longer than the longest POST: a process with a lease is not overtaken while it waits."""


class Follower(ABC):
    """Reads the outboxes of all rooms to their end, again and again."""

    def __init__(self, engine: Engine) -> None:
        self.outbox = engine.outbox
        self._engine = engine
        self._pending: set[str] = set()
        self._read: dict[str, str] = {}
        self._known: set[str] = set()

    def wake(self, room: str) -> None:
        """Look at a room soon: it has new entries."""
        self._pending.add(room)

    def look_again(self) -> None:
        """Treat no room as read."""
        self._read.clear()

    async def run(self) -> None:
        """Run until cancelled."""
        lap_at = 0.0
        while True:
            await asyncio.sleep(STEP_S * random.uniform(0.8, 1.2))  # noqa: S311
            lap = time.monotonic() >= lap_at
            if await guarded(self.step, lap) and lap:
                lap_at = time.monotonic() + LAP_S

    async def step(self, lap: bool = True) -> None:
        """Follow the rooms with new entries; with `lap`, look for them in all rooms."""
        if lap:
            await self._find()
        for room in sorted(self._pending):
            newest = (await self.outbox.newest([room])).get(room, "")
            if not newest or await self.follow(room, newest):
                self._read[room] = newest
                self._pending.discard(room)

    async def _find(self) -> None:
        rooms = set(await self._engine.rooms())
        asked, self._known = rooms | self._known, rooms  # one lap more for those that were dropped
        for room, newest in (await self.outbox.newest(sorted(asked))).items():
            if self._read.get(room) != newest:
                self._pending.add(room)
        self._read = {room: read for room, read in self._read.items() if room in asked}

    @abstractmethod
    async def follow(self, room: str, newest: str) -> bool:
        """Continue in a room, or at least start; return whether it is read up to `newest`."""
