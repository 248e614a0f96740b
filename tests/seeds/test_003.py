"""Seed 003, the restaurant waitlist: through the desk, with its record and a real server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import date
from pathlib import Path

import pytest
from sqlalchemy import text

from tests.desk.desks import (
    DINE,
    TAKEOUT,
    check_agreement,
    crowd,
    desk_on,
    do,
    held_by,
    join,
    new_store,
    positions,
    seatings,
)
from tests.support.clock import Clock
from tests.support.statements import statements
from waitroom.desk.desk import Desk
from waitroom.desk.inputs import Wish
from waitroom.desk.live.line import room_of
from waitroom.desk.models import Action, Source, Status, Turnover
from waitroom.desk.record.database import open_database
from waitroom.engine import Engine, keys

SIX_HOURS = 21_600
# 2026-12-31 23:50 in Seoul.
NEW_YEARS_EVE_US = 1_798_728_600_000_000


@pytest.fixture
def clock() -> Clock:
    """Time that moves only when the test says so; it begins on New Year's Eve."""
    return Clock(NEW_YEARS_EVE_US)


@pytest.fixture
async def desk(engine: Engine, clock: Clock, tmp_path: Path) -> AsyncIterator[Desk]:
    """Open a desk with its own record."""
    async with open_database(None, tmp_path) as database, desk_on(database, engine, clock) as desk:
        yield desk


@pytest.mark.seed("003-01")
async def test_one_queue_per_store_and_type(desk: Desk) -> None:
    """003-01: each waiting type of each store is a separate queue."""
    first, second = await new_store(desk), await new_store(desk)
    lines = [(first, DINE), (first, TAKEOUT), (second, DINE)]
    parties = [await join(desk, store, line_name=line_name) for store, line_name in lines * 2]
    assert [1, 1, 1, 2, 2, 2] == await positions(desk, parties)
    await desk.call_next(first.id, DINE, by="host")
    assert [0, 1, 1, 1, 2, 2] == await positions(desk, parties)


@pytest.mark.seed("003-02")
async def test_daily_numbers(desk: Desk, clock: Clock) -> None:
    """003-02: numbers restart each day; the order continues over midnight, and over New Year."""
    store = await new_store(desk)
    parties = []
    for _ in range(6):
        parties.append(await join(desk, store))
        clock.step(240)
    assert [1, 2, 3, 1, 2, 3] == [party.number for party in parties]
    assert [date(2026, 12, 31)] * 3 + [date(2027, 1, 1)] * 3 == [party.day for party in parties]
    assert [1, 2, 3, 4, 5, 6] == await positions(desk, parties)
    called = [await desk.call_next(store.id, DINE, by="host") for _ in parties]
    assert [party.id for party in parties] == [party.id for party in called if party is not None]


@pytest.mark.seed("003-03")
async def test_queue_disappears(desk: Desk, engine: Engine, clock: Clock) -> None:
    """003-03: six hours after its last use an empty queue's keys are gone."""
    store = await new_store(desk)
    room = room_of(store.id, DINE)
    await do(desk, await join(desk, store), Action.SEAT)
    live = [keys.room_key(room, n) for n in keys.ROOM_KEYS if n not in ("config", "meta")]
    clock.step(SIX_HOURS - 1)
    await engine.advance(room)
    assert 0 < await engine.backend.client.exists(*live)
    clock.step(1)
    await engine.advance(room)
    assert 0 == await engine.backend.client.exists(*live)


@pytest.mark.seed("003-03")
async def test_who_waits_is_not_dropped(desk: Desk, engine: Engine, clock: Clock) -> None:
    """003-03: a queue in which anybody still waits is kept, even if nobody looks."""
    store = await new_store(desk)
    party = await join(desk, store)
    for _ in range(8):
        clock.step(3_600)
        await engine.advance(room_of(store.id, DINE))
    assert [1] == await positions(desk, [party])


@pytest.mark.seed("003-04")
async def test_position(desk: Desk, clock: Clock) -> None:
    """003-04: my position now is rank + 1, and 0 when I do not wait."""
    store = await new_store(desk)
    parties = await crowd(desk, store, clock, 3)
    assert [1, 2, 3] == await positions(desk, parties)
    await do(desk, parties[1], Action.CALL)
    assert [1, 0, 2] == await positions(desk, parties)


@pytest.mark.seed("003-05")
@pytest.mark.parametrize("action", [Action.SEAT, Action.CANCEL])
async def test_removed(desk: Desk, clock: Clock, action: Action) -> None:
    """003-05: anybody seated or cancelled leaves the queue, and those behind move up."""
    store = await new_store(desk)
    parties = await crowd(desk, store, clock, 3)
    await do(desk, parties[0], action)
    assert [0, 1, 2] == await positions(desk, parties)
    assert parties[0].ticket not in (await held_by(desk, store)).tickets


@pytest.mark.seed("003-06")
async def test_teams_ahead(desk: Desk, clock: Clock) -> None:
    """003-06: the number of teams ahead is remembered as it was at registration."""
    store = await new_store(desk)
    parties = await crowd(desk, store, clock, 4)
    await do(desk, parties[0], Action.SEAT)
    await do(desk, parties[1], Action.CANCEL)
    parties.append(await join(desk, store))
    kept = [await desk.record.party(store.id, party.id) for party in parties]
    assert [0, 1, 2, 3, 2] == [party.teams_ahead for party in kept]


