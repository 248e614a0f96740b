"""Watches the lines of stores that have a webhook, and writes the notices that are due.

A line's revision only wakes the watch: which notices are due follows from the record alone
(`outbox.py`). So while Redis is away, notices wait at most for the next lap, which compares all
lines whatever their revisions are.
"""

from __future__ import annotations

import logging
import time

from waitroom.desk.live.line import room_of
from waitroom.desk.models import LineId
from waitroom.desk.notify.outbox import Outbox
from waitroom.desk.record.record import Record
from waitroom.engine import Engine
from waitroom.errors import WaitroomError

log = logging.getLogger("waitroom.desk.notify.loops")

STORES_S = 2.0
"""How long a webhook that was just set may go unnoticed."""

LAP_S = 10.0
"""How often record and outbox are compared even if nothing seems to have changed."""

FORGET_S = 3600.0
_PER_LINE_S = 0.0025
"""Hundreds of lines are checked less often, because one pipeline checks all of them."""


class Watch:
    """Looks at the lines, one `step` after the other."""

    def __init__(self, record: Record, engine: Engine, outbox: Outbox, lap_s: float) -> None:
        self._record = record
        self._engine = engine
        self._outbox = outbox
        self._lap_s = lap_s
        self._lines: dict[str, LineId] = {}
        self._revisions: dict[str, int] = {}
        self._woken: set[str] = set()
        self._stores_at = self._listen_at = self._lap_at = self._forget_at = 0.0

    async def step(self) -> bool:
        """Do what is due; return whether there is a new notice."""
        now = time.monotonic()
        if now >= self._stores_at:
            await self._learn()
            self._stores_at = now + STORES_S
        if now >= self._listen_at:
            await self._listen()
            self._listen_at = now + len(self._lines) * _PER_LINE_S
        if now >= self._lap_at:
            self._woken |= set(self._lines)
            self._lap_at = now + self._lap_s
        if now >= self._forget_at:
            await self._outbox.forget()
            self._forget_at = now + FORGET_S
        return await self._note()

    async def _note(self) -> bool:
        """Compare record and outbox where something happened."""
        rooms = self._woken & set(self._lines)
        if not rooms:
            return False
        noted = await self._outbox.note([self._lines[room] for room in rooms])
        self._woken -= rooms  # only once it is done, so that a failed step is repeated
        return noted > 0

    async def _learn(self) -> None:
        """Read which lines have a webhook; new ones are compared by the next lap."""
        before = set(self._lines)
        self._lines = {
            room_of(store.id, line.name): (store.id, line.name)
            for store in await self._record.stores()
            if store.webhook_url and store.webhook_secret
            for line in store.types
        }
        if set(self._lines) - before:
            self._lap_at = 0.0

    async def _listen(self) -> None:
        """Note the rooms in which something happened; none while Redis is away."""
        rooms = list(self._lines)
        try:
            revisions = dict(zip(rooms, await self._engine.revisions(rooms), strict=True))
        except WaitroomError as error:  # the laps go on, because the record has everything
            log.debug("no revisions: %s", error)
            return
        self._woken |= {room for room in rooms if self._revisions.get(room) != revisions[room]}
        self._revisions = revisions
