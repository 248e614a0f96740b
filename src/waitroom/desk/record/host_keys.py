"""Host keys: each opens the desk of one store. In the record, so a lost Redis locks none out."""

from __future__ import annotations

import builtins
from dataclasses import dataclass

from sqlalchemy import delete, func, insert, select

from waitroom.credentials.bearer_keys import BearerKey, BearerKeys, Stored, draw, mark_of
from waitroom.desk.inputs import needed_text
from waitroom.desk.record.database import Database
from waitroom.desk.record.stores import read_store
from waitroom.desk.record.tables import host_keys
from waitroom.errors import InvalidInput, UnknownKey

MOST_KEYS = 100
"""Per store."""

PREFIX = "wrh_"


@dataclass(frozen=True, slots=True, kw_only=True)
class HostKey(BearerKey):
    """A key of the hosts of one store."""

    store: str


class HostKeys(BearerKeys[HostKey]):
    """The keys of all stores."""

    def __init__(self, database: Database) -> None:
        super().__init__(PREFIX)
        self._database = database

    async def create(self, store_id: str, name: str) -> tuple[str, HostKey]:
        """Make a key; return its text, which is never shown again, and its record."""
        name = needed_text("name", name, 80)
        if name.lower() == "guest":
            raise InvalidInput("name", "'guest' is what histories call guests; take another one")
        new = draw(PREFIX)
        key = HostKey(
            id=new.id,
            store=store_id,
            name=name,
            created_ms=new.created_ms,
            mark=mark_of(new.digest),
        )
        async with self._database.change() as connection:
            await read_store(connection, store_id)
            count = select(func.count()).select_from(host_keys)
            keys = await connection.execute(count.where(host_keys.c.store == store_id))
            if keys.scalar_one() >= MOST_KEYS:
                raise InvalidInput("name", f"the store has {MOST_KEYS} keys; revoke some first")
            await connection.execute(
                insert(host_keys).values(
                    id=key.id,
                    store=store_id,
                    name=name,
                    hash=new.digest.hex(),
                    created_ms=key.created_ms,
                )
            )
        self.changed()
        return new.text, key

    async def list(self, store_id: str) -> tuple[HostKey, ...]:
        """Return the keys of a store, oldest first, as they are now."""
        async with self._database.look() as connection:
            await read_store(connection, store_id)
        stored = (await self.read(now=True)).values()
        keys = [entry.key for entry in stored if entry.key.store == store_id]
        return tuple(sorted(keys, key=lambda key: (key.created_ms, key.id)))

    async def revoke(self, store_id: str, key_id: str) -> HostKey:
        """Remove a key; other processes refuse it within `FRESH_S`."""
        known = (await self.read(now=True)).get(key_id)
        if known is None or known.key.store != store_id:
            raise UnknownKey(key_id, store=store_id)
        async with self._database.change() as connection:
            await connection.execute(delete(host_keys).where(host_keys.c.id == key_id))
        self.changed(removed=key_id)
        return known.key

    async def load(self) -> builtins.list[Stored[HostKey]]:
        """Return all keys from the database."""
        async with self._database.look() as connection:
            rows = (await connection.execute(select(host_keys))).all()
        return [
            _stored(row.id, row.store, row.name, row.created_ms, bytes.fromhex(row.hash))
            for row in rows
        ]


def _stored(key_id: str, store: str, name: str, created_ms: int, digest: bytes) -> Stored[HostKey]:
    mark = mark_of(digest)
    key = HostKey(id=key_id, store=store, name=name, created_ms=created_ms, mark=mark)
    return Stored(key, digest)
