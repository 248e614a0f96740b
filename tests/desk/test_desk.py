"""What guests and hosts do, through `Desk`: the record first, then the live line."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from tests.desk.desks import (
    DINE,
    TAKEOUT,
    TYPES,
    check_agreement,
    crowd,
    desk_on,
    do,
    join,
    new_store,
    position,
    positions,
    revision_of,
    seatings,
)
from tests.support.clock import BAD_TICKETS, SECRET, Clock, open_engine
from tests.support.servers import Server
from tests.support.statements import statements
from waitroom.desk.desk import Desk, open_desk
from waitroom.desk.inputs import Wish
from waitroom.desk.models import Action, Source, Status, Store, StoreMode, WaitingType
from waitroom.desk.record.database import Database
from waitroom.errors import (
    DefersUsedUp,
    InvalidInput,
    InvalidTicket,
    LineFull,
    PastClosing,
    StoreClosed,
    StorePaused,
    UnknownStore,
    UnknownType,
    WrongStatus,
)
from waitroom.settings import Settings
from waitroom.tickets import KeyRing

MINUTES = [3] * 10


@pytest.fixture
async def desk(database: Database, valkey: Server, clock: Clock) -> AsyncIterator[Desk]:
    """Open a desk."""
    async with open_engine(valkey.url, clock) as engine, desk_on(database, engine, clock) as desk:
        yield desk


async def test_a_guest_joins(desk: Desk, clock: Clock) -> None:
    """A guest gets a number and a token, and learns their place and wait."""
    store = await new_store(desk)
    await crowd(desk, store, clock, 2)
    party, token = await desk.join(store.id, DINE, Wish(size=4, name="김", source=Source.REMOTE))
    assert (3, 2, Status.WAITING) == (party.number, party.teams_ahead, party.status)
    assert token == desk.token(party)
    assert (DINE, party.ticket) == desk.read_token(store.id, token)
    place = await desk.place(store.id, token)
    assert (store.id, DINE, Status.WAITING, 3, 3) == (
        place.store,
        place.line_name,
        place.status,
        place.position,
        place.waiting,
    )
    assert 45 == place.wait_minutes  # 15 minutes a team, until there are seatings
    assert party == await desk.guest_party(store.id, token)
    await check_agreement(desk, store)


async def test_place_asks_no_database(desk: Desk, database: Database, clock: Clock) -> None:
    """Position and wait are read without a database statement, while waiting and when called."""
    store = await new_store(desk)
    await seatings(desk, store, clock, MINUTES)
    parties = await crowd(desk, store, clock, 20)
    await do(desk, parties[0], Action.CALL)
    tokens = [desk.token(party) for party in parties]
    with statements(database.engine) as asked:
        places = await asyncio.gather(*(desk.place(store.id, token) for token in tokens))
        assert [] == asked
        async with database.look() as connection:  # the control: this one is counted
            await connection.execute(text("SELECT 1"))
        assert 1 == sum("SELECT 1" in statement for statement in asked)
    assert [*range(20)] == [place.position for place in places]
    assert Status.CALLED is places[0].status
    assert [3 * n for n in range(1, 20)] == [place.wait_minutes for place in places[1:]]
    assert {19} == {place.waiting for place in places}


@pytest.mark.parametrize("action", [Action.SEAT, Action.NO_SHOW, Action.CANCEL])
@pytest.mark.parametrize("called", [False, True])
async def test_undo_gives_the_place_back(
    desk: Desk, clock: Clock, action: Action, called: bool
) -> None:
    """A host's mistake is undone, with the old place and status."""
    store = await new_store(desk)
    parties = await crowd(desk, store, clock, 5)
    third = parties[2]
    if called:
        await do(desk, third, Action.CALL)
    ended = await do(desk, third, action)
    place = await desk.place(store.id, desk.token(third))
    assert (ended.status, 0) == (place.status, place.position)
    assert [1, 2, 3, 4] == await positions(desk, [*parties[:2], *parties[3:]])
    back = await do(desk, third, Action.UNDO)
    assert (third.sort_key, third.number) == (back.sort_key, back.number)
    if called:
        assert Status.CALLED is back.status
        back = await do(desk, third, Action.UNDO)
    assert Status.WAITING is back.status
    assert [1, 2, 3, 4, 5] == await positions(desk, parties)
    await check_agreement(desk, store)


@pytest.mark.parametrize("ends", [Action.NO_SHOW, Action.CANCEL])
async def test_restored(desk: Desk, clock: Clock, ends: Action) -> None:
    """Anybody who comes back late is put at their old place, ahead of all who came after them."""
    store = await new_store(desk)
    parties = await crowd(desk, store, clock, 3)
    await do(desk, parties[0], Action.CALL, ends)
    late = await join(desk, store)
    await do(desk, parties[0], Action.RESTORE)
    assert [1, 2, 3, 4] == await positions(desk, [*parties, late])
    await check_agreement(desk, store)


