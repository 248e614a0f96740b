"""Midnight in the store's time zone: numbers restart; the order and everybody in it stay."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from tests.desk.desks import DINE, TAKEOUT, check_agreement, desk_on, do, join, new_store, positions
from tests.support.clock import Clock, open_engine
from tests.support.servers import Server
from waitroom.desk.models import Action
from waitroom.desk.record.database import Database

MIDNIGHTS = [
    ("Asia/Seoul", datetime(2026, 5, 9)),
    ("Asia/Seoul", datetime(2027, 1, 1)),  # a new year, where the seed's order wrapped
    ("America/Los_Angeles", datetime(2027, 1, 1)),
    ("Pacific/Kiritimati", datetime(2027, 1, 1)),  # UTC+14
    ("Pacific/Pago_Pago", datetime(2027, 1, 1)),  # UTC-11
    ("Asia/Kolkata", datetime(2028, 2, 29)),  # half an hour off, and a leap day
    ("Europe/Berlin", datetime(2027, 3, 28)),  # a day that is an hour short
    ("Europe/Berlin", datetime(2026, 10, 25)),  # a day with an hour twice
    ("Europe/Berlin", datetime(2026, 10, 26)),  # and the midnight after it
    ("Africa/Cairo", datetime(2026, 4, 24)),  # a day that has no midnight: it begins at 01:00
    ("America/Havana", datetime(2026, 11, 1)),  # a day whose first hour comes twice
]


def clock_at(local: datetime, time_zone: str) -> Clock:
    """Return a clock that shows a local time."""
    return Clock(round(local.replace(tzinfo=ZoneInfo(time_zone)).timestamp() * 1_000_000))


@pytest.mark.parametrize(
    ("time_zone", "midnight"), MIDNIGHTS, ids=lambda value: str(value).replace(" 00:00:00", "")
)
async def test_midnight(
    database: Database, valkey: Server, time_zone: str, midnight: datetime
) -> None:
    """Three come before midnight and three after: numbers 1, 2, 3 twice, and one order for all."""
    clock = clock_at(midnight - timedelta(minutes=3), time_zone)
    async with open_engine(valkey.url, clock) as engine, desk_on(database, engine, clock) as desk:
        store = await new_store(desk, time_zone=time_zone)
        parties = []
        for _ in range(6):
            parties.append(await join(desk, store))
            clock.step(60)
            await engine.advance(f"desk.{store.id}.{DINE}")
        days = [midnight.date() - timedelta(days=1)] * 3 + [midnight.date()] * 3
        assert days == [party.day for party in parties]
        assert [1, 2, 3, 1, 2, 3] == [party.number for party in parties]
        assert [*range(6)] == [party.teams_ahead for party in parties]
        assert [1, 2, 3, 4, 5, 6] == await positions(desk, parties)
        await check_agreement(desk, store)
        called = [await desk.call_next(store.id, DINE, by="host") for _ in range(6)]
        assert [party.id for party in parties] == [
            party.id for party in called if party is not None
        ]


async def test_an_hour_twice_is_one_day(database: Database, valkey: Server) -> None:
    """When the clocks go back, the repeated hour continues counting and ordering."""
    clock = clock_at(datetime(2026, 10, 25, 2, 10), "Europe/Berlin")
    async with open_engine(valkey.url, clock) as engine, desk_on(database, engine, clock) as desk:
        store = await new_store(desk, time_zone="Europe/Berlin")
        parties = []
        for _ in range(5):
            parties.append(await join(desk, store))
            clock.step(30 * 60)
        assert [1, 2, 3, 4, 5] == [party.number for party in parties]
        assert {date(2026, 10, 25)} == {party.day for party in parties}
        assert [1, 2, 3, 4, 5] == await positions(desk, parties)


async def test_each_line_counts_for_itself(database: Database, valkey: Server) -> None:
    """Two lines of a store, and stores in two time zones, have separate numbers."""
    clock = clock_at(datetime(2026, 12, 31, 23, 59), "Asia/Seoul")
    async with open_engine(valkey.url, clock) as engine, desk_on(database, engine, clock) as desk:
        seoul = await new_store(desk)
        honolulu = await new_store(desk, time_zone="Pacific/Honolulu")
        before = [await join(desk, store) for store in (seoul, seoul, honolulu)]
        takeout = await join(desk, seoul, line_name=TAKEOUT)
        clock.step(120)
        after = [await join(desk, store) for store in (seoul, honolulu)]
        assert [1, 2, 1] == [party.number for party in before]
        assert 1 == takeout.number
        assert [1, 2] == [party.number for party in after]
        assert [date(2027, 1, 1), date(2026, 12, 31)] == [party.day for party in after]


async def test_back_from_yesterday(database: Database, valkey: Server) -> None:
    """A party that ended before midnight and is restored after it keeps its number and place."""
    clock = clock_at(datetime(2026, 12, 31, 23, 58), "Asia/Seoul")
    async with open_engine(valkey.url, clock) as engine, desk_on(database, engine, clock) as desk:
        store = await new_store(desk)
        first, second = await join(desk, store), await join(desk, store)
        await do(desk, first, Action.CALL, Action.NO_SHOW)
        clock.step(300)
        third = await join(desk, store)
        first = await do(desk, first, Action.RESTORE)
        assert (1, date(2026, 12, 31)) == (first.number, first.day)
        assert [1, 2, 3] == await positions(desk, [first, second, third])


async def test_a_night_of_waiting(database: Database, valkey: Server) -> None:
    """Parties that still wait after a whole idle day are neither dropped nor overtaken."""
    clock = clock_at(datetime(2026, 12, 31, 20, 0), "Asia/Seoul")
    async with open_engine(valkey.url, clock) as engine, desk_on(database, engine, clock) as desk:
        store = await new_store(desk)
        first = await join(desk, store)
        for _ in range(30):
            clock.step(3_600)
            await engine.advance(f"desk.{store.id}.{DINE}")
        second = await join(desk, store)
        assert [1, 2] == await positions(desk, [first, second])
        await check_agreement(desk, store)
