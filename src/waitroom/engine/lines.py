"""Lines that a record elsewhere decides, read: where a ticket stands, and whether anything changed.

The desk's database says who waits and in which order; `Engine.settle` brings the line there. Here
it is read with plain commands, those of all rooms and callers together in one pipeline, for guests
look far more often than a line moves.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, NamedTuple

from waitroom.engine import keys
from waitroom.engine.batcher import Batcher
from waitroom.engine.protocol import WRONG_TYPE
from waitroom.engine.runner import Runner
from waitroom.errors import BrokenRoom
from waitroom.models import State, check_room_name

FACTS_S = 1.0
"""For so long the length and the pace of a line are not asked for again."""

_MOST_FACTS = 20_000


class Settled(NamedTuple):
    """Where the record says that a ticket is: waiting, called, or gone for a reason."""

    id: str
    state: str
    place: int
    revision: int


class Spot(NamedTuple):
    """Where a ticket stands: `state` is None if the line does not hold it."""

    state: State | None
    position: int | None
    waiting: int
    pace: str


class _Facts(NamedTuple):
    until: float
    waiting: int
    pace: str


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
        """Ask for the length and pace of a line again, for this process has just changed them."""
        self._facts.pop(room, None)
        for changed in self._changed:  # those being read now may be of before
            changed.add(room)

    async def revisions(self, rooms: Sequence[str]) -> list[int]:
        """Return a number per room that is another one after every change; 0 if it is not there."""
        found = await self._pipeline(
            [("HGET", keys.room_key(room, "meta"), "rev") for room in rooms]
        )
        # A spoilt room has no revision, and must not keep the others from theirs.
        return [0 if isinstance(one, Exception) else int(float(one or 0)) for one in found]

    async def drain(self) -> None:
        """Wait until every question has its answer."""
        await self._asked.drain()

    async def _look(self, asked: list[_Ask]) -> list[Spot | Exception]:
        changed: set[str] = set()
        self._changed.append(changed)
        try:
            ranks, known = await self._ranks(asked, changed)
        finally:
            # By identity: two sets with the same rooms are equal.
            self._changed = [one for one in self._changed if one is not changed]
        nowhere = [ask for ask, rank in zip(asked, ranks, strict=True) if rank is None]
        turns = await self._pipeline(
            [("ZSCORE", keys.room_key(room, "called"), one) for room, one in nowhere]
        )
        called = dict(zip(nowhere, turns, strict=True))
        return [
            _spot(known[ask[0]], rank, called.get(ask))
            for ask, rank in zip(asked, ranks, strict=True)
        ]

    async def _ranks(self, asked: list[_Ask], changed: set[str]) -> tuple[list[Any], _Known]:
        """Return the rank of each, and the facts of their rooms: kept ones, or asked for too."""
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
            ("ZRANK", keys.room_key(room, "waiting"), one) for room, one in asked
        ]
        for room in stale:
            commands.append(("ZCARD", keys.room_key(room, "waiting")))
            commands.append(("HGET", keys.room_key(room, "meta"), "pace"))
        found = await self._pipeline(commands)
        ranks, rest = found[: len(asked)], found[len(asked) :]
        for room, waiting, pace in zip(stale, rest[::2], rest[1::2], strict=True):
            known[room] = _read_facts(now + FACTS_S, waiting, pace)
        self._keep({room: known[room] for room in stale if room not in changed}, now)
        return ranks, known

    def _keep(self, found: _Known, now: float) -> None:
        if len(self._facts) > _MOST_FACTS:
            self._facts = {room: one for room, one in self._facts.items() if one.until >= now}
        self._facts |= {room: one for room, one in found.items() if isinstance(one, _Facts)}

    async def _pipeline(self, commands: Sequence[tuple[str, ...]]) -> list[Any]:
        """Run reads in one pipeline; what one room has spoilt is the answer to that one alone."""
        if not commands:
            return []

        async def ask() -> list[Any]:
            pipe = self._runner.client.pipeline(transaction=False)
            for command in commands:
                pipe.execute_command(*command)
            found = list(await pipe.execute(raise_on_error=False))
            for one in found:
                if isinstance(one, Exception) and "WRONGTYPE" not in str(one):
                    raise one
            return found

        return list(await self._runner.repeat(ask))


def _read_facts(until: float, waiting: Any, pace: Any) -> _Facts | Exception:
    for one in (waiting, pace):
        if isinstance(one, Exception):
            return one
    return _Facts(until, int(waiting), (pace or b"").decode())


def _spot(facts: _Facts | Exception, rank: Any, turn: Any) -> Spot | Exception:
    if isinstance(facts, Exception) or isinstance(rank or turn, Exception):
        return BrokenRoom(WRONG_TYPE.format("a key"))
    if rank is not None:
        # Who has just come stands behind all those that were counted a moment ago.
        return Spot(State.WAITING, rank + 1, max(facts.waiting, rank + 1), facts.pace)
    state = State.CALLED if turn is not None else None
    return Spot(state, None, facts.waiting, facts.pace)
