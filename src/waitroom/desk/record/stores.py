"""The stores in the record: read, added and changed, within a transaction of the caller's."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import Any

from sqlalchemy import exists, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from waitroom.desk.inputs import STORE_ID, checked_store
from waitroom.desk.models import Store, WaitingType
from waitroom.desk.record.rows import STORE_FIELDS, store_of, store_values, type_of, type_values
from waitroom.desk.record.tables import is_live, parties, stores, waiting_types
from waitroom.errors import InvalidInput, StoreExists, UnknownStore, VersionConflict

CHANGEABLE = frozenset({*STORE_FIELDS, "types"} - {"id", "version", "created_ms"})


async def read_store(connection: AsyncConnection, store_id: str) -> Store:
    """Return a store."""
    return await _read(connection, store_id, lock=False)


async def read_stores(connection: AsyncConnection) -> tuple[Store, ...]:
    """Return all stores, by their ids."""
    types: defaultdict[str, list[WaitingType]] = defaultdict(list)
    rows = select(waiting_types).where(waiting_types.c.listed)
    for row in await connection.execute(rows.order_by(waiting_types.c.position)):
        types[row.store].append(type_of(row))
    ordered = await connection.execute(select(stores).order_by(stores.c.id))
    return tuple(store_of(row, types[row.id]) for row in ordered)


async def add_store(connection: AsyncConnection, store: Store) -> None:
    """Write a new store."""
    known = select(stores.c.id).where(stores.c.id == store.id)
    if (await connection.execute(known)).first():
        raise StoreExists(store.id)
    await connection.execute(insert(stores).values(store_values(store)))
    for position, waiting_type in enumerate(store.types):
        await _add_type(connection, store.id, waiting_type, position)


async def change_store(
    connection: AsyncConnection, store_id: str, version: int | None, changes: dict[str, Any]
) -> Store:
    """Write the changes of a store, and return it; without a change nothing is written."""
    if unknown := sorted(set(changes) - CHANGEABLE):
        raise InvalidInput(unknown[0], "is not a field of a store that can be changed")
    before = await _read(connection, store_id, lock=True)
    if version is not None and version != before.version:
        raise VersionConflict(store_id, version, before.version, what="store")
    after = checked_store(replace(before, **changes))
    if after == before:
        return before
    if after.types != before.types:
        await _change_types(connection, before, after)
    after = replace(after, version=before.version + 1)
    values = store_values(after)
    await connection.execute(update(stores).where(stores.c.id == store_id).values(values))
    return after


async def _read(connection: AsyncConnection, store_id: str, *, lock: bool) -> Store:
    if not isinstance(store_id, str) or not STORE_ID.fullmatch(store_id):
        raise UnknownStore(str(store_id))
    query = select(stores).where(stores.c.id == store_id)
    # A weak lock: rows that refer to the store need not wait for it.
    query = query.with_for_update(key_share=True) if lock else query
    row = (await connection.execute(query)).first()
    if row is None:
        raise UnknownStore(store_id)
    types = await connection.execute(
        select(waiting_types)
        .where(waiting_types.c.store == store_id, waiting_types.c.listed)
        .order_by(waiting_types.c.position)
    )
    return store_of(row, map(type_of, types))


async def _change_types(connection: AsyncConnection, before: Store, after: Store) -> None:
    """Write the lines. Each is locked, so that nobody joins a line that is being removed."""
    rows = select(waiting_types.c.name).where(waiting_types.c.store == after.id)
    ordered = rows.order_by(waiting_types.c.name).with_for_update()
    known = set((await connection.execute(ordered)).scalars())
    for old in before.types:
        if after.waiting_type(old.name) is None:
            await _take_away(connection, after.id, old.name)
    for position, new in enumerate(after.types):
        if new.name not in known:
            await _add_type(connection, after.id, new, position)
            continue
        values = type_values(new) | {"listed": True, "position": position}
        await connection.execute(_update(after.id, new.name).values(values))


async def _take_away(connection: AsyncConnection, store_id: str, name: str) -> None:
    here = (parties.c.store == store_id) & (parties.c.type == name)
    if (await connection.execute(select(exists().where(here, is_live)))).scalar():
        raise InvalidInput("types", f"parties still wait in {name!r}; it can go when it is empty")
    await connection.execute(_update(store_id, name).values(listed=False))


async def _add_type(
    connection: AsyncConnection, store_id: str, waiting_type: WaitingType, position: int
) -> None:
    counts = {"listed": True, "position": position, "last_sort_key": 0, "last_number": 0}
    values = type_values(waiting_type) | counts | {"store": store_id}
    await connection.execute(insert(waiting_types).values(values))


def _update(store_id: str, name: str) -> Any:
    return update(waiting_types).where(
        waiting_types.c.store == store_id, waiting_types.c.name == name
    )
