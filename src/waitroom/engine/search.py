"""Finds tickets in all rooms, for operators: by the whole id, or by its beginning (a short code).

No command takes long, and a process runs one search at a time, so visitors do not notice it. A
million tickets are read in steps of a few thousand, those of small rooms together, and several
steps in parallel: beside a crowd, each step waits for its answer far longer than the server works
on it.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from dataclasses import dataclass, field
from typing import TypeVar

from waitroom.engine import keys
from waitroom.engine.protocol import streams
from waitroom.engine.runner import Runner
from waitroom.errors import Busy
from waitroom.models import Event, State

MOST_MATCHES = 50
LIVE = (str(State.WAITING), str(State.CALLED), str(State.INSIDE))
"""Keys of people who are here, in the order of a visit: somebody who moves on is not missed."""

NOTED = ("swept", "gone", "kicked")
"""Keys that note who was here or was removed."""

_STEP = 8_000
"""Members that one pipeline looks at: one to two milliseconds of the server's time."""

_MOST_STEPS, _LONGEST_STEP = 50, 20_000
"""Steps of one key cannot run in parallel, so those of a very long line are longer."""

_STEPS_AT_ONCE = 8
"""Steps under way at the same time, each on its own connection (`make bench-console`)."""

_EVENTS = 10_000
"""Most events that one search reads in all rooms together, and in one room."""

_EVENTS_AT_ONCE = 100
_MOST_IN_LINE = 8
_Item = TypeVar("_Item")


