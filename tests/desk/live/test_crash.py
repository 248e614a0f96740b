"""A process dies between record and line, or the line knows more than the record: repaired.

Random sequences of actions, cut at random points. Afterwards line and record are compared exactly:
the same parties, in the same order, in the same states, at the same revisions.
"""

from __future__ import annotations

import random
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.desk.desks import (
    DINE,
    check_agreement,
    crowd,
    desk_on,
    do,
    held_by,
    join,
    new_store,
    position,
)
from tests.support.clock import Clock, open_engine
from tests.support.counts import count
from tests.support.servers import Server, start_server
from waitroom.desk.desk import Desk
from waitroom.desk.live.follow import Follower
from waitroom.desk.live.line import LiveLines, Outcome, room_of
from waitroom.desk.live.repair import Repaired, Repairs
from waitroom.desk.models import Action, Status, Store
from waitroom.desk.record.database import Database
from waitroom.engine import Engine, Settled, keys
from waitroom.errors import BackendUnavailable, WaitroomError

ACTIONS = (*Action, "join", "join", "join", "next", "next")


class Killed(BaseException):
    """The process is dead."""


class MortalLines(LiveLines):
    """The lines of a process that is killed at the n-th write, before or after it."""

    def __init__(self, engine: Engine, dies_at: int, *, after: bool) -> None:
        super().__init__(engine)
        self.writes = 0
        self.dead = False
        self._dies_at = dies_at
        self._after = after

    async def settle(
        self,
        room: str,
        tickets: Sequence[Settled] = (),
        *,
        turnover: str = "",
        forced: bool = False,
    ) -> Outcome:
        """Settle, unless the process is dead."""
        self.writes += 1
        dies = self.dead or self.writes == self._dies_at
        if dies and not (self._after and not self.dead):
            self.dead = True
            raise Killed
        done = await super().settle(room, tickets, turnover=turnover, forced=forced)
        if dies:
            self.dead = True
            raise Killed
        return done


def mortal(desk: Desk, lines: MortalLines) -> None:
    """Replace a desk's process by one that dies."""
    desk.repairs = Repairs(desk.record, lines)
    desk._follow = Follower(desk.record, lines, desk.repairs)


async def act(desk: Desk, store: Store, rng: random.Random, clock: Clock) -> None:
    """Do something at random; a refusal by the record does no harm."""
    clock.step(rng.uniform(0.5, 90))
    what: Any = rng.choice(ACTIONS)
    if what == "join":
        await join(desk, store, rng.randint(1, 6))
        return
    if what == "next":
        await desk.call_next(store.id, DINE, fits=rng.choice((None, 2, 6)), by="host")
        return
    parties = await desk.record.parties(store.id)
    if parties:
        try:
            await do(desk, rng.choice(parties), what, places=rng.randint(1, 3))
        except WaitroomError:
            return


async def until_killed(
    desk: Desk, lines: MortalLines, store: Store, rng: random.Random, clock: Clock
) -> None:
    """Act until the process is dead."""
    for _ in range(200):
        await act(desk, store, rng, clock)
        if lines.dead:
            return
    raise AssertionError("nothing reached the line any more")


