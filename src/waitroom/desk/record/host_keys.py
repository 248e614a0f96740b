"""Keys of hosts: each opens the desk of one store. In the record, so a lost Redis locks none out.

A key is `wrh_<id>_<secret>` and is shown once; only a hash is kept. Its secret has 256 random
bits, so a plain hash of it cannot be turned around.
"""

from __future__ import annotations

import asyncio
import builtins
import hashlib
import hmac
import re
import secrets
import time
from dataclasses import dataclass, field

from sqlalchemy import delete, func, insert, select

from waitroom.desk.inputs import needed_text
from waitroom.desk.record.database import Database
from waitroom.desk.record.stores import read_store
from waitroom.desk.record.tables import host_keys
from waitroom.errors import InvalidInput, UnknownKey

FRESH_S = 2.0
"""A check asks the database once in so long, and a revoked key may still work for so long."""

MOST_KEYS = 100
"""Of one store."""

PREFIX = "wrh_"
_KEY = re.compile(r"wrh_([0-9a-f]{10})_([A-Za-z0-9_-]{43})", re.ASCII)
_LONGEST = 256


@dataclass(frozen=True, slots=True)
class HostKey:
    """A key as it may be shown: without its secret."""

    id: str
    store: str
    name: str
    created_ms: int
    mark: str = field(default="", repr=False, compare=False)
    """Changes with the secret, so that a session made with another one can be told."""


@dataclass(frozen=True, slots=True)
class _Stored:
    key: HostKey
    digest: bytes


class HostKeys:
    """The keys of all stores, kept in this process for `FRESH_S`."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._nobody = secrets.token_bytes(32)
        self._stored: dict[str, _Stored] = {}
        self._fresh_until = -1.0
        self._asking: asyncio.Future[dict[str, _Stored]] | None = None

    async def create(self, store_id: str, name: str) -> tuple[str, HostKey]:
        """Make a key; return its text, which nobody can show again, and its record."""
        name = needed_text("name", name, 80)
        if name.lower() == "guest":
            raise InvalidInput("name", "'guest' is what histories call guests; take another one")
        key_id, secret = secrets.token_hex(5), secrets.token_urlsafe(32)
        digest = _digest(secret)
        # Of this machine's clock: it is shown to people and decides nothing.
        made = HostKey(key_id, store_id, name, time.time_ns() // 1_000_000, _mark(digest))
        async with self._database.change() as connection:
            await read_store(connection, store_id)
            count = select(func.count()).select_from(host_keys)
            known = await connection.execute(count.where(host_keys.c.store == store_id))
            if known.scalar_one() >= MOST_KEYS:
                raise InvalidInput("name", f"the store has {MOST_KEYS} keys; revoke some first")
            await connection.execute(
                insert(host_keys).values(
                    id=key_id,
                    store=store_id,
                    name=name,
                    hash=digest.hex(),
                    created_ms=made.created_ms,
                )
            )
        self._fresh_until = -1.0
        return f"{PREFIX}{key_id}_{secret}", made

    async def list(self, store_id: str) -> tuple[HostKey, ...]:
        """Return the keys of a store, oldest first, as they are now."""
        async with self._database.look() as connection:
            await read_store(connection, store_id)
        found = (one.key for one in (await self._read(now=True)).values())
        mine = [one for one in found if one.store == store_id]
        return tuple(sorted(mine, key=lambda one: (one.created_ms, one.id)))

    async def revoke(self, store_id: str, key_id: str) -> HostKey:
        """Remove a key; other processes refuse it within `FRESH_S`."""
        found = (await self._read(now=True)).get(key_id)
        if found is None or found.key.store != store_id:
            raise UnknownKey(key_id, store=store_id)
        async with self._database.change() as connection:
            await connection.execute(delete(host_keys).where(host_keys.c.id == key_id))
        self._stored.pop(key_id, None)
        self._fresh_until = -1.0
        return found.key

    async def find(self, text: str) -> HostKey | None:
        """Return the key that a caller shows, if it is one of ours.

        Whatever is wrong with it, the same work is done: nothing of a key can be guessed from
        how long the answer takes.
        """
        text = text[:_LONGEST]
        match = _KEY.fullmatch(text)
        key_id, secret = match.groups() if match else ("", text)
        found = (await self._read()).get(key_id)
        same = hmac.compare_digest(_digest(secret), found.digest if found else self._nobody)
        return found.key if found and same else None

    async def get(self, key_id: str) -> HostKey | None:
        """Return a key by its id, for sessions of the host page: None once it is revoked."""
        found = (await self._read()).get(key_id)
        return found.key if found else None

    async def _read(self, *, now: bool = False) -> dict[str, _Stored]:
        """Return all keys: one query in `FRESH_S`, however many callers and bad keys."""
        if not now and time.monotonic() < self._fresh_until:
            return self._stored
        # Who comes while a question is under way shares it, and also its failure.
        if now or self._asking is None:
            self._asking = asyncio.ensure_future(self._ask())
        return await asyncio.shield(self._asking)

    async def _ask(self) -> dict[str, _Stored]:
        asked, mine = time.monotonic(), asyncio.current_task()
        try:
            rows = await self._rows()
        finally:
            if self._asking is mine:
                self._asking = None
        self._stored = {one.key.id: one for one in rows}
        self._fresh_until = asked + FRESH_S
        return self._stored

    async def _rows(self) -> builtins.list[_Stored]:
        async with self._database.look() as connection:
            found = (await connection.execute(select(host_keys))).all()
        return [_stored(row.id, row.store, row.name, row.created_ms, row.hash) for row in found]


def _stored(key_id: str, store: str, name: str, created_ms: int, digest: str) -> _Stored:
    raw = bytes.fromhex(digest)
    return _Stored(HostKey(key_id, store, name, created_ms, _mark(raw)), raw)


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=32).digest()


def _mark(digest: bytes) -> str:
    return hashlib.blake2b(digest, digest_size=8).hexdigest()
