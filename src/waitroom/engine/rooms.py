"""Rooms without their people: created, changed, dropped and listed."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from waitroom.engine import inputs, keys, policies
from waitroom.engine.endings import MOST_KEPT, kick, reinstatements
from waitroom.engine.memory import MEMORY_FIELDS, REV_JUMP, RoomMemory
from waitroom.engine.protocol import calls
from waitroom.engine.protocol.reply import Reply
from waitroom.engine.runner import Runner
from waitroom.errors import (
    BackendUnavailable,
    BrokenRoom,
    RoomExists,
    UnknownRoom,
    VersionConflict,
)
from waitroom.models import Policy, PolicyChange, Room, check_room_name

_PER_PIPELINE = 100
_PEOPLE = ("waiting", "called", "inside")
_FOREIGN = ("foreign", "foreign_at")
_LEFTOVERS = ("gone", "moved", "entries", "events", "series", "done", "record", "swept")


class ForeignTickets(NamedTuple):
    """How often a room was shown tickets of another deployment with our secret, and when last."""

    room: str
    shown: int
    last_ms: int


class Rooms:
    """The rooms of one server, and what this process remembers of them."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    async def create(self, room: str, policy: Policy, op_id: str | None) -> Room:
        """Make a room."""
        await self._runner.command("SADD", keys.ROOMS, check_room_name(room))
        reply = await self._configure(room, "create", "", policy, op_id)
        if reply.word == "room_exists":
            raise RoomExists(room)
        return await self.get(room)

    async def configure(
        self, room: str, version: int | None, op_id: str | None, changes: dict[str, Any]
    ) -> PolicyChange:
        """Change fields of a policy; see `Engine.configure`."""
        while True:
            old = await self._read(room)
            policy = old.policy.change(**changes)
            # The script compares versions, because only it knows whether this is a repeat.
            expected = old.version if version is None else version
            reply = await self._configure(room, "update", expected, policy, op_id)
            if reply.word == "ok":
                return PolicyChange(old, await self.get(room))
            if reply.word == "lost":
                raise UnknownRoom(room)
            if version is not None:
                raise VersionConflict(room, version, reply.version)

    async def _configure(
        self, room: str, action: str, version: int | str, policy: Policy, op_id: str | None
    ) -> Reply:
        call = calls.configure(action, version, policy)
        reply = await self._runner.run(room, call, op_id=inputs.op_id_of(op_id))
        if reply.word == "ok":
            memory = self._runner.memory(room)
            memory.policy, memory.version = policy, reply.version
            memory.message_at_ms = reply.message_at_ms
        return reply

    async def get(self, room: str) -> Room:
        """Return a room with its policy as it is now."""
        reply = await self._runner.run(check_room_name(room), calls.STATS)
        memory = self._runner.memory(room)
        if memory.policy is None:
            raise UnknownRoom(room)
        epoch = reply.epoch
        return Room(room, memory.policy, memory.version, epoch, memory.message_at_ms)

    async def _read(self, room: str) -> Room:
        """Return a room as stored: a failover may have left another policy with that version."""
        known = await self.get(room)
        memory = self._runner.memory(room)
        await self._runner.load_policy(room, memory)
        policy = memory.policy or known.policy
        return replace(
            known, policy=policy, version=memory.version, message_at_ms=memory.message_at_ms
        )

    async def drop(self, room: str, op_id: str | None) -> bool:
        """Remove a room with everything in it; return whether it existed."""
        op_id = inputs.op_id_of(op_id)
        try:
            await self._runner.run(check_room_name(room), calls.DROP, op_id=op_id)
            was_there = True
        except UnknownRoom:
            was_there = False
        await self._runner.command("SREM", keys.ROOMS, room)
        self._runner.memories.pop(room, None)
        return was_there

    async def names(self) -> tuple[str, ...]:
        """Return the names of all rooms; while a Cluster's index is away, only those known here."""
        try:
            names = await self._runner.command("SMEMBERS", keys.ROOMS)
        except BackendUnavailable:
            if not self._runner.node_of(keys.ROOMS):
                raise
            return tuple(sorted(filter(self._runner.knows, self._runner.memories)))
        return tuple(sorted(name.decode() for name in names))

    async def occupied(self, rooms: Sequence[str]) -> list[str]:
        """Return the rooms that have anybody in them."""
        occupied: list[str] = []
        for some in self._by_node(rooms):
            with self._alone():
                counts = await self._runner.reads([_exists(room, _PEOPLE) for room in some])
                occupied += (room for room, count in zip(some, counts, strict=True) if count)
        return occupied

    async def foreign_tickets(self, rooms: Sequence[str]) -> list[ForeignTickets]:
        """Return the rooms that were shown tickets of another deployment."""
        shown: list[ForeignTickets] = []
        for some in self._by_node(rooms):
            with self._alone():
                metas = [("HMGET", keys.room_key(room, "meta"), *_FOREIGN) for room in some]
                for room, meta in zip(some, await self._runner.reads(metas), strict=True):
                    if not isinstance(meta, Exception) and all(meta):
                        shown.append(ForeignTickets(room, *map(int, meta)))
        return shown

    async def salt(self, room: str) -> str:
        """Return which salt the room's accounts have; see `Engine.salt`."""
        name = await self._runner.command("HGET", keys.room_key(room, "meta"), "salt")
        return name.decode() if name else ""

    async def note_kicks(self, rooms: Sequence[str]) -> None:
        """Learn whom anybody has kicked, banned or reinstated, and the batches of codes.

        The newest people only. See `Endings`.
        """
        known = [room for room in rooms if self._runner.knows(room)]
        for some in self._by_node(known):
            with self._alone():
                await self._note_kicks(some)

    async def _note_kicks(self, rooms: Sequence[str]) -> None:
        revs = [self._runner.memory(room).rev for room in rooms]
        commands: list[tuple[str, ...]] = []
        for room in rooms:
            kicked = keys.room_key(room, "kicked")
            commands.append(("ZRANGE", kicked, "0", str(MOST_KEPT - 1), "REV"))
            meta_key = keys.room_key(room, "meta")
            commands.append(("HMGET", meta_key, "rev", "offset", "reinstatements"))
            commands.append(("HGETALL", keys.room_key(room, "batches")))
        answers = iter(await self._runner.reads(commands))
        rows = zip(rooms, revs, answers, answers, answers, strict=True)
        for room, rev, ids, meta, batches in rows:
            broken = any(isinstance(answer, Exception) for answer in (ids, meta, batches))
            # A room that was lost since then has forgotten kicks, which we will send it.
            if not broken and meta[0] is not None and int(float(meta[0])) - rev < REV_JUMP:
                offset_ms = int(float(meta[1] or 0)) // 1000
                kicks = await self._kicks(room, ids, offset_ms)
                reinstated = reinstatements((meta[2] or b"").decode())
                self._runner.memory(room).note_kicks(kicks, reinstated)
                self._runner.memory(room).batches |= batches

    async def _kicks(self, room: str, ids: Sequence[Any], offset_ms: int) -> list[str]:
        """Return the kicks of tickets, as endings."""
        if not ids:
            return []
        commands = [("ZMSCORE", keys.room_key(room, name), *ids) for name in ("kicked", "gone")]
        about = (ticket_id + b";" for ticket_id in ids)
        commands.append(("HMGET", keys.room_key(room, "moved"), *about))
        rows = zip(ids, *await self._runner.reads(commands), strict=True)
        return [
            kick(
                ticket_id.decode(),
                int(float(moment)),
                int(float(place or 0)),
                offset_ms,
                (note or b"").decode(),
            )
            for ticket_id, moment, place, note in rows
            if moment is not None  # otherwise they have joined again
        ]

    async def meet(self, rooms: Sequence[str]) -> list[str]:
        """Learn what the server knows of rooms; return the rooms that need cleanup."""
        untidy: list[str] = []
        for some in self._by_node(rooms):
            with self._alone():
                untidy += await self._meet(some)
        return untidy

    async def _meet(self, rooms: Sequence[str]) -> list[str]:
        untidy: list[str] = []
        commands: list[tuple[str, ...]] = []
        for room in rooms:
            commands.append(("HGETALL", keys.room_key(room, "config")))
            commands.append(("HMGET", keys.room_key(room, "meta"), *MEMORY_FIELDS))
            commands.append(_exists(room, _LEFTOVERS))
        answers = iter(await self._runner.reads(commands))
        for room, config, meta, leftovers in zip(rooms, answers, answers, answers, strict=True):
            self._learn(room, config, meta)
            if leftovers:
                untidy.append(room)
        return untidy

    def _by_node(self, rooms: Sequence[str]) -> Iterator[list[str]]:
        """Yield rooms that live on one node, some at a time."""
        by_node: dict[str, list[str]] = {}
        for room in rooms:
            by_node.setdefault(self._runner.node_of(keys.room_key(room, "meta")), []).append(room)
        for names in by_node.values():
            for start in range(0, len(names), _PER_PIPELINE):
                yield names[start : start + _PER_PIPELINE]

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """Make sure that a Cluster node that is away affects only its own rooms."""
        try:
            yield
        except BackendUnavailable:
            if not self._runner.node_of(keys.ROOMS):
                raise

    def _learn(self, room: str, config: Any, meta: Any) -> None:
        # A room that somebody else has broken must not stop the others from being learned.
        with contextlib.suppress(BrokenRoom, TypeError, ValueError):
            if isinstance(config, dict) and config and not self._runner.knows(room):
                policy, version = policies.read(config)
                epoch, rev, watermark, last = map(int, meta)
                memory = RoomMemory(policy, version, epoch, rev, watermark, last)
                memory.message_at_ms = policies.message_at_ms(config)
                self._runner.memories[room] = memory


def _exists(room: str, names: Sequence[str]) -> tuple[str, ...]:
    return ("EXISTS", *(keys.room_key(room, name) for name in names))
