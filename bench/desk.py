"""`make bench-desk`: a guest's place and wait, compared with the seed's way of counting rows.

200 stores have 500 waiting parties each. Both sides answer in this process, to the same number of
concurrent guests: ours from the live line, the seed's with one COUNT on the same table, through an
index made for that query, with the party's number already known. They alternate, and ratios are
within a turn. Joins are timed as a whole: the record, synced to disk, and the live line.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import platform
import random
import secrets
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, fields, replace
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

import uvloop
from sqlalchemy import func, insert, select, text
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from tests.support.postgres import find_programs, start_postgres
from tests.support.statements import statements

import waitroom
from bench.report import Figures, Line, Reporter, percentile
from waitroom.desk.desk import Desk
from waitroom.desk.inputs import Wish
from waitroom.desk.models import Party, Source, Status, Store, WaitingType
from waitroom.desk.record.database import Database, open_database
from waitroom.desk.record.record import Record
from waitroom.desk.record.tables import parties
from waitroom.engine import Engine
from waitroom.tickets import KeyRing

LINES = (
    Line("places_per_s", "position and wait, from the live line"),
    Line("counts_per_s", "the seed's way: COUNT in the database"),
    Line("place_ratio", "ours ÷ the seed's", least=5),
    Line("place_sql_queries", "database queries for all our answers", most=0),
    Line("control_sql_queries", "for a COUNT: the counter is not blind", least=1, most=1),
    Line("join_p50_ms", "a join, record and live line"),
    Line("join_p99_ms", "the same", most=50),
    Line("sqlite_join_p99_ms", "the same, record in SQLite"),
)
TYPE = "dine-in"
_STEP_US = 8_000_000
_ROWS = 5_000


@dataclass(frozen=True, slots=True)
class Scale:
    """How much is measured."""

    stores: int
    waiting: int
    rounds: int
    seconds: float
    joins: int
    guests: int = 64
    joining: int = 4

    @classmethod
    def from_environment(cls) -> Scale:
        """SMOKE=1 only shows that it runs."""
        small = os.environ.get("SMOKE") == "1"
        return cls(4, 50, 1, 0.3, 40) if small else cls(200, 500, 5, 3, 2_000)


@dataclass(frozen=True, slots=True)
class Guest:
    """A guest who asks for their position, on either side."""

    store: str
    number: int
    token: str


@asynccontextmanager
async def opened(url: str | None, folder: Path) -> AsyncIterator[tuple[Desk, Database]]:
    """Open a desk with its own server and database."""
    ring = KeyRing([os.urandom(32)])
    async with (
        open_database(url, folder) as database,
        await Engine.connect(None, folder / "live", ring) as engine,
        aclosing(Desk(Record(database), engine, ring)) as desk,
    ):
        yield desk, database


async def fill(
    desk: Desk, database: Database, scale: Scale, done: Callable[[int], None]
) -> list[Guest]:
    """Make all parties wait: written in bulk, then brought to life as after a loss of Redis."""
    types = (WaitingType(name=TYPE, title="Dine in", largest_party=8),)
    stores = [f"store-{number}" for number in range(scale.stores)]
    for store in stores:
        await desk.record.add_store(Store(id=store, title=store, types=types))
    first_us = time.time_ns() // 1000 - scale.waiting * _STEP_US
    waiting = [
        _party(store, n, first_us + n * _STEP_US) for n in range(scale.waiting) for store in stores
    ]
    for start in range(0, len(waiting), _ROWS):
        batch = waiting[start : start + _ROWS]
        async with database.change() as connection:
            await connection.execute(insert(parties), [_row(party) for party in batch])
        done(len(batch))
    await desk.repair()
    return [Guest(party.store, party.number, desk.token(party)) for party in waiting]


def _party(store: str, n: int, sort_key: int) -> Party:
    return Party(
        id=0,
        store=store,
        line_name=TYPE,
        ticket=secrets.token_urlsafe(12),
        day=date.today(),
        number=n + 1,
        size=2,
        name=None,
        phone=None,
        note=None,
        source=Source.ON_SITE,
        status=Status.WAITING,
        sort_key=sort_key,
        teams_ahead=n,
        defers=0,
        revision=1,
        registered_ms=sort_key // 1000,
    )


def _row(party: Party) -> dict[str, Any]:
    values = {spec.name: getattr(party, spec.name) for spec in fields(party) if spec.name != "id"}
    values["type"] = values.pop("line_name")
    words = {"source": str(party.source), "status": str(party.status)}
    return values | words | {"changed_ms": party.registered_ms}


async def prepare_counts(database: Database) -> None:
    """Give the seed's query the index that serves it best, and fresh statistics."""
    async with database.change() as connection:
        await connection.execute(
            text("CREATE INDEX ix_seed ON parties (store, type, status, day, number)")
        )
    if database.engine.dialect.name == "postgresql":
        async with database.engine.connect() as connection:
            alone = await connection.execution_options(isolation_level="AUTOCOMMIT")
            await alone.execute(text("VACUUM ANALYZE parties"))


@asynccontextmanager
async def counting(database: Database) -> AsyncIterator[AsyncEngine]:
    """Connect the seed's side: persistent connections, and no query but its own."""
    made = create_async_engine(database.engine.url, pool_size=16, max_overflow=0, pool_timeout=60)
    try:
        yield made
    finally:
        await made.dispose()


