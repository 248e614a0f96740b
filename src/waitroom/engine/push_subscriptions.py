"""Who wants push messages: a subscription per ticket, and which messages each ticket got.

It uses plain commands only, in bounded steps; no script knows of it. The keys expire a day after
they were last read, and are deleted with the room. They may be lost with everything else: an open
page sends its subscription again.
"""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any

from waitroom.engine import keys
from waitroom.engine.runner import Runner
from waitroom.models import State, check_room_name

MOST_PER_ROOM = 100_000
"""About 50 MB: in a larger crowd, the others get their news only from their open page."""

LIFE_S = 86_400
NEAR, CALLED = "near", "called"
"""The messages that a ticket may get, each once."""

_KINDS = (NEAR, CALLED)
_STEP = 200
_NAMES = ("push", "pushed", "push_lap")


@dataclass(frozen=True, slots=True)
class Subscriber:
    """A subscribed ticket: where it stands, and which messages it got.

    `away` is a ticket that was dropped for silence and may come back: `position` is then where it
    would stand. `state` is None if the ticket no longer has a place.
    """

    id: str
    subscription: str
    state: State | None
    position: int | None
    away: bool
    messages: frozenset[str]


class PushSubscriptions:
    """The subscriptions of all rooms."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    async def put(self, room: str, ticket_id: str, subscription: str) -> bool:
        """Store the subscription of a ticket, replacing an earlier one; False if there is no room.

        Several callers at once may exceed the bound a little.
        """
        key = keys.room_key(check_room_name(room), "push")
        count, known = await self._runner.reads([("HLEN", key), ("HEXISTS", key, ticket_id)])
        if count >= MOST_PER_ROOM and not known:
            return False
        await self._runner.command("HSET", key, ticket_id, subscription)
        await self._runner.command("EXPIRE", key, LIFE_S)
        await self._runner.command("SADD", keys.PUSH_ROOMS, room)
        return True

    async def remove(self, room: str, ticket_ids: Sequence[str]) -> None:
        """Forget the subscriptions of some tickets."""
        if ticket_ids:
            await self._runner.command("HDEL", keys.room_key(room, "push"), *ticket_ids)
            fields = [f"{ticket_id}:{kind}" for ticket_id in ticket_ids for kind in _KINDS]
            await self._runner.command("HDEL", keys.room_key(room, "pushed"), *fields)

    async def forget(self, room: str) -> None:
        """Forget a whole room."""
        await self._runner.command("UNLINK", *(keys.room_key(room, name) for name in _NAMES))
        await self._runner.command("SREM", keys.PUSH_ROOMS, room)

    async def rooms(self) -> list[str]:
        """Return the rooms that may have subscribers."""
        names = await self._runner.command("SMEMBERS", keys.PUSH_ROOMS)
        return sorted(name.decode() for name in names)

    async def take_turn(self, room: str, life_ms: int) -> bool:
        """Return whether this process should look at a room now: no other did for `life_ms`."""
        key = keys.room_key(room, "push_lap")
        return bool(await self._runner.command("SET", key, "1", "NX", "PX", life_ms))

    async def claim(self, room: str, ticket_id: str, kind: str) -> bool:
        """Return whether this process should send a message: only one process sends it, once."""
        key, field, mark = (
            keys.room_key(room, "pushed"),
            f"{ticket_id}:{kind}",
            secrets.token_hex(8),
        )
        if not await self._runner.command("HSETNX", key, field, mark):
            # The claim may be ours: after a lost reply the command runs again.
            return bool(await self._runner.command("HGET", key, field) == mark.encode())
        await self._runner.command("EXPIRE", key, LIFE_S)
        return True

    async def subscribers(self, room: str) -> AsyncIterator[list[Subscriber]]:
        """Yield all subscribers of a room in bounded steps; forget the room if it has none."""
        key, cursor, anybody = keys.room_key(room, "push"), 0, False
        while True:
            command = ("HSCAN", key, str(cursor), "COUNT", str(_STEP))
            (answer,) = await self._runner.reads([command])
            if isinstance(answer, Exception):
                return
            cursor, subscriptions = int(answer[0]), answer[1]
            if subscriptions:
                anybody = True
                yield await self._placed(room, subscriptions)
            if cursor == 0:
                break
        if anybody:
            await self._runner.command("EXPIRE", key, LIFE_S)
        else:
            await self.forget(room)

    async def _placed(self, room: str, subscriptions: dict[bytes, bytes]) -> list[Subscriber]:
        """Read where tickets stand, in one pipeline, and in a second one for those who are away."""
        ids = [ticket_id.decode() for ticket_id in subscriptions]
        waiting, called, inside, swept, pushed = (
            keys.room_key(room, name) for name in ("waiting", "called", "inside", "swept", "pushed")
        )
        fields = [f"{ticket_id}:{kind}" for ticket_id in ids for kind in _KINDS]
        *ranks, turns, sessions, places, sent = await self._runner.reads(
            [
                *(("ZRANK", waiting, ticket_id) for ticket_id in ids),
                ("ZMSCORE", called, *ids),
                ("ZMSCORE", inside, *ids),
                ("ZMSCORE", swept, *ids),
                ("HMGET", pushed, *fields),
            ]
        )
        ahead = await self._ahead(waiting, ids, ranks, places)
        marks = [sent[n : n + len(_KINDS)] for n in range(0, len(fields), len(_KINDS))]
        return [
            _subscriber(ticket_id, text.decode(), rank, turn, session, ahead.get(ticket_id), mark)
            for ticket_id, text, rank, turn, session, mark in zip(
                ids, subscriptions.values(), ranks, turns, sessions, marks, strict=True
            )
        ]

    async def _ahead(
        self, waiting: str, ids: Sequence[str], ranks: Sequence[Any], places: Sequence[Any]
    ) -> dict[str, int]:
        """Return how many stand before those who were dropped for silence."""
        away = {
            ticket_id: f"({float(place):.0f}"
            for ticket_id, rank, place in zip(ids, ranks, places, strict=True)
            if rank is None and place is not None
        }
        counts = await self._runner.reads(
            [("ZCOUNT", waiting, "-inf", edge) for edge in away.values()]
        )
        return dict(zip(away, counts, strict=True))


def _subscriber(
    ticket_id: str,
    subscription: str,
    rank: int | None,
    turn: float | None,
    session: float | None,
    ahead: int | None,
    marks: Sequence[bytes | None],
) -> Subscriber:
    messages = frozenset(kind for kind, mark in zip(_KINDS, marks, strict=True) if mark is not None)
    state: State | None = None
    position = rank if rank is not None else ahead
    if session is not None:
        state = State.INSIDE
    elif turn is not None:
        state = State.CALLED
    elif position is not None:
        state, position = State.WAITING, position + 1
    away = rank is None and state is State.WAITING
    return Subscriber(ticket_id, subscription, state, position, away, messages)
