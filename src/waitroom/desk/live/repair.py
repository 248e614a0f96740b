"""Keeps live lines and the record in step, whatever was lost between the two.

The record is written first, so it is right. A line is read before the record, so everybody in it
was in the record by then: a ticket that the record does not have (any more) is a stranger, and is
removed. All others are settled at the revision of the record, which changes nothing if the line
already has a later change.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from waitroom.desk.live.line import LiveLines, agrees, is_ahead, room_of, settled
from waitroom.desk.live.turnover import turnover_text
from waitroom.desk.models import LineId, Party
from waitroom.desk.record.record import Record
from waitroom.engine import LineContents, Settled
from waitroom.errors import BrokenRoom, UnknownParty, UpgradeNeeded

log = logging.getLogger("waitroom.desk")

EVERY_S = 10.0
"""How often lines are compared with the record in the background."""

LAP = 6
"""Every line is compared by length each time, and party by party once in this many times."""

_ROUNDS = 3
_BACK_OFF_S = (0.1, 5.0)


@dataclass(frozen=True, slots=True)
class Repaired:
    """What a repair did: lines compared, tickets put right, and strangers removed."""

    lines: int = 0
    settled: int = 0
    removed: int = 0

    def __add__(self, other: Repaired) -> Repaired:
        """Return the sum of both."""
        return Repaired(
            self.lines + other.lines, self.settled + other.settled, self.removed + other.removed
        )


@contextlib.contextmanager
def _apart(key: LineId) -> Iterator[None]:
    """Log a line that cannot be repaired, and let the others continue."""
    try:
        yield
    except (BrokenRoom, UpgradeNeeded) as error:
        log.warning("line %s of %s cannot be repaired: %s", key[1], key[0], error)


async def end_tasks(*tasks: asyncio.Task[Any]) -> None:
    """Cancel tasks again until they have ended, because redis-py can lose a cancellation."""
    pending = set(tasks)
    while pending:
        for task in pending:
            task.cancel()
        _, pending = await asyncio.wait(pending, timeout=1)


class Repairs:
    """Repairs lines, each only once at a time, however many callers ask."""

    def __init__(self, record: Record, lines: LiveLines) -> None:
        self.live = lines
        self._record = record
        self._lines = lines
        self._under_way: dict[LineId, asyncio.Task[Repaired]] = {}
        self._dirty: set[LineId] = set()
        self._wake = asyncio.Event()
        self._laps = 0

    async def line(self, store: str, line_name: str) -> Repaired:
        """Repair one line; concurrent callers share one repair."""
        key = (store, line_name)
        task = self._under_way.get(key)
        if task is None:
            task = asyncio.get_running_loop().create_task(
                self._repair(store, line_name, forced=False)
            )
            self._under_way[key] = task
            task.add_done_callback(lambda done: self._ended(key, done))
        return await asyncio.shield(task)

    async def lines(self, keys: Sequence[LineId], *, forced: bool = False) -> Repaired:
        """Repair lines that have parties, live or in the record; `forced` ignores revisions."""
        counts = await self._lines.engine.line_counts([room_of(*key) for key in keys])
        lengths = await self._record.lengths()
        total = Repaired(len(keys))
        for key, count in zip(keys, counts, strict=True):
            if count.waiting or count.called or key in lengths:
                with _apart(key):
                    total += await self._repair(*key, forced=forced)
        return total

    def soon(self, store: str, line_name: str) -> None:
        """Schedule a repair of a line that a change of the record did not reach."""
        self._dirty.add((store, line_name))
        self._wake.set()

    async def aclose(self) -> None:
        """End running repairs: a task that is still running would use a closed database."""
        await end_tasks(*self._under_way.values())

    async def run(self) -> None:
        """Repair in the background until cancelled: lines known to be wrong first."""
        failures, next_lap = 0, time.monotonic() + EVERY_S
        while True:
            pause = next_lap - time.monotonic()
            if failures:
                pause = min(pause, _BACK_OFF_S[1], _BACK_OFF_S[0] * 2 ** min(failures, 10))
            elif self._dirty:
                pause = 0.0
            await self._sleep(pause, wakes=not failures)
            lap = time.monotonic() >= next_lap
            try:
                await self._mend()
                if lap:
                    next_lap = time.monotonic() + EVERY_S
                    await self._lap()
                failures = 0
            except Exception as error:  # the database or the backend is away: try again next time
                failures += 1
                log.log(
                    logging.WARNING if failures == 1 else logging.DEBUG,
                    "the lines were not compared with the record, trying again: %s",
                    error,
                )

    async def _sleep(self, pause_s: float, *, wakes: bool) -> None:
        if not wakes:
            await asyncio.sleep(max(0.0, pause_s))
            return
        self._wake.clear()
        if self._dirty:
            return
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(max(0.0, pause_s)):
                await self._wake.wait()

    async def _mend(self) -> None:
        for key in [*self._dirty]:
            self._dirty.discard(key)
            try:
                with _apart(key):
                    await self._repair(*key, forced=False)
            except BaseException:
                self._dirty.add(key)
                raise

    async def _lap(self) -> None:
        """Compare all lines by their length, and some of them party by party."""
        self._laps += 1
        rooms = await self._record.open_lines()
        counts = await self._lines.engine.line_counts([room_of(*key) for key in rooms])
        lengths = await self._record.lengths()
        for number, (key, count) in enumerate(zip(rooms, counts, strict=True)):
            live = lengths.get(key, (0, 0))
            counted = (count.waiting, count.called)
            if counted != live or (live != (0, 0) and (not count.turnover or self._is_due(number))):
                with _apart(key):
                    await self.line(*key)

    def _is_due(self, number: int) -> bool:
        return number % LAP == self._laps % LAP

    def _ended(self, key: LineId, task: asyncio.Task[Repaired]) -> None:
        self._under_way.pop(key, None)
        if not task.cancelled() and task.exception() is not None:
            log.debug("the line %s of %s was not repaired: %s", key[1], key[0], task.exception())

    async def _repair(self, store: str, line_name: str, *, forced: bool) -> Repaired:
        room, total = room_of(store, line_name), Repaired()
        for _ in range(_ROUNDS):
            line = await self._lines.engine.line(room)
            live = await self._record.live(store, line_name)
            if not line.there and not live:
                break
            done, sure = await self._compare(store, line_name, line, live, forced=forced)
            total += done
            # A forced settle may have undone a change made meanwhile: compare again.
            if sure:
                break
            forced = False
        if total.settled or total.removed:
            log.info(
                "line %s: %d put right, %d strangers removed", room, total.settled, total.removed
            )
        return total

    async def _compare(
        self, store: str, line_name: str, line: LineContents, live: Sequence[Party], *, forced: bool
    ) -> tuple[Repaired, bool]:
        """Settle the differences; return what changed, and whether one comparison was enough."""
        room = room_of(store, line_name)
        strangers = sorted(line.tickets - {party.ticket for party in live})
        gone = [await self._stranger(store, line_name, ticket, line) for ticket in strangers]
        wrong = [settled(party) for party in live if forced or not agrees(line, party)]
        removed = await self._settle(room, gone, line, forced=forced)
        changed = await self._settle(room, wrong, line, forced=forced)
        turnover = turnover_text(await self._record.turnover(store, line_name))
        # The turnover is last: a line that has one counts as whole.
        if turnover != line.turnover or forced:
            await self._lines.settle(room, turnover=turnover)
        elif not wrong and not gone:
            self._lines.is_whole_at(room, line.mark)
        insisted = forced or any(_is_ahead_of(line, ticket) for ticket in (*gone, *wrong))
        return Repaired(0, changed, removed), not insisted

    async def _settle(
        self, room: str, tickets: Sequence[Settled], line: LineContents, *, forced: bool
    ) -> int:
        """Settle tickets; force those where the line saw a later revision than the record has."""
        changed = 0
        for ahead in (False, True):
            batch = [ticket for ticket in tickets if _is_ahead_of(line, ticket) is ahead]
            if batch:
                outcome = await self._lines.settle(room, batch, forced=forced or ahead)
                changed += outcome.changed
        return changed

    async def _stranger(
        self, store: str, line_name: str, ticket: str, line: LineContents
    ) -> Settled:
        """Return the state to settle for a ticket that is not live in the record."""
        try:
            return settled(await self._record.by_ticket(store, line_name, ticket))
        except UnknownParty:
            return Settled(ticket, "left", 1, line.revisions.get(ticket, 0))


def _is_ahead_of(line: LineContents, ticket: Settled) -> bool:
    return is_ahead(line, ticket.id, ticket.revision)