@pytest.mark.parametrize("after", [False, True])
async def test_killed_between_record_and_line(
    database: Database, valkey: Server, clock: Clock, after: bool
) -> None:
    """Killed at any write to the line, before or after it: the next start repairs it."""
    rng = random.Random(5 + after)
    async with open_engine(valkey.url, clock) as engine:
        for _ in range(count("desk_crashes") // 2):
            lines = MortalLines(engine, rng.randint(1, 12), after=after)
            async with desk_on(database, engine, clock) as desk:
                mortal(desk, lines)
                store = await new_store(desk, max_defers=20)
                await until_killed(desk, lines, store, rng, clock)
            async with desk_on(database, engine, clock) as successor:
                await successor.repair(store.id)
                await check_agreement(successor, store)
                assert Repaired(len(store.types)) == await successor.repair(store.id)
                await act(successor, store, rng, clock)
                await check_agreement(successor, store)


async def spoil(desk: Desk, store: Store, rng: random.Random) -> None:
    """Give the line something that the record does not have, or remove something from it."""
    room, client = room_of(store.id, DINE), desk.engine.backend.client
    line = await held_by(desk, store)
    ticket = rng.choice(sorted(line.tickets) or [secrets.token_urlsafe(12)])
    revision = line.revisions.get(ticket, 0)
    place = line.waiting.get(ticket, clock_of(line.waiting))
    match rng.randrange(6):
        case 0:  # a stranger: the record was restored to before they came
            state = rng.choice(("waiting", "called"))
            stranger = Settled(secrets.token_urlsafe(12), state, place + 3, rng.randint(1, 9))
            await desk.engine.settle(room, [stranger])
        case 1:  # a change that the record has lost
            state = rng.choice(("waiting", "called", "finished", "left", "no_show"))
            await desk.engine.settle(room, [Settled(ticket, state, place + 5, revision + 3)])
        case 2:
            await client.zrem(keys.room_key(room, "waiting"), ticket)
        case 3:
            await client.zrem(keys.room_key(room, "waiting"), ticket)
            await client.zadd(keys.room_key(room, "called"), {ticket: 9e15})
        case 4:
            await client.delete(keys.room_key(room, rng.choice(("waiting", "called", "record"))))
        case 5:
            await client.hset(keys.room_key(room, "meta"), "turnover", "3:99")


def clock_of(waiting: Any) -> int:
    """Return a place that could be in this line."""
    return max(waiting.values(), default=1_800_000_000_000_000) + 100


async def test_the_line_knows_more_than_the_record(
    database: Database, valkey: Server, clock: Clock
) -> None:
    """What the record lacks is removed from the line, and what it has is restored."""
    rng = random.Random(23)
    async with open_engine(valkey.url, clock) as engine:
        for _ in range(count("desk_crashes")):
            async with desk_on(database, engine, clock) as desk:
                store = await new_store(desk, max_defers=20)
                await crowd(desk, store, clock, 3)
                for _ in range(rng.randint(1, 12)):
                    await act(desk, store, rng, clock)
                for _ in range(rng.randint(1, 4)):
                    await spoil(desk, store, rng)
                await desk.repair(store.id)
                await check_agreement(desk, store)
                assert Repaired(len(store.types)) == await desk.repair(store.id)


async def test_killed_host_then_a_guest_looks(
    database: Database, valkey: Server, clock: Clock
) -> None:
    """A guest whose join did not reach the line learns their place at the first look."""
    async with (
        open_engine(valkey.url, clock) as engine,
        desk_on(database, engine, clock) as desk,
        desk_on(database, engine, clock) as another,
    ):
        store = await new_store(desk)
        await crowd(desk, store, clock, 2)
        mortal(another, MortalLines(engine, 1, after=False))
        party = await join(another, store)
        assert party.ticket not in (await held_by(desk, store)).tickets
        assert 3 == await position(desk, party)
        await check_agreement(desk, store)


async def test_the_server_is_away(
    database: Database, tmp_path: Path, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    """Without Redis hosts keep working: the record has it, and the line follows later."""
    with start_server("valkey", tmp_path / "own", aof=True) as server:
        async with (
            open_engine(server.url, clock) as engine,
            desk_on(database, engine, clock) as desk,
        ):
            store = await new_store(desk)
            first, second = await crowd(desk, store, clock, 2)
            server.kill()
            called = await desk.call_next(store.id, DINE, by="host")
            assert called is not None
            assert (first.id, Status.CALLED) == (called.id, called.status)
            late = await join(desk, store)
            with pytest.raises(BackendUnavailable):
                await position(desk, second)
            server.restart()
            await desk.repair(store.id)
            await check_agreement(desk, store)
            assert [0, 1, 2] == [await position(desk, party) for party in (first, second, late)]
    assert "behind the record" in caplog.text
