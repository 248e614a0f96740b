"""Makes the live lines follow the record: a change written there is settled in the line.

The record already has the change, so no request fails because of the line. A change that comes too
late is repaired in the background, and so is a line that has lost its parties.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any

from waitroom.desk.live.line import LiveLines, Outcome, room_of, settled
from waitroom.desk.live.repair import Repairs, end_tasks
from waitroom.desk.live.turnover import turnover_text
from waitroom.desk.models import Party
from waitroom.desk.record.record import Record
from waitroom.errors import WaitroomError

log = logging.getLogger("waitroom.desk")

SETTLE_S = 2.0
"""How long a caller waits for the live line; the record has their change by then."""


class Follower:
    """Updates live lines to what the record says about a party or a store."""

    def __init__(self, record: Record, lines: LiveLines, repairs: Repairs) -> None:
        self._record = record
        self._lines = lines
        self._repairs = repairs
        self._turnover_locks: dict[str, asyncio.Lock] = {}
        self._under_way: set[asyncio.Task[None]] = set()

    async def party(self, party: Party, *, turnover: bool = False) -> None:
        """Settle a party; with `turnover`, also update that of its line, from the last seatings."""
        await self._reach(party.store, party.line_name, self._bring(party, turnover=turnover))

    async def touch(self, store: str, line_name: str) -> None:
        """Notify everybody who watches a line that the record has changed."""
        await self._reach(store, line_name, self._lines.settle(room_of(store, line_name)))

    async def aclose(self) -> None:
        """Wait for running work; cancel what takes too long, which is repaired later."""
        if self._under_way:
            await asyncio.wait([*self._under_way], timeout=SETTLE_S)
        await end_tasks(*self._under_way)

    async def _bring(self, party: Party, *, turnover: bool) -> Outcome:
        room = room_of(party.store, party.line_name)
        if not turnover:
            return await self._lines.settle(room, [settled(party)])
        # One at a time: otherwise an older mean could arrive last.
        async with self._turnover_locks.setdefault(room, asyncio.Lock()):
            last = await self._record.turnover(party.store, party.line_name)
            return await self._lines.settle(room, [settled(party)], turnover=turnover_text(last))

    async def _reach(self, store: str, line_name: str, work: Coroutine[Any, Any, Outcome]) -> None:
        """Wait a short time for work on a live line. The work continues if the caller is gone."""
        task = asyncio.get_running_loop().create_task(self._try(store, line_name, work))
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)
        await asyncio.wait((task,), timeout=SETTLE_S)

    async def _try(self, store: str, line_name: str, work: Coroutine[Any, Any, Outcome]) -> None:
        try:
            if not (await work).whole:
                await self._repairs.line(store, line_name)
        except Exception as error:
            self._repairs.soon(store, line_name)
            level = logging.WARNING if isinstance(error, WaitroomError) else logging.ERROR
            log.log(level, "line %s of %s is behind the record: %s", line_name, store, error)
