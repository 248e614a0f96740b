"""One line in the record: its lock, its counters, who is next, and the sort key after a defer.

Every change of a line locks it first and reads afterwards, so that two hosts who act at the same
moment act one after the other. All of this runs in the caller's transaction.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import date
from typing import Any

from sqlalchemy import ColumnElement, Float, Select, and_, case, cast, func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from waitroom.desk.inputs import STORE_ID, TYPE_NAME
from waitroom.desk.models import SAMPLES_KEPT, Party, Status, Store, Turnover
from waitroom.desk.record.rows import party_of, store_of, type_of
from waitroom.desk.record.stores import read_store
from waitroom.desk.record.tables import is_live, parties, stores, waiting_types
from waitroom.errors import UnknownParty, UnknownStore, UnknownType

STEP = 8
"""The distance between two sort keys of a line: seven deferred parties fit behind one."""

_MOST_ID = 2**63
_PER_LOOK = 50


@dataclass(frozen=True, slots=True)
class LockedLine:
    """A line that is locked, and its store with this line alone."""

    store: Store
    name: str
    last_sort_key: int
    day: date | None
    last_number: int


def of_line(store_id: str, line_name: str) -> ColumnElement[bool]:
    """Return the condition for the parties of a line."""
    return and_(parties.c.store == store_id, parties.c.type == line_name)


async def lock_line(connection: AsyncConnection, store_id: str, line_name: str) -> LockedLine:
    """Lock a line until the transaction ends, and return it. On SQLite the file is locked."""
    if not isinstance(store_id, str) or not STORE_ID.fullmatch(store_id):
        raise UnknownStore(str(store_id))
    if not isinstance(line_name, str) or not TYPE_NAME.fullmatch(line_name):
        raise UnknownType(store_id, str(line_name))
    rows = await connection.execute(
        select(waiting_types)
        .where(
            waiting_types.c.store == store_id,
            waiting_types.c.name == line_name,
            waiting_types.c.listed,
        )
        .with_for_update()
    )
    row = rows.first()
    # Read after the lock: others may have changed the store until then.
    store = (await connection.execute(select(stores).where(stores.c.id == store_id))).first()
    if store is None:
        raise UnknownStore(store_id)
    if row is None:
        raise UnknownType(store_id, line_name)
    return LockedLine(
        store_of(store, [type_of(row)]), line_name, row.last_sort_key, row.day, row.last_number
    )


async def keep_counts(connection: AsyncConnection, line: LockedLine, **values: Any) -> None:
    """Write the counters of a line."""
    here = (waiting_types.c.store == line.store.id) & (waiting_types.c.name == line.name)
    await connection.execute(update(waiting_types).where(here).values(values))


async def last_number(connection: AsyncConnection, line: LockedLine, day: date) -> int:
    """Return the last number that was given on a day, 0 if none was."""
    here = (of_line(line.store.id, line.name), parties.c.day == day)
    last = await connection.execute(select(func.max(parties.c.number)).where(*here))
    return last.scalar() or 0


async def waiting_count(connection: AsyncConnection, line: LockedLine) -> int:
    """Return how many parties wait."""
    waiting = (of_line(line.store.id, line.name), parties.c.status == Status.WAITING)
    count = await connection.execute(select(func.count()).select_from(parties).where(*waiting))
    return count.scalar_one()


async def next_waiting(
    connection: AsyncConnection, line: LockedLine, fits: int | None
) -> Party | None:
    """Return the first party that waits, or the first of those that fit."""
    query = select(parties).where(
        of_line(line.store.id, line.name), parties.c.status == Status.WAITING
    )
    query = query if fits is None else query.where(parties.c.size <= fits)
    row = (await connection.execute(query.order_by(parties.c.sort_key).limit(1))).first()
    return None if row is None else party_of(row)


async def read_party(connection: AsyncConnection, store_id: str, party_id: int) -> Party:
    """Return a party of this store."""
    if isinstance(party_id, bool) or not isinstance(party_id, int) or not 0 < party_id < _MOST_ID:
        raise UnknownParty
    query = select(parties).where(parties.c.id == party_id, parties.c.store == store_id)
    row = (await connection.execute(query)).first()
    if row is None:
        await read_store(connection, store_id)
        raise UnknownParty
    return party_of(row)


async def sort_key_behind(connection: AsyncConnection, party: Party, count: int) -> int | None:
    """Return the sort key behind the n-th party that waits after this one; None if nobody does."""
    behind = and_(
        of_line(party.store, party.line_name),
        parties.c.status == Status.WAITING,
        parties.c.sort_key > party.sort_key,
    )
    query = select(parties.c.sort_key).where(behind).order_by(parties.c.sort_key).limit(count)
    keys = (await connection.execute(query)).scalars().all()
    return await _free_sort_key(connection, party, keys[-1] + 1) if keys else None


async def _free_sort_key(connection: AsyncConnection, party: Party, sort_key: int) -> int:
    """Return the first free sort key from here on; parties that left keep theirs, for a restore."""
    while True:
        query = select(parties.c.sort_key).where(
            of_line(party.store, party.line_name), parties.c.sort_key >= sort_key
        )
        taken = await connection.execute(query.order_by(parties.c.sort_key).limit(_PER_LOOK))
        free = sort_key
        for taken_key in taken.scalars():
            if taken_key > free:
                return free
            free = taken_key + 1
        if free < sort_key + _PER_LOOK:
            return free
        sort_key = free


def listed(
    store_id: str, line_name: str | None, day: date | None, statuses: Collection[Status] | None
) -> Select[Any]:
    """Return the query for parties in order: all live ones, unless a day or statuses are given."""
    query = select(parties).where(parties.c.store == store_id)
    query = query if line_name is None else query.where(parties.c.type == line_name)
    query = query if day is None else query.where(parties.c.day == day)
    if statuses is not None:
        query = query.where(parties.c.status.in_([str(status) for status in statuses]))
    elif day is None:
        query = query.where(is_live)
    return query.order_by(parties.c.sort_key, parties.c.id)


async def read_turnover(connection: AsyncConnection, store_id: str, line_name: str) -> Turnover:
    """Return the turnover from the last seatings: per team, a party's own team included."""
    waited = parties.c.seated_ms - parties.c.registered_ms
    minutes = cast(case((waited > 0, waited), else_=0), Float) / 60_000.0
    last = (
        select((minutes / (parties.c.teams_ahead + 1)).label("minutes"))
        .where(of_line(store_id, line_name), parties.c.seated_ms.is_not(None))
        .order_by(parties.c.seated_ms.desc(), parties.c.id.desc())
        .limit(SAMPLES_KEPT)
        .subquery()
    )
    row = (await connection.execute(select(func.count(), func.avg(last.c.minutes)))).one()
    return Turnover(row[0], float(row[1] or 0.0))
