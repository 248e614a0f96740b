"""Reads lines whose order an outside record decides: where a ticket stands, and what changed.

The desk's database says who waits and in which order; `Engine.settle` brings the line to that
state. This module reads the line with plain commands, for all rooms and callers together in one
pipeline, because guests look far more often than a line moves.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from waitroom.engine import keys
from waitroom.engine.batcher import Batcher
from waitroom.engine.protocol.reply import WRONG_TYPE
from waitroom.engine.runner import Runner
from waitroom.errors import BrokenRoom
from waitroom.models import State, check_room_name

FACTS_S = 1.0
"""How long the known length and turnover of a line are used before they are read again."""

_MOST_FACTS = 20_000
_ROOMS_PER_PIPELINE = 200


class Settled(NamedTuple):
    """A ticket's state according to the record: waiting, called, or gone for a reason."""

    id: str
    state: str
    place: int
    revision: int


class Spot(NamedTuple):
    """Where a ticket stands: `state` is None if it is not in the line."""

    state: State | None
    position: int | None
    waiting: int
    turnover: str


LineMark = tuple[int, int]
"""The epoch and revision of a room: the revision grows with every change, and jumps on a loss."""


class LineCounts(NamedTuple):
    """The length of a line, without its people; `turnover` is "" if the line was lost."""

    waiting: int
    called: int
    turnover: str


SPOILT = LineCounts(-1, -1, "")
"""The counts of a line with a key of another type: unlike any line in the record."""


@dataclass(frozen=True, slots=True)
class LineContents:
    """The whole line at a moment."""

    there: bool
    waiting: Mapping[str, int]
    """Ticket → place."""

    called: frozenset[str]
    revisions: Mapping[str, int]
    turnover: str
    mark: LineMark

    @property
    def tickets(self) -> set[str]:
        """Everybody in it."""
        return {*self.waiting, *self.called}


class _Facts(NamedTuple):
    until: float
    waiting: int
    turnover: str


_Ask = tuple[str, str]
_Known = dict[str, _Facts | Exception]


