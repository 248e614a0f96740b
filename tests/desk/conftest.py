"""A record for each test, on SQLite and on PostgreSQL, with a clock that the test moves."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.support.clock import Clock
from tests.support.postgres import Postgres
from waitroom.desk.models import Store, WaitingType
from waitroom.desk.record.database import Database, open_database
from waitroom.desk.record.record import Record

# 2026-05-08 18:00 in Seoul, a Friday evening.
EVENING_US = 1_778_230_800_000_000


@pytest.fixture(params=["sqlite", "postgres"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Return the URL of an empty database, of each kind."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/desk.db"
        return
    server: Postgres = request.getfixturevalue("postgres")
    with server.database() as url:
        yield url


@pytest.fixture
async def database(database_url: str, tmp_path: Path) -> AsyncIterator[Database]:
    """Open it, with its tables."""
    async with open_database(database_url, tmp_path) as database:
        yield database


@pytest.fixture
def clock() -> Clock:
    """Time in µs that moves only when the test says so; it begins on an evening."""
    return Clock(EVENING_US)


@pytest.fixture
def record(database: Database, clock: Clock) -> Record:
    """Keep the record on the test's clock."""
    return Record(database, now_us=clock)


@pytest.fixture
async def store(record: Record) -> Store:
    """Add a store with two lines."""
    dine_in = WaitingType(name="dine-in", title="매장 식사", largest_party=8)
    takeout = WaitingType(name="takeout", title="포장")
    return await record.add_store(Store(id="han-river", title="한강식당", types=(dine_in, takeout)))