async def test_a_seating_taken_back_does_not_count(desk: Desk, clock: Clock) -> None:
    """The turnover in the live line follows seatings and their undoing."""
    store = await new_store(desk)
    await seatings(desk, store, clock, MINUTES)
    party = await join(desk, store)
    token = desk.token(party)
    assert 3 == (await desk.place(store.id, token)).wait_minutes
    other = await join(desk, store)
    clock.step(60 * 220)
    await do(desk, other, Action.SEAT)
    assert 13 == (await desk.place(store.id, token)).wait_minutes  # (10 × 3 + 110) ÷ 11
    await do(desk, other, Action.UNDO)
    assert 3 == (await desk.place(store.id, token)).wait_minutes
    await check_agreement(desk, store)


async def test_guests_defer_and_cancel(desk: Desk, clock: Clock) -> None:
    """A guest goes behind the n-th party after them, as often as the store allows, or leaves."""
    store = await new_store(desk, max_defers=1)
    parties = await crowd(desk, store, clock, 4)
    token = desk.token(parties[0])
    await desk.guest_act(store.id, token, Action.DEFER, places=2)
    assert [3, 1, 2, 4] == await positions(desk, parties)
    with pytest.raises(DefersUsedUp):
        await desk.guest_act(store.id, token, Action.DEFER, places=1)
    await desk.guest_act(store.id, token, Action.CANCEL)
    assert Status.CANCELLED is (await desk.place(store.id, token)).status
    assert [1, 2, 3] == await positions(desk, parties[1:])
    await check_agreement(desk, store)


@pytest.mark.parametrize(
    "action", [action for action in Action if action not in ("defer", "cancel")]
)
async def test_guests_do_nothing_else(desk: Desk, clock: Clock, action: Action) -> None:
    """Guests cannot call or seat themselves, or come back once gone."""
    store = await new_store(desk)
    (party,) = await crowd(desk, store, clock, 1)
    with pytest.raises(InvalidInput, match="action"):
        await desk.guest_act(store.id, desk.token(party), action)
    assert party == await desk.guest_party(store.id, desk.token(party))


@pytest.mark.parametrize("places", [0, -1, 11, True, 1.5, "2"])
async def test_places_out_of_range(desk: Desk, clock: Clock, places: Any) -> None:
    """A guest lets 1 to 10 parties go first."""
    store = await new_store(desk)
    (party,) = await crowd(desk, store, clock, 1)
    with pytest.raises(InvalidInput, match="places"):
        await desk.guest_act(store.id, desk.token(party), Action.DEFER, places=places)


async def test_by_size(desk: Desk) -> None:
    """A table for two goes to the first party that fits; the others keep their places."""
    store = await new_store(desk)
    sizes = [6, 4, 2, 2]
    parties = [await join(desk, store, size) for size in sizes]
    called = await desk.call_next(store.id, DINE, fits=2, by="host")
    assert called is not None
    assert parties[2].id == called.id
    assert [1, 2, 0, 3] == await positions(desk, parties)
    assert None is await desk.call_next(store.id, TAKEOUT, by="host")
    assert None is await desk.call_next(store.id, DINE, fits=1, by="host")


async def test_called_guest_waits_again(desk: Desk, clock: Clock) -> None:
    """A called guest who defers waits again, and the next party can be called."""
    store = await new_store(desk)
    parties = await crowd(desk, store, clock, 3)
    await desk.call_next(store.id, DINE, by="host")
    await desk.guest_act(store.id, desk.token(parties[0]), Action.DEFER, places=1)
    assert [2, 1, 3] == await positions(desk, parties)
    await check_agreement(desk, store)


@pytest.mark.parametrize("bad", [*BAD_TICKETS, "dine-in.x"])
async def test_bad_tokens(desk: Desk, bad: Any) -> None:
    """An invalid token is refused, without asking server or database."""
    for call in (desk.place, desk.guest_party):
        with pytest.raises(InvalidTicket):
            await call("han-river", bad)


async def test_foreign_token(desk: Desk, clock: Clock) -> None:
    """A guest of one store is unknown in another."""
    home, other = await new_store(desk), await new_store(desk)
    (party,) = await crowd(desk, home, clock, 1)
    with pytest.raises(InvalidTicket):
        await desk.place(other.id, desk.token(party))
    with pytest.raises(InvalidTicket):
        await desk.guest_act(other.id, desk.token(party), Action.CANCEL)


async def test_refused_writes_nothing(desk: Desk, clock: Clock) -> None:
    """A refused guest leaves no trace, neither in the record nor in the line."""
    store = await new_store(desk)
    await crowd(desk, store, clock, 1)
    revision = await revision_of(desk, store)
    refusals: list[tuple[type[Exception], str, str, int]] = [
        (UnknownStore, "nowhere", DINE, 2),
        (UnknownType, store.id, "bar", 2),
        (InvalidInput, store.id, DINE, 0),
        (InvalidInput, store.id, DINE, 500),
    ]
    for error, store_id, line_name, size in refusals:
        with pytest.raises(error):
            await desk.join(store_id, line_name, Wish(size=size))
    assert 1 == len(await desk.record.live(store.id, DINE))
    assert revision == await revision_of(desk, store)