class Lines:
    """Reads the lines of any number of rooms."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner
        self._facts: dict[str, _Facts] = {}
        self._changed: list[set[str]] = []
        self._asked: Batcher[_Ask, Spot] = Batcher(self._look)

    async def spot(self, room: str, ticket_id: str) -> Spot:
        """Return where a ticket stands."""
        return await self._asked.submit((check_room_name(room), ticket_id))

    def forget(self, room: str) -> None:
        """Forget the length and turnover of a line, because this process has just changed them."""
        self._facts.pop(room, None)
        for changed in self._changed:  # a read under way may have the old values
            changed.add(room)

    async def revisions(self, rooms: Sequence[str]) -> list[int]:
        """Return a number per room that differs after every change; 0 if there is no such room."""
        revisions = await self._runner.reads(
            [("HGET", keys.room_key(room, "meta"), "rev") for room in rooms]
        )
        # A broken room has no revision, and must not block those of the others.
        return [0 if isinstance(rev, Exception) else int(float(rev or 0)) for rev in revisions]

    async def contents(self, room: str) -> LineContents:
        """Return everything that a line holds; see `Engine.line`."""
        names = ("waiting", "called", "record", "meta")
        waiting, called, record, meta = (keys.room_key(room, name) for name in names)
        answers = await self._runner.reads(
            [
                ("HMGET", meta, "epoch", "rev", "dropped", "turnover"),
                ("HGETALL", record),
                ("ZRANGE", waiting, "0", "-1", "WITHSCORES"),
                ("ZRANGE", called, "0", "-1"),
            ]
        )
        if any(isinstance(answer, Exception) for answer in answers):
            raise BrokenRoom(WRONG_TYPE.format("a key"))
        (epoch, rev, dropped, turnover), revisions, places, turns = answers
        return LineContents(
            there=epoch is not None and dropped is None,
            waiting={_text(name): int(float(score)) for name, score in _pairs(places)},
            called=frozenset(map(_text, turns)),
            # For those who are gone it also says since when.
            revisions={_text(name): int(_text(at).split(":")[0]) for name, at in _pairs(revisions)},
            turnover=_text(turnover or b""),
            mark=(int(float(epoch or 0)), int(float(rev or 0))),  # Lua may write 1e+15
        )

    async def counts(self, rooms: Sequence[str]) -> list[LineCounts]:
        """Return how long lines are, with one pipeline for many of them."""
        answers: list[Any] = []
        for start in range(0, len(rooms), _ROOMS_PER_PIPELINE):
            commands: list[tuple[str, ...]] = []
            for room in rooms[start : start + _ROOMS_PER_PIPELINE]:
                commands.append(("ZCARD", keys.room_key(room, "waiting")))
                commands.append(("ZCARD", keys.room_key(room, "called")))
                commands.append(("HGET", keys.room_key(room, "meta"), "turnover"))
            answers += await self._runner.reads(commands)
        return [_counts(*three) for three in zip(*[iter(answers)] * 3, strict=True)]

    def mark(self, room: str) -> LineMark:
        """Return the mark of a room that this process last saw."""
        memory = self._runner.memory(room)
        return memory.epoch, memory.rev

    async def drain(self) -> None:
        """Wait until every read under way is done."""
        await self._asked.drain()

    async def _look(self, asked: list[_Ask]) -> list[Spot | Exception]:
        changed: set[str] = set()
        self._changed.append(changed)
        try:
            ranks, known = await self._ranks(asked, changed)
        finally:
            # By identity: two sets with the same rooms are equal.
            self._changed = [rooms for rooms in self._changed if rooms is not changed]
        nowhere = [ask for ask, rank in zip(asked, ranks, strict=True) if rank is None]
        turns = await self._runner.reads(
            [("ZSCORE", keys.room_key(room, "called"), ticket_id) for room, ticket_id in nowhere]
        )
        called = dict(zip(nowhere, turns, strict=True))
        return [
            _spot(known[ask[0]], rank, called.get(ask))
            for ask, rank in zip(asked, ranks, strict=True)
        ]

    async def _ranks(self, asked: list[_Ask], changed: set[str]) -> tuple[list[Any], _Known]:
        """Return each ticket's rank, and the facts of their rooms: remembered ones, or read too."""
        now = time.monotonic()
        known: _Known = {}
        stale: list[str] = []
        for room in dict.fromkeys(room for room, _ in asked):
            facts = self._facts.get(room)
            if facts is None or facts.until < now:
                stale.append(room)
            else:
                known[room] = facts
        commands: list[tuple[str, ...]] = [
            ("ZRANK", keys.room_key(room, "waiting"), ticket_id) for room, ticket_id in asked
        ]
        for room in stale:
            commands.append(("ZCARD", keys.room_key(room, "waiting")))
            commands.append(("HGET", keys.room_key(room, "meta"), "turnover"))
        answers = await self._runner.reads(commands)
        ranks, rest = answers[: len(asked)], answers[len(asked) :]
        for room, waiting, turnover in zip(stale, rest[::2], rest[1::2], strict=True):
            known[room] = _read_facts(now + FACTS_S, waiting, turnover)
        self._keep({room: known[room] for room in stale if room not in changed}, now)
        return ranks, known

    def _keep(self, known: _Known, now: float) -> None:
        if len(self._facts) > _MOST_FACTS:
            fresh = {room: facts for room, facts in self._facts.items() if facts.until >= now}
            self._facts = fresh
        self._facts |= {room: facts for room, facts in known.items() if isinstance(facts, _Facts)}


def _read_facts(until: float, waiting: Any, turnover: Any) -> _Facts | Exception:
    for answer in (waiting, turnover):
        if isinstance(answer, Exception):
            return answer
    return _Facts(until, int(waiting), (turnover or b"").decode())


def _spot(facts: _Facts | Exception, rank: Any, turn: Any) -> Spot | Exception:
    if isinstance(facts, Exception) or isinstance(rank or turn, Exception):
        return BrokenRoom(WRONG_TYPE.format("a key"))
    if rank is not None:
        # A new ticket stands behind everybody who was counted a moment ago.
        return Spot(State.WAITING, rank + 1, max(facts.waiting, rank + 1), facts.turnover)
    state = State.CALLED if turn is not None else None
    return Spot(state, None, facts.waiting, facts.turnover)


def _counts(waiting: Any, called: Any, turnover: Any) -> LineCounts:
    if any(isinstance(answer, Exception) for answer in (waiting, called, turnover)):
        return SPOILT
    return LineCounts(int(waiting), int(called), _text(turnover or b""))


def _pairs(answer: Any) -> Iterable[tuple[bytes, Any]]:
    """Return the pairs in a reply, in whatever form this protocol and client give them."""
    if isinstance(answer, Mapping):
        return answer.items()
    if answer and not isinstance(answer[0], (list, tuple)):
        return zip(answer[::2], answer[1::2], strict=True)
    return [(name, value) for name, value in answer]


def _text(raw: bytes | str) -> str:
    return raw.decode() if isinstance(raw, bytes) else raw
