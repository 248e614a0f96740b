"""Finds tickets in all rooms, for operators: by the whole id, or by how it begins (a short code).

No command takes long, and one search runs at a time in a process: visitors do not notice it. A
million tickets are read in steps of a few thousand, those of small rooms together.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from waitroom.engine import keys
from waitroom.engine.protocol import replies
from waitroom.engine.runner import Runner
from waitroom.errors import Busy
from waitroom.models import Event, State

MOST_MATCHES = 50
LIVE = (str(State.WAITING), str(State.CALLED), str(State.INSIDE))
"""Keys of those who are here, in the order of a visit: nobody is missed who moves on."""

NOTED = ("swept", "gone", "kicked")
"""Keys that note who was here, or was removed."""

_STEP = 4_000
"""Members that one pipeline looks at: about a millisecond of the server's time."""

_EVENTS = 10_000
"""Events that one search reads in all rooms together, and of one room at most."""

_EVENTS_AT_ONCE = 100
_MOST_IN_LINE = 8


@dataclass(slots=True)
class _Scan:
    """Where the scan of one key stands."""

    room: str
    name: str
    size: int
    cursor: str = "0"

    @property
    def step(self) -> int:
        """How many members the next read looks at, about."""
        return min(self.size, _STEP)


@dataclass(slots=True)
class Matches:
    """Ids by room, in the order in which they were met, with the last event that names them."""

    by_room: dict[str, dict[str, Event | None]] = field(default_factory=dict)
    count: int = 0

    def add(self, room: str, ticket_id: str, event: Event | None = None) -> None:
        """Take in a match, unless there are enough of them."""
        ids = self.by_room.setdefault(room, {})
        if ticket_id not in ids and self.count < MOST_MATCHES:
            ids[ticket_id] = None
            self.count += 1
        if ticket_id in ids and ids[ticket_id] is None:
            ids[ticket_id] = event

    def take(self, others: Matches) -> None:
        """Take in other matches."""
        for room, ids in others.by_room.items():
            for ticket_id, event in ids.items():
                self.add(room, ticket_id, event)

    @property
    def full(self) -> bool:
        """Whether no more are taken in."""
        return self.count >= MOST_MATCHES


class Search:
    """Looks through rooms for one operator after the other."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner
        self._turn = asyncio.Lock()
        self._in_line = 0

    async def beginning(self, rooms: Sequence[str], prefix: str, names: Sequence[str]) -> Matches:
        """Return the ids that begin with `prefix` in these keys of rooms, 50 at most."""
        matches = Matches()
        async with self._alone():
            for steps in _together(await self._scans(rooms, names)):
                await self._read(steps, prefix, matches)
                if matches.full:
                    break
        return matches

    async def in_events(self, prefixes: Mapping[str, Sequence[str]]) -> Matches:
        """Return the ids that begin like one of their room and that recent events name."""
        matches, each = Matches(), max(_EVENTS_AT_ONCE, _EVENTS // max(1, len(prefixes)))
        async with self._alone():
            for room, beginnings in prefixes.items():
                await self._events(room, [word.encode() for word in beginnings], each, matches)
        return matches

    async def named(self, ids: Mapping[str, Sequence[str]]) -> Matches:
        """Return those of the given ids, by room, of which any key tells."""
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

    async def _scans(self, rooms: Sequence[str], names: Sequence[str]) -> list[_Scan]:
        scans: list[_Scan] = []
        for some in _by(100, [(room, name) for room in rooms for name in names]):
            sizes = await self._runner.reads(
                [("ZCARD", keys.room_key(room, name)) for room, name in some]
            )
            for (room, name), size in zip(some, sizes, strict=True):
                if isinstance(size, int) and size:  # else empty, or of another type
                    scans.append(_Scan(room, name, size))
        return scans

    async def _read(self, scans: list[_Scan], prefix: str, matches: Matches) -> None:
        """Read keys to their ends, all of them by one pipeline a step."""
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
        self, room: str, prefixes: Sequence[bytes], most: int, matches: Matches
    ) -> None:
        key, newest = keys.room_key(room, "events"), "+"
        beginnings = tuple(prefixes)
        while most > 0 and not matches.full:
            count = min(most, _EVENTS_AT_ONCE)
            command = ("XREVRANGE", key, newest, "-", "COUNT", str(count))
            (entries,) = await self._runner.reads([command])
            if isinstance(entries, Exception):
                return
            for _, fields in entries:
                if any(prefix in fields[b"ids"] for prefix in beginnings):
                    event = replies.event(fields)
                    for ticket_id in event.ids:
                        if ticket_id.encode().startswith(beginnings):
                            matches.add(room, ticket_id, event)
            if len(entries) < count:
                return
            most -= count
            newest = f"({entries[-1][0].decode()}"

    @contextlib.asynccontextmanager
    async def _alone(self) -> AsyncIterator[None]:
        """Let one search of a process run at a time; the others wait for it."""
        if self._in_line >= _MOST_IN_LINE:
            raise Busy
        self._in_line += 1
        try:
            async with self._turn:
                yield
        finally:
            self._in_line -= 1


def _together(scans: Sequence[_Scan]) -> Iterator[list[_Scan]]:
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


def _by(number: int, items: Iterable[tuple[str, str]]) -> Iterator[list[tuple[str, str]]]:
    listed = list(items)
    for start in range(0, len(listed), number):
        yield listed[start : start + number]