async def test_closed_and_paused(desk: Desk, clock: Clock) -> None:
    """A closed or paused store accepts no guests; hosts may still add a walk-in."""
    store = await new_store(desk)
    await crowd(desk, store, clock, 1)
    for mode, error in ((StoreMode.PAUSED, StorePaused), (StoreMode.CLOSED, StoreClosed)):
        await desk.change_store(store.id, mode=mode, reason="rain")
        with pytest.raises(error, match="rain"):
            await join(desk, store)
        line = (await desk.waits(store.id))[0]
        assert (False, error.code) == (line.accepts, line.why_not)
    walk_in, _ = await desk.join(store.id, DINE, Wish(size=2), by="host", force=True)
    assert 2 == await position(desk, walk_in)


async def test_waits(desk: Desk, clock: Clock) -> None:
    """Before joining, guests see how many wait in each line, the wait, and if they may join."""
    types = (TYPES[0], WaitingType(name=TAKEOUT, title="Takeout", queue_limit=1))
    store = await new_store(desk, types=types, closes_at="22:00")
    await seatings(desk, store, clock, MINUTES)
    parties = await crowd(desk, store, clock, 4)
    await do(desk, parties[0], Action.CALL)
    await join(desk, store, line_name=TAKEOUT)
    with pytest.raises(LineFull):
        await join(desk, store, line_name=TAKEOUT)
    dine, takeout = await desk.waits(store.id)
    assert (DINE, "Dine in", 3, 1, 12) == (
        dine.name,
        dine.title,
        dine.waiting,
        dine.called,
        dine.wait_minutes,
    )
    assert (True, None) == (dine.accepts, dine.why_not)
    assert (1, False, "line_full") == (takeout.waiting, takeout.accepts, takeout.why_not)
    clock.step(3600 * 3 + 1500)  # 21:55 and a little
    with pytest.raises(PastClosing):
        await join(desk, store)
    assert "past_closing" == (await desk.waits(store.id))[0].why_not


async def test_watchers_see_every_change(desk: Desk) -> None:
    """Every change in a store changes its revision; nothing else does."""
    store, other = await new_store(desk), await new_store(desk)
    seen = {await revision_of(desk, store)}
    party = await join(desk, store)
    seen.add(await revision_of(desk, store))
    for action in (Action.CALL, Action.SEAT, Action.UNDO, Action.NO_SHOW, Action.RESTORE):
        await do(desk, party, action)
        seen.add(await revision_of(desk, store))
    await desk.change_store(store.id, mode=StoreMode.PAUSED)
    seen.add(await revision_of(desk, store))
    named, _ = await desk.join(store.id, TAKEOUT, Wish(size=2, name="Kim"), by="host", force=True)
    seen.add(await revision_of(desk, store))
    await desk.erase(store.id, named.id, by="host")
    seen.add(await revision_of(desk, store))
    assert 10 == len(seen)
    with pytest.raises(WrongStatus):
        await do(desk, party, Action.RESTORE)
    assert max(seen) == await revision_of(desk, store)
    assert 0 == await revision_of(desk, other)


async def test_open_desk(database_url: str, tmp_path: Path, valkey: Server) -> None:
    """A desk opens from settings, repairs what it finds, and closes everything it opened."""
    settings = Settings(desk_database=database_url, data_dir=tmp_path)
    ring = KeyRing([SECRET])
    before = asyncio.all_tasks()
    async with open_engine(valkey.url) as engine:
        async with open_desk(settings, engine, ring) as desk:
            store = await new_store(desk)
            party, token = await desk.join(store.id, DINE, Wish(size=2))
            await engine.drop(f"desk.{store.id}.{DINE}")
        async with open_desk(settings, engine, ring) as desk:
            await check_agreement(desk, store)
            assert 1 == (await desk.place(store.id, token)).position
            assert party == await desk.guest_party(store.id, token)
    assert before == asyncio.all_tasks()


async def test_default_database(tmp_path: Path, valkey: Server) -> None:
    """Without an address the record is a file in the data folder."""
    settings = Settings(data_dir=tmp_path)
    async with open_engine(valkey.url) as engine:
        async with open_desk(settings, engine, KeyRing([SECRET])) as desk:
            await desk.record.add_store(Store(id="han-river", title="Han River", types=TYPES))
        async with open_desk(settings, engine, KeyRing([SECRET])) as desk:
            assert ["han-river"] == [store.id for store in await desk.record.stores()]
    assert (tmp_path / "desk.db").exists()