@dataclass(slots=True)
class _Scan:
    """How far the scan of one key has come; each step begins where the last one ended."""

    room: str
    name: str
    size: int
    cursor: str = "0"

    @property
    def step(self) -> int:
        """How many members the next read looks at, about."""
        return min(self.size, max(_STEP, min(self.size // _MOST_STEPS, _LONGEST_STEP)))


@dataclass(slots=True)
class Matches:
    """Ids by room, in the order they were found, with the last event that names them."""

    by_room: dict[str, dict[str, Event | None]] = field(default_factory=dict)
    count: int = 0

    def add(self, room: str, ticket_id: str, event: Event | None = None) -> None:
        """Add a match, unless there are enough."""
        ids = self.by_room.setdefault(room, {})
        if ticket_id not in ids and self.count < MOST_MATCHES:
            ids[ticket_id] = None
            self.count += 1
        if ticket_id in ids and ids[ticket_id] is None:
            ids[ticket_id] = event

    def take(self, others: Matches) -> None:
        """Add other matches."""
        for room, ids in others.by_room.items():
            for ticket_id, event in ids.items():
                self.add(room, ticket_id, event)

    @property
    def full(self) -> bool:
        """Whether it takes no more matches."""
        return self.count >= MOST_MATCHES


class Search:
    """Searches rooms for one operator after the other."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner
        self._turn = asyncio.Lock()
        self._in_line = 0

    async def beginning(self, rooms: Sequence[str], prefix: str, names: Sequence[str]) -> Matches:
        """Return the ids that begin with `prefix` in these keys of rooms, 50 at most."""
        matches = Matches()
        async with self._alone():
            for name in names:  # one by one: somebody who moves on meanwhile is found in the next
                steps = _together(await self._scans(rooms, name))
                await _several(steps, lambda scans: self._read(scans, prefix, matches))
        return matches

    async def in_events(self, prefixes: Mapping[str, Sequence[str]]) -> Matches:
        """Return the ids that begin like one of their room and that recent events name."""
        matches, each = Matches(), max(_EVENTS_AT_ONCE, _EVENTS // max(1, len(prefixes)))
        async with self._alone():
            await _several(
                ((room, tuple(word.encode() for word in some)) for room, some in prefixes.items()),
                lambda pair: self._events(*pair, each, matches),
            )
        return matches

    async def named(self, ids: Mapping[str, Sequence[str]]) -> Matches:
        """Return which of the given ids appear in any key, grouped by room."""
        matches = Matches()
        pairs = [(room, ticket_id) for room, some in ids.items() for ticket_id in some]
        async with self._alone():
            for some in _by(50, pairs):
                commands = [
                    ("ZSCORE", keys.room_key(room, name), ticket_id)
                    for room, ticket_id in some
                    for name in (*LIVE, *NOTED)
                ]
                scores = iter(await self._runner.reads(commands))
                for (room, ticket_id), *known in zip(some, *[scores] * 6, strict=True):
                    if any(isinstance(score, (bytes, float)) for score in known):
                        matches.add(room, ticket_id)
        return matches

    async def _scans(self, rooms: Sequence[str], name: str) -> list[_Scan]:
        scans: list[_Scan] = []
        for some in _by(100, rooms):
            asked = [("ZCARD", keys.room_key(room, name)) for room in some]
            for room, size in zip(some, await self._runner.reads(asked), strict=True):
                if isinstance(size, int) and size:  # otherwise empty, or of another type
                    scans.append(_Scan(room, name, size))
        return scans

    async def _read(self, scans: list[_Scan], prefix: str, matches: Matches) -> None:
        """Read keys to their ends, with one pipeline per step for all of them."""
        while scans and not matches.full:
            answers = await self._runner.reads(
                [
                    (
                        *("ZSCAN", keys.room_key(scan.room, scan.name), scan.cursor),
                        *("MATCH", f"{prefix}*", "COUNT", str(scan.step)),
                    )
                    for scan in scans
                ]
            )
            for scan, answer in zip(scans, answers, strict=True):
                scan.cursor = "0"
                if not isinstance(answer, Exception):
                    position, members = answer
                    scan.cursor = str(int(position))
                    for member, _ in members:
                        matches.add(scan.room, member.decode())
            scans = [scan for scan in scans if scan.cursor != "0"]

    async def _events(
        self, room: str, beginnings: tuple[bytes, ...], most: int, matches: Matches
    ) -> None:
        key, newest = keys.room_key(room, "events"), "+"
        while most > 0 and not matches.full:
            count = min(most, _EVENTS_AT_ONCE)
            command = ("XREVRANGE", key, newest, "-", "COUNT", str(count))
            (entries,) = await self._runner.reads([command])
            if isinstance(entries, Exception):
                return
            for _, fields in entries:
                if any(prefix in fields[b"ids"] for prefix in beginnings):
                    event = streams.event(fields)
                    for ticket_id in event.ids:
                        if ticket_id.encode().startswith(beginnings):
                            matches.add(room, ticket_id, event)
            if len(entries) < count:
                return
            most -= count
            newest = f"({entries[-1][0].decode()}"

    @contextlib.asynccontextmanager
    async def _alone(self) -> AsyncIterator[None]:
        """Let a process run one search at a time; the others wait for it."""
        if self._in_line >= _MOST_IN_LINE:
            raise Busy
        self._in_line += 1
        try:
            async with self._turn:
                yield
        finally:
            self._in_line -= 1


async def _several(items: Iterable[_Item], work: Callable[[_Item], Awaitable[None]]) -> None:
    """Work on items, several at a time, started in their order."""
    left = iter(items)

    async def one_by_one() -> None:
        for item in left:
            await work(item)

    try:
        async with asyncio.TaskGroup() as tasks:
            for _ in range(_STEPS_AT_ONCE):
                tasks.create_task(one_by_one())
    except ExceptionGroup as group:  # callers expect one error, not a group
        raise group.exceptions[0] from None


def _together(scans: Iterable[_Scan]) -> Iterator[list[_Scan]]:
    """Yield scans whose steps make up one bounded step, so that small rooms share a pipeline."""
    some: list[_Scan] = []
    space = _STEP
    for scan in scans:
        if some and scan.step > space:
            yield some
            some, space = [], _STEP
        some.append(scan)
        space -= scan.step
    if some:
        yield some


def _by(number: int, items: Iterable[_Item]) -> Iterator[list[_Item]]:
    listed = list(items)
    for start in range(0, len(listed), number):
        yield listed[start : start + number]