@pytest.mark.seed("003-07")
async def test_minutes_per_team(desk: Desk, clock: Clock) -> None:
    """003-07: minutes waited ÷ teams (including oneself, never by zero); the oldest of 150 go."""
    store = await new_store(desk)
    first, second = await crowd(desk, store, clock, 2)
    clock.step(60 * 10 - 1)
    await do(desk, first, Action.SEAT)  # 10 min ÷ 1
    clock.step(1 + 60 * 2)
    await do(desk, second, Action.SEAT)  # 12 min ÷ 2
    turnover = await desk.record.turnover(store.id, DINE)
    assert 2 == turnover.samples
    assert pytest.approx(8.0) == turnover.mean_minutes
    await seatings(desk, store, clock, [1] * 150)
    assert Turnover(150, 1.0) == await desk.record.turnover(store.id, DINE)


@pytest.mark.seed("003-08")
async def test_expected_wait(desk: Desk, clock: Clock) -> None:
    """003-08: mean minutes per team × position; 15 minutes per team until there are 10 samples."""
    store = await new_store(desk)
    await seatings(desk, store, clock, [4] * 9)
    parties = await crowd(desk, store, clock, 3)

    async def waits() -> list[int | None]:
        places = [await desk.place(store.id, desk.token(party)) for party in parties]
        return [place.wait_minutes for place in places]

    assert [15, 30, 45] == await waits()
    other = await join(desk, store)
    clock.step(60 * 16)
    await do(desk, other, Action.SEAT)  # 16 min ÷ 4 teams: the tenth of 4
    assert [4, 8, 12] == await waits()


@pytest.mark.seed("003-09")
async def test_one_answer_without_the_database(desk: Desk, clock: Clock) -> None:
    """003-09: position and expected wait come in one answer, without a database query."""
    store = await new_store(desk)
    parties = await crowd(desk, store, clock, 30)
    tokens = [desk.token(party) for party in parties]
    with statements(desk.record.database.engine) as asked:
        places = await asyncio.gather(*(desk.place(store.id, token) for token in tokens))
        assert [] == asked
        async with desk.record.database.look() as connection:  # a control: this one is counted
            await connection.execute(text("SELECT 1"))
    assert "SELECT 1" in asked
    assert [(n, 15 * n) for n in range(1, 31)] == [(p.position, p.wait_minutes) for p in places]


@pytest.mark.seed("003-10")
async def test_rebuilt_from_the_record(desk: Desk, engine: Engine, clock: Clock) -> None:
    """003-10: the database has status and times; the live order can be rebuilt from it alone."""
    store = await new_store(desk)
    parties = await crowd(desk, store, clock, 6)
    await do(desk, parties[0], Action.CALL, Action.SEAT)
    await do(desk, parties[1], Action.CALL)
    await do(desk, parties[2], Action.DEFER, places=2)
    room = room_of(store.id, DINE)
    await engine.backend.client.delete(*(keys.room_key(room, name) for name in keys.ROOM_KEYS))
    assert [0, 0, 3, 1, 2, 4] == await positions(desk, parties)
    await check_agreement(desk, store)
    kept = await desk.record.party(store.id, parties[0].id)
    assert Status.SEATED is kept.status
    assert (clock.now_ms, clock.now_ms) == (kept.called_ms, kept.seated_ms)
    history = await desk.record.history(store.id, parties[0].id)
    assert ["join", "call", "seat"] == [entry.action for entry in history]


@pytest.mark.seed("003-11")
async def test_what_guests_do(desk: Desk) -> None:
    """003-11: a guest joins on site or remotely, sees the place, defers, and cancels."""
    store = await new_store(desk)
    here, token = await desk.join(store.id, DINE, Wish(size=2, source=Source.ON_SITE))
    away, _ = await desk.join(store.id, DINE, Wish(size=3, source=Source.REMOTE))
    assert [Source.ON_SITE, Source.REMOTE] == [here.source, away.source]
    assert 1 == (await desk.place(store.id, token)).position
    await desk.guest_act(store.id, token, Action.DEFER, places=1)
    assert [2, 1] == await positions(desk, [here, away])
    await desk.guest_act(store.id, token, Action.CANCEL)
    assert Status.CANCELLED is (await desk.place(store.id, token)).status


@pytest.mark.seed("003-11")
async def test_what_hosts_do(desk: Desk, clock: Clock) -> None:
    """003-11: a host lists by store, type and day, calls, seats, marks a no-show, and undoes it."""
    store = await new_store(desk)
    first, second = await crowd(desk, store, clock, 2)
    takeout = await join(desk, store, line_name=TAKEOUT)
    day = first.day
    listed = await desk.record.parties(store.id, line_name=DINE, day=day)
    assert [first.id, second.id] == [party.id for party in listed]
    assert 3 == len(await desk.record.parties(store.id))
    assert [] == [*await desk.record.parties(store.id, line_name=TAKEOUT, day=date(2027, 6, 1))]
    called = await desk.call_next(store.id, DINE, by="host")
    assert called is not None
    assert (first.id, Status.CALLED) == (called.id, called.status)
    assert Status.SEATED is (await do(desk, first, Action.SEAT)).status
    assert Status.NO_SHOW is (await do(desk, second, Action.CALL, Action.NO_SHOW)).status
    assert Status.CALLED is (await do(desk, second, Action.UNDO)).status
    assert Status.WAITING is (await do(desk, second, Action.UNDO)).status
    assert [0, 1, 1] == await positions(desk, [first, second, takeout])
