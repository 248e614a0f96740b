"""What tests of the desk share: desks on real servers, and the comparison of line and record."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any

from tests.support.clock import SECRET, Clock, open_engine
from waitroom.desk.desk import Desk
from waitroom.desk.inputs import Wish
from waitroom.desk.live.line import room_of
from waitroom.desk.live.turnover import turnover_text
from waitroom.desk.models import Action, Party, Status, Store, WaitingType
from waitroom.desk.record.database import Database, open_database
from waitroom.desk.record.record import Record
from waitroom.engine import Engine, LineContents
from waitroom.tickets import KeyRing

DINE, TAKEOUT = "dine-in", "takeout"
TYPES = (WaitingType(name=DINE, title="Dine in"), WaitingType(name=TAKEOUT, title="Takeout"))


@asynccontextmanager
async def desk_on(database: Database, engine: Engine, clock: Clock) -> AsyncIterator[Desk]:
    """Open a desk that looks like another process to database and server."""
    record = Record(database, now_us=clock)
    async with aclosing(Desk(record, engine, KeyRing([SECRET]))) as desk:
        yield desk


@asynccontextmanager
async def opened(
    database_url: str | None, folder: Path, url: str, clock: Clock
) -> AsyncIterator[Desk]:
    """Open a desk with its own database and engine."""
    async with (
        open_database(database_url, folder) as database,
        open_engine(url, clock) as engine,
        desk_on(database, engine, clock) as desk,
    ):
        yield desk


async def new_store(desk: Desk, **changes: Any) -> Store:
    """Add a store that no other test has."""
    values: dict[str, Any] = {"title": "Han River", "types": TYPES} | changes
    return await desk.record.add_store(Store(id=f"s-{secrets.token_hex(6)}", **values))


async def join(desk: Desk, store: Store, size: int = 2, line_name: str = DINE) -> Party:
    """Make a party join."""
    party, _ = await desk.join(store.id, line_name, Wish(size=size))
    return party


async def crowd(desk: Desk, store: Store, clock: Clock, parties: int) -> list[Party]:
    """Make parties join, one second apart."""
    joined = []
    for _ in range(parties):
        clock.step(1)
        joined.append(await join(desk, store))
    return joined


async def do(desk: Desk, party: Party, *actions: Action, places: int | None = None) -> Party:
    """Make a host act on a party."""
    for action in actions:
        party = await desk.act(party.store, party.id, action, places=places, by="host")
    return party


async def seatings(desk: Desk, store: Store, clock: Clock, minutes: list[int]) -> None:
    """Make parties join an empty line one after another, each seated after so many minutes."""
    for wait in minutes:
        party = await join(desk, store)
        clock.step(60 * wait)
        await do(desk, party, Action.SEAT)


async def position(desk: Desk, party: Party) -> int:
    """Return what a party's guests are told about their position."""
    return (await desk.place(party.store, desk.token(party))).position


async def positions(desk: Desk, parties: list[Party]) -> list[int]:
    """Return what the guests of some parties are told."""
    return [await position(desk, party) for party in parties]


async def revision_of(desk: Desk, store: Store) -> int:
    """Return a number that differs after every change of a store's lines."""
    rooms = [room_of(store.id, line.name) for line in store.types]
    return sum(await desk.engine.revisions(rooms))


async def held_by(desk: Desk, store: Store, line_name: str = DINE) -> LineContents:
    """Return everything that a live line holds."""
    return await desk.engine.line(room_of(store.id, line_name))


async def check_agreement(desk: Desk, store: Store, line_name: str = DINE) -> None:
    """Fail unless live line and record have the same parties, order, states and turnover."""
    line = await held_by(desk, store, line_name)
    live = await desk.record.live(store.id, line_name)
    waiting = [party for party in live if party.status is Status.WAITING]
    assert [party.ticket for party in waiting] == sorted(line.waiting, key=line.waiting.__getitem__)
    assert {party.ticket: party.sort_key for party in waiting} == line.waiting
    assert {party.ticket for party in live if party.status is Status.CALLED} == line.called
    known = {ticket: line.revisions.get(ticket) for ticket in line.tickets}
    assert {party.ticket: party.revision for party in live} == known
    if live:
        assert turnover_text(await desk.record.turnover(store.id, line_name)) == line.turnover