async def count_rows(engine: AsyncEngine, guest: Guest) -> int:
    """Return a position as the seed did originally: by counting the numbers up to this one."""
    asked = select(func.count()).where(
        parties.c.store == guest.store,
        parties.c.type == TYPE,
        parties.c.status == str(Status.WAITING),
        parties.c.day == date.today(),
        parties.c.number <= guest.number,
    )
    async with engine.connect() as connection:
        return (await connection.execute(asked)).scalar_one()


async def answers_per_s(
    answer: Callable[[Guest], Awaitable[int]], guests: Sequence[Guest], scale: Scale
) -> float:
    """Make guests ask repeatedly at the same time; every answer is checked."""
    ends, answered = time.perf_counter() + scale.seconds, 0

    async def ask(chance: random.Random) -> None:
        nonlocal answered
        while time.perf_counter() < ends:
            guest = chance.choice(guests)
            number = await answer(guest)
            assert number == guest.number, (number, guest)
            answered += 1

    began = time.perf_counter()
    await asyncio.gather(*(ask(random.Random(n)) for n in range(scale.guests)))
    return answered / (time.perf_counter() - began)


async def measure_places(
    desk: Desk, database: Database, guests: Sequence[Guest], scale: Scale, figures: Figures
) -> None:
    """Ask both sides alternately."""

    async def ours(guest: Guest) -> int:
        return (await desk.place(guest.store, guest.token)).position

    async def seeds(guest: Guest) -> int:
        return await count_rows(engine, guest)

    turns: list[tuple[float, float]] = []
    asked = 0
    async with counting(database) as engine:
        with statements(engine) as control:
            await seeds(guests[0])
        for answer in (ours, seeds):  # warm up: connections and query plans
            await answers_per_s(answer, guests, replace(scale, seconds=scale.seconds / 3))
        for _ in range(scale.rounds):
            with statements(database.engine) as seen:
                mine = await answers_per_s(ours, guests, scale)
            asked += len(seen)
            turns.append((mine, await answers_per_s(seeds, guests, scale)))
    figures["places_per_s"] = statistics.median(mine for mine, _ in turns)
    figures["counts_per_s"] = statistics.median(theirs for _, theirs in turns)
    figures["place_ratio"] = statistics.median(mine / theirs for mine, theirs in turns)
    figures["place_sql_queries"] = asked
    figures["control_sql_queries"] = len(control)


async def joins_ms(desk: Desk, scale: Scale) -> list[float]:
    """Time joins, a few at once, spread over the stores."""
    took: list[float] = []
    numbers = iter(range(scale.joins))

    async def join() -> None:
        for number in numbers:
            began = time.perf_counter()
            await desk.join(f"store-{number % scale.stores}", TYPE, Wish(size=2))
            took.append((time.perf_counter() - began) * 1000)

    await asyncio.gather(*(join() for _ in range(scale.joining)))
    return took


async def measure(url: str | None, scale: Scale, reporter: Reporter) -> Figures:
    """Measure on one database."""
    figures: Figures = {}
    with tempfile.TemporaryDirectory() as folder:
        async with opened(url, Path(folder)) as (desk, database):
            with reporter.step("parties that wait", scale.stores * scale.waiting) as done:
                guests = await fill(desk, database, scale, done)
            await prepare_counts(database)
            with reporter.step("places and counts, in turns", 2 * scale.rounds):
                await measure_places(desk, database, guests, scale, figures)
            with reporter.step("joins", scale.joins):
                took = await joins_ms(desk, scale)
    figures["join_p50_ms"], figures["join_p99_ms"] = percentile(took, 50), percentile(took, 99)
    return figures


async def measure_sqlite_joins(scale: Scale) -> float:
    """Return the p99 of joins with the record in SQLite."""
    with tempfile.TemporaryDirectory() as folder:
        async with opened(None, Path(folder)) as (desk, database):
            await fill(desk, database, replace(scale, waiting=50), lambda _: None)
            return percentile(await joins_ms(desk, scale), 99)


def main() -> None:
    """Measure on PostgreSQL, or on SQLite where there is none, and report."""
    scale, reporter = Scale.from_environment(), Reporter()
    with contextlib.ExitStack() as stack:
        url, kind = None, "sqlite"
        if find_programs() is not None:
            server = stack.enter_context(start_postgres(durable=True))
            url = stack.enter_context(server.database())
            kind = "postgresql " + server.run("SHOW server_version").partition(" ")[0]
        figures = uvloop.run(measure(url, scale, reporter))
    figures["sqlite_join_p99_ms"] = uvloop.run(measure_sqlite_joins(scale))
    title = f"the desk, {scale.stores} stores × {scale.waiting} waiting, {kind}"
    reporter.show(title, LINES, figures)
    facts = {
        "database": kind,
        "python": platform.python_version(),
        "waitroom": waitroom.__version__,
        **{name: version(name) for name in ("sqlalchemy", "asyncpg", "aiosqlite", "redis")},
        "stores": scale.stores,
        "waiting": scale.waiting,
        "guests": scale.guests,
        "joins": scale.joins,
        "rounds": scale.rounds,
    }
    reporter.last_line(figures, facts)


if __name__ == "__main__":
    main()
