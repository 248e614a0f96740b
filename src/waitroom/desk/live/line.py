"""The live lines: one room of the engine per store and waiting type, brought to the record's order.

Nothing here asks the database. A line that lost what it held (a flush, a failover, a room that was
dropped) is noticed by the engine's revision, which jumps then, and `Outcome.whole` says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from waitroom.desk.models import Party, Status
from waitroom.engine import Engine, keys
from waitroom.engine.lines import Settled
from waitroom.engine.protocol import WRONG_TYPE
from waitroom.errors import BrokenRoom, RoomExists, UnknownRoom
from waitroom.models import preset

POLICY = preset("desk", mode="closed", ticket_ttl_s=None)
"""Closed to visitors of the engine: who stands in a line is for the record to say."""

STATES: Mapping[Status, str] = {
    Status.WAITING: "waiting",
    Status.CALLED: "called",
    Status.SEATED: "finished",
    Status.CANCELLED: "left",
    Status.NO_SHOW: "no_show",
}
"""What `settle` calls a status."""

_PER_PIPELINE = 200
_JUMP = 500_000
"""The engine's revision grows by one per change, and by far more than this after a loss."""


def room_of(store: str, type: str) -> str:  # noqa: A002 - the word of the desk
    """Return the name of the engine's room that holds a line."""
    return f"desk.{store}.{type}"


def settled(party: Party) -> Settled:
    """Return where the record has a party, in the engine's words."""
    return Settled(party.ticket, STATES[party.status], party.place, party.revision)


class Outcome(NamedTuple):
    """What settling came to: how many changed, and whether the line still held all others."""

    changed: int
    whole: bool


class Counts(NamedTuple):
    """How long a line is, without who stands in it; `pace` is "" if the line was lost."""

    waiting: int
    called: int
    pace: str


SPOILT = Counts(-1, -1, "")
"""Said of a line of which a key holds something else: like no line in the record."""


@dataclass(frozen=True, slots=True)
class Held:
    """All that a line holds at a moment."""

    there: bool
    waiting: Mapping[str, int]
    """Ticket → place."""

    called: frozenset[str]
    revisions: Mapping[str, int]
    pace: str
    mark: tuple[int, int]

    @property
    def tickets(self) -> set[str]:
        """Everybody in it."""
        return {*self.waiting, *self.called}

    def agrees(self, party: Party) -> bool:
        """Tell whether a live party stands where the record has it."""
        ticket = party.ticket
        place = party.place if party.status is Status.WAITING else None
        return (
            self.waiting.get(ticket) == place
            and (ticket in self.called) == (party.status is Status.CALLED)
            and self.revisions.get(ticket) == party.revision
        )

    def ahead_of(self, ticket: str, revision: int) -> bool:
        """Tell whether the line saw a later revision than the record has: the record lost it."""
        return self.revisions.get(ticket, 0) > revision


class LiveLines:
    """Settles and reads the lines of this process's engine."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._marks: dict[str, tuple[int, int]] = {}
        """Epoch and revision of each room when it was last known to be whole."""

    async def settle(
        self,
        room: str,
        tickets: Sequence[Settled] = (),
        *,
        pace: str = "",
        forced: bool = False,
    ) -> Outcome:
        """Bring tickets, and what is said of the pace, to what the record says."""
        made = room not in self._marks and await self._make(room)
        try:
            changed = await self.engine.settle(room, tickets, pace=pace, forced=forced)
        except UnknownRoom:  # an operator dropped it
            made = await self._make(room)
            changed = await self.engine.settle(room, tickets, pace=pace, forced=forced)
        return Outcome(changed, self._is_whole(room) and not made)

    async def read(self, room: str) -> Held:
        """Return all that a line holds.

        Commands of others may come in between. Whoever moves meanwhile is seen twice or not at all,
        which costs a needless settling of what the record says: nothing more.
        """
        names = ("waiting", "called", "record", "meta")
        waiting, called, record, meta = (keys.room_key(room, name) for name in names)
        found = await self._ask(
            [
                ("HMGET", meta, "epoch", "rev", "dropped", "pace"),
                ("HGETALL", record),
                ("ZRANGE", waiting, "0", "-1", "WITHSCORES"),
                ("ZRANGE", called, "0", "-1"),
            ]
        )
        if any(isinstance(one, Exception) for one in found):
            raise BrokenRoom(WRONG_TYPE.format("a key"))
        (epoch, rev, dropped, pace), known, line, turns = found
        return Held(
            there=epoch is not None and dropped is None,
            waiting={_text(name): int(float(score)) for name, score in _pairs(line)},
            called=frozenset(_text(name) for name in turns),
            # Of who is gone it also says since when.
            revisions={_text(name): int(_text(one).split(":")[0]) for name, one in _pairs(known)},
            pace=_text(pace or b""),
            mark=(int(float(epoch or 0)), int(float(rev or 0))),  # Lua may write 1e+15
        )

    async def counts(self, rooms: Sequence[str]) -> list[Counts]:
        """Return how long lines are, by pipelines for many of them."""
        found: list[Any] = []
        for start in range(0, len(rooms), _PER_PIPELINE):
            commands: list[tuple[str, ...]] = []
            for room in rooms[start : start + _PER_PIPELINE]:
                commands.append(("ZCARD", keys.room_key(room, "waiting")))
                commands.append(("ZCARD", keys.room_key(room, "called")))
                commands.append(("HGET", keys.room_key(room, "meta"), "pace"))
            found += await self._ask(commands)
        return [_counts(*three) for three in zip(*[iter(found)] * 3, strict=True)]

    def is_whole_at(self, room: str, mark: tuple[int, int]) -> None:
        """Remember that a line was compared with the record, and agreed."""
        self._marks[room] = max(mark, self._marks.get(room, mark))

    def _is_whole(self, room: str) -> bool:
        """Tell whether the line has lost nothing since it was last compared with the record."""
        memory = self.engine.runner.memory(room)
        last, now = self._marks.get(room), (memory.epoch, memory.rev)
        self._marks[room] = now
        return last is not None and now[0] == last[0] and now[1] - last[1] < _JUMP

    async def _make(self, room: str) -> bool:
        """Make the room of a line; return whether it was not there."""
        self.engine.declare(room, POLICY)
        try:
            await self.engine.create(room, POLICY)
        except RoomExists:
            return False
        return True

    async def _ask(self, commands: Sequence[tuple[str, ...]]) -> list[Any]:
        """Run reads; a key that somebody spoilt has an error for an answer, that one alone."""

        async def ask() -> list[Any]:
            pipe = self.engine.runner.client.pipeline(transaction=False)
            for command in commands:
                pipe.execute_command(*command)
            answers = list(await pipe.execute(raise_on_error=False))
            for one in answers:
                if isinstance(one, Exception) and "WRONGTYPE" not in str(one):
                    raise one
            return answers

        return list(await self.engine.runner.repeat(ask))


def _counts(waiting: Any, called: Any, pace: Any) -> Counts:
    if any(isinstance(one, Exception) for one in (waiting, called, pace)):
        return SPOILT
    return Counts(int(waiting), int(called), _text(pace or b""))


def _pairs(found: Any) -> Iterable[tuple[bytes, Any]]:
    """Return pairs of an answer, however this protocol and client give them."""
    if isinstance(found, Mapping):
        return found.items()
    if found and not isinstance(found[0], (list, tuple)):
        return zip(found[::2], found[1::2], strict=True)
    return [(one[0], one[1]) for one in found]


def _text(raw: bytes | str) -> str:
    return raw.decode() if isinstance(raw, bytes) else raw
