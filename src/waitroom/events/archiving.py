"""Writes the archive from the outboxes: one process per room at a time, from where its file ends.

A full disk stops nothing else: the lines wait in the outbox for a day, and the error is logged.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

from waitroom.archive import files as archive
from waitroom.archive.files import ArchivedEvent
from waitroom.engine import Engine
from waitroom.engine.outbox import START, OutboxEvent, number_of
from waitroom.errors import WaitroomError
from waitroom.events.follower import LEASE_MS, Follower
from waitroom.moments import from_ms, written

log = logging.getLogger("waitroom.archive")

_READER = "archive"
_PAGE = 500


class Archiving(Follower):
    """Keeps the archive of all rooms in one folder."""

    def __init__(
        self, engine: Engine, folder: Path, on_error: Callable[[], None] = lambda: None
    ) -> None:
        super().__init__(engine)
        self._folder = folder
        self._on_error = on_error
        self.error: str | None = None
        """Why the last lines could not be written; None if they were."""

    async def step(self, lap: bool = True) -> None:
        """Write what is new, and let others know that there is an archive."""
        if lap:
            await self.outbox.note_archive(self.error)
        await super().step(lap)

    async def follow(self, room: str, newest: str) -> bool:
        """Write the lines of a room, unless another process does."""
        try:
            done = await self._last(room)
            if done == newest:
                return True
            token = await self.outbox.lease(room, _READER, LEASE_MS)
            if token is None:
                return False
            try:
                done = await self._write(room)
            finally:
                await self.outbox.commit(room, _READER, token, {"position": done})
        except OSError as error:
            self._failed(error)
            return False
        if self.error is not None:
            self.error = None
            log.warning("the archive is written again")
        return done == newest

    async def _last(self, room: str) -> str:
        return await asyncio.to_thread(archive.last_id, self._folder, room) or START

    async def _write(self, room: str) -> str:
        done = await self._last(room)
        while events := await self.outbox.read(room, done, _PAGE):
            opened = await self._opened(room)
            lines = [_line(event) for event in events]
            missing = _missing(done, events[0])
            await asyncio.to_thread(archive.write, self._folder, room, [*missing, *lines], opened)
            done = events[-1].id
            if len(events) < _PAGE:
                break
        return done

    async def _opened(self, room: str) -> dict[str, Any]:
        """Return the state of the room, for the first line of a new file."""
        try:
            stats = await self._engine.stats(room)
        except WaitroomError:  # dropped meanwhile: its last events are still written
            return {}
        policy = self._engine.policy_of(room)
        return {
            "policy": {} if policy is None else policy.as_dict(),
            "counters": dict(stats.counters),
            "waiting": stats.waiting,
            "called": stats.called,
            "inside": stats.inside,
        }

    def _failed(self, error: OSError) -> None:
        self._on_error()
        text = error.strerror or type(error).__name__
        if self.error != text:
            self.error = text
            log.error("the archive cannot be written: %s; events wait in the outbox", text)


def _line(event: OutboxEvent) -> ArchivedEvent:
    return ArchivedEvent(event.id, event.type, event.room, event.at_ms, event.data)


def _missing(done: str, first: OutboxEvent) -> list[ArchivedEvent]:
    """Return a line that says that entries were dropped from the outbox before they were read."""
    before, number = number_of(done), first.number
    if before == 0 or number <= before + 1:
        return []
    since_ms, until_ms = int(done.partition("-")[0]), int(first.id.partition("-")[0])
    data = {"since": written(from_ms(since_ms)), "until": written(from_ms(until_ms)), "lost": False}
    line = f"{until_ms}-{number - 1}"
    return [ArchivedEvent(line, "gap", first.room, until_ms, data)]
