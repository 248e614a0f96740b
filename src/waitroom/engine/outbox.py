"""The outbox of each room: what happened there within a day, for all listeners.

A relay (`waitroom.events`) reads the stream of the room's scripts and appends here. One small
script writes the entries and how far the relay has come: both or neither, so a process that dies
loses nothing and repeats nothing. An id is `<ms>-<number>`. The numbers are consecutive, so a
reader sees at once that entries were dropped before it came.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from waitroom.engine import keys, policies
from waitroom.engine.memory import REV_JUMP
from waitroom.engine.runner import Runner

KEPT_MS = 86_400_000
MOST_ENTRIES = 50_000
"""In a day: about 10 to 50 MB in a room where 100,000 people come and go."""

PAGE = 500
START = "0-0"
_META = ("dropped", "rev", "event_no", "offset")
_LIMITS = ("queue_limit", "capacity", "max_entries")
_PER_PIPELINE = 200


@dataclass(frozen=True, slots=True)
class Draft:
    """An event that has no id yet."""

    type: str
    at_ms: int
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class OutboxEvent(Draft):
    """An event as it goes out."""

    id: str
    room: str

    @property
    def number(self) -> int:
        """The number of the entry in its room."""
        return number_of(self.id)


def number_of(event_id: str) -> int:
    """Return the number in an id; 0 for a position that is not an entry."""
    return int(event_id.partition("-")[2] or 0)


@dataclass(frozen=True, slots=True)
class Source:
    """An event as a script wrote it; see `_common.lua`."""

    id: str
    n: int
    kind: str
    at_ms: int
    ids: tuple[str, ...]
    places: tuple[int, ...]
    written: Mapping[str, str]
    """All its words, as text."""

    @property
    def changed(self) -> dict[str, dict[str, Any]]:
        """What a change of the policy changed."""
        flat = json.loads(self.written.get("changed", "[]"))
        return policies.changes(flat) if isinstance(flat, list) else {}


@dataclass(frozen=True, slots=True)
class Look:
    """A room as its relay sees it: how far it has come, and what is new."""

    room: str
    relay: Mapping[str, str]
    rev: int
    event_no: int
    dropped: str
    """When the room was dropped, as stored; '' while it exists."""

    sources: tuple[Source, ...]
    cursor: str
    """The stream of events was read up to here."""

    full: bool
    """There may be more events than these."""

    waiting: int
    admitted: int
    """Called and inside."""

    limits: Mapping[str, int | None]
    heard: bool

    @property
    def known(self) -> int:
        """The number of the last relayed event."""
        return int(self.relay.get("n", 0))

    @property
    def lost(self) -> bool:
        """Whether the server has lost some of its state since then."""
        jumped = self.rev - _whole(self.relay.get("rev", "")) >= REV_JUMP
        return jumped or self.event_no < self.known


class Outbox:
    """The outboxes of all rooms."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    # What a relay needs ------------------------------------------------------------------------

    async def behind(self, rooms: Sequence[str]) -> list[str]:
        """Return the rooms in which something has happened since their relay last looked."""
        late: list[str] = []
        for some in _parts(rooms):
            commands: list[tuple[str, ...]] = []
            for room in some:
                commands.append(("HMGET", keys.room_key(room, "meta"), "rev", "dropped"))
                commands.append(("HMGET", keys.room_key(room, "relay"), "rev", "dropped"))
            answers = iter(await self._runner.reads(commands))
            for room, meta, relay in zip(some, answers, answers, strict=True):
                broken = isinstance(meta, Exception) or isinstance(relay, Exception)
                if not broken and [part or None for part in relay] != meta:
                    late.append(room)
        return late

    async def take_turn(self, room: str, life_ms: int) -> bool:
        """Return whether this process should relay a room now: no other did for `life_ms`."""
        key = keys.room_key(room, "relay_turn")
        return bool(await self._runner.command("SET", key, "1", "NX", "PX", life_ms))

    async def take_lap(self, life_ms: int) -> bool:
        """Return whether this process should look at all rooms now."""
        return bool(await self._runner.command("SET", keys.RELAY_LAP, "1", "NX", "PX", life_ms))

    async def look(self, room: str) -> Look:
        """Return what is new in a room since its relay last looked."""
        name = partial(keys.room_key, room)
        (raw,) = await self._runner.reads([("HGETALL", name("relay"))])
        relay = {field.decode(): value.decode() for field, value in raw.items()}
        after = relay.get("source", START)
        meta, page, waiting, called, inside, limits, heard = await self._runner.reads(
            [
                ("HMGET", name("meta"), *_META),
                ("XRANGE", name("events"), f"({after}", "+", "COUNT", str(PAGE)),
                ("ZCARD", name("waiting")),
                ("ZCARD", name("called")),
                ("ZCARD", name("inside")),
                ("HMGET", name("config"), *_LIMITS),
                ("EXISTS", name("heard")),
            ]
        )
        dropped, rev, event_no, offset = (value.decode() if value else "" for value in meta)
        known, last = int(relay.get("n", 0)), _whole(event_no)
        if last < known:
            known = 0  # the numbers started again: the room was lost, and restored from memory
        offset_ms = _whole(offset) // 1000
        sources = _sources(page, known, offset_ms)
        if not sources and last > known:
            # The stream started again, perhaps with a clock that had gone back.
            first = ("XRANGE", name("events"), "-", "+", "COUNT", str(PAGE))
            (page,) = await self._runner.reads([first])
            sources = _sources(page, known, offset_ms)
        return Look(
            room=room,
            relay=relay,
            rev=_whole(rev),
            event_no=last,
            dropped=dropped,
            sources=sources,
            cursor=page[-1][0].decode() if page else after,
            full=len(page) == PAGE,
            waiting=int(waiting),
            admitted=int(called) + int(inside),
            limits={
                field: int(value) if value else None
                for field, value in zip(_LIMITS, limits, strict=True)
            },
            heard=bool(heard),
        )

    async def append(
        self, room: str, relay: Mapping[str, str], drafts: Sequence[Draft], **fields: Any
    ) -> str:
        """Append entries, and note how far the relay has come; '' if another relay was quicker."""
        flat = [str(part) for field in fields.items() for part in field]
        entries: list[Any] = []
        for draft in drafts:
            data = json.dumps(draft.data, ensure_ascii=False, separators=(",", ":"))
            entries += (draft.type, draft.at_ms, data)
        names = [keys.room_key(room, "outbox"), keys.room_key(room, "relay")]
        args = [relay.get("turn", "0"), MOST_ENTRIES, KEPT_MS, len(flat), *flat, *entries]
        newest: bytes = await self._runner.outbox("append", names, args)
        return newest.decode()

    async def forget(self, room: str) -> None:
        """Let the data of a dropped room expire, once it was read."""
        for name in ("relay", "readers"):
            await self._runner.command("EXPIRE", keys.room_key(room, name), KEPT_MS // 1000 + 3600)

    async def relay(self, room: str) -> dict[str, str]:
        """Return how far the relay of a room has come."""
        (raw,) = await self._runner.reads([("HGETALL", keys.room_key(room, "relay"))])
        return {field.decode(): value.decode() for field, value in raw.items()}

    async def hear(self, room: str) -> None:
        """Have events about people of a room relayed for a day, because somebody follows them."""
        await self._runner.command("SET", keys.room_key(room, "heard"), "1", "PX", KEPT_MS)

    async def note_archive(self, error: str | None) -> None:
        """Have events about people of all rooms relayed for a day, because there is an archive."""
        await self._runner.command("SET", keys.ARCHIVED, error or "", "PX", KEPT_MS)

    async def archive_error(self) -> str | None:
        """Return why the archive cannot be written, '' if it can; None if there is no archive."""
        text = await self._runner.command("GET", keys.ARCHIVED)
        return None if text is None else text.decode()

    # What readers need -------------------------------------------------------------------------

    async def read(self, room: str, after: str, limit: int = 100) -> tuple[OutboxEvent, ...]:
        """Return the entries after a position, oldest first."""
        command = ("XRANGE", keys.room_key(room, "outbox"), f"({after}", "+", "COUNT", str(limit))
        (page,) = await self._runner.reads([command])
        return tuple(_event(room, entry_id, entry) for entry_id, entry in page)

    async def newest(self, rooms: Sequence[str]) -> dict[str, str]:
        """Return the id of each room's newest entry; rooms without any are left out."""
        newest: dict[str, str] = {}
        for some in _parts(rooms):
            asked = [("HMGET", keys.room_key(room, "relay"), "ms", "written") for room in some]
            for room, pair in zip(some, await self._runner.reads(asked), strict=True):
                if not isinstance(pair, Exception) and all(pair) and pair[1] != b"0":
                    newest[room] = f"{pair[0].decode()}-{pair[1].decode()}"
        return newest

    async def readers(self, room: str) -> dict[str, dict[str, Any]]:
        """Return, for each reader, how far it has come and what else it noted."""
        (raw,) = await self._runner.reads([("HGETALL", keys.room_key(room, "readers"))])
        return {reader.decode(): json.loads(state) for reader, state in raw.items()}

    async def lease(self, room: str, reader: str, life_ms: int) -> str | None:
        """Return a token that lets only this process read as `reader`; None while another does."""
        token = secrets.token_hex(8)
        key = keys.room_key(room, f"lease:{reader}")
        if await self._runner.command("SET", key, token, "NX", "PX", life_ms):
            return token
        # It may be ours: after a lost reply the command runs again.
        return token if await self._runner.command("GET", key) == token.encode() else None

    async def commit(
        self, room: str, reader: str, token: str, state: Mapping[str, Any], life_ms: int = 0
    ) -> bool:
        """Note how far a reader has come; False if another has its lease. 0 ends the lease."""
        names = [keys.room_key(room, f"lease:{reader}"), keys.room_key(room, "readers")]
        args = [token, reader, json.dumps(state), life_ms]
        return bool(await self._runner.outbox("commit", names, args))

    async def lengths(self, rooms: Sequence[str]) -> dict[str, int]:
        """Return how many entries each room has."""
        lengths: dict[str, int] = {}
        for some in _parts(rooms):
            asked = [("XLEN", keys.room_key(room, "outbox")) for room in some]
            lengths |= zip(some, await self._runner.reads(asked), strict=True)
        return lengths

    async def forget_reader(self, rooms: Sequence[str], reader: str) -> None:
        """Forget how far a deleted reader came."""
        for room in rooms:
            await self._runner.command("HDEL", keys.room_key(room, "readers"), reader)


def _whole(text: str) -> int:
    return int(float(text or 0))


def _parts(rooms: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(rooms), _PER_PIPELINE):
        yield rooms[start : start + _PER_PIPELINE]


def _sources(page: Sequence[Any], known: int, offset_ms: int) -> tuple[Source, ...]:
    """Read events that were not relayed yet; events without a number are of an earlier version."""
    read = (_source(entry_id, entry, offset_ms) for entry_id, entry in page)
    return tuple(source for source in read if source.n > known)


def _source(entry_id: bytes, entry: Mapping[bytes, bytes], offset_ms: int) -> Source:
    fields = {name.decode(): value.decode() for name, value in entry.items()}
    return Source(
        id=entry_id.decode(),
        n=int(fields.get("n", 0)),
        kind=fields["kind"],
        at_ms=int(float(fields["at"])) // 1000 - offset_ms,
        ids=tuple(fields.get("ids", "").split()),
        places=tuple(map(int, fields.get("places", "").split())),
        written=fields,
    )


def _event(room: str, entry_id: bytes, entry: Mapping[bytes, bytes]) -> OutboxEvent:
    return OutboxEvent(
        type=entry[b"type"].decode(),
        at_ms=int(entry[b"at"]),
        data=json.loads(entry[b"data"]),
        id=entry_id.decode(),
        room=room,
    )
