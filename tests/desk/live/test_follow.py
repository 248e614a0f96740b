"""The live line follows the record, and no task of it outlives its desk."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from sqlalchemy.pool import AsyncAdaptedQueuePool

from tests.desk.desks import DINE, do, join, new_store
from tests.support.clock import SECRET, Clock, open_engine
from tests.support.servers import Server
from waitroom.desk.desk import Desk
from waitroom.desk.live import follow
from waitroom.desk.models import Action, Party, Turnover
from waitroom.desk.record.database import Database
from waitroom.desk.record.record import Record
from waitroom.tickets import KeyRing


class HangingRecord(Record):
    """A record whose reads for the live line take a connection and never end."""

    hanging = 0

    async def turnover(self, *_: str) -> Turnover:
        """Hang for callers that follow a seating."""
        async with self.database.look():
            self.hanging += 1
            return await asyncio.Future()

    async def live(self, *_: str) -> tuple[Party, ...]:
        """Hang for callers that repair a line."""
        async with self.database.look():
            self.hanging += 1
            return await asyncio.Future()

    async def until_hanging(self, reads: int) -> None:
        """Wait until so many reads hang: on a busy machine a caller gives up before that."""
        async with asyncio.timeout(60):
            while self.hanging < reads:  # noqa: ASYNC110 - callers wait for an event that never is
                await asyncio.sleep(0.01)


@pytest.fixture
async def desk(
    database: Database, valkey: Server, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Desk]:
    """Return an open desk; the test closes it."""
    monkeypatch.setattr(follow, "SETTLE_S", 0.05)
    record = HangingRecord(database, now_us=clock)
    async with open_engine(valkey.url, clock) as engine:
        yield Desk(record, engine, KeyRing([SECRET]))


def open_connections(database: Database) -> int:
    """Return how many connections are in use."""
    pool = database.engine.pool
    assert isinstance(pool, AsyncAdaptedQueuePool)
    return pool.checkedout()


async def test_closing_ends_what_follows(desk: Desk, database: Database) -> None:
    """A seating that waits for the database releases its connection when the desk closes.

    So does the first join of a line, which compares the line with the record.
    """
    party = await join(desk, await new_store(desk))
    await do(desk, party, Action.SEAT)
    assert isinstance(desk.record, HangingRecord)
    await desk.record.until_hanging(2)
    assert 2 == open_connections(database)
    await desk.aclose()
    assert 0 == open_connections(database)


async def test_closing_ends_repairs(desk: Desk, database: Database) -> None:
    """A repair outlives the guest who asked for it, but not the desk."""
    store = await new_store(desk)
    asked = asyncio.create_task(desk.repairs.line(store.id, DINE))
    assert isinstance(desk.record, HangingRecord)
    await desk.record.until_hanging(1)
    asked.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asked
    assert 1 == open_connections(database)
    await desk.aclose()
    assert 0 == open_connections(database)
