"""API keys of operators: made, listed, revoked and recognised. Only hashes are stored.

A key is `wr_<id>_<secret>` and is shown once. Its secret has 256 random bits, so a plain hash of
it cannot be turned around, and a slow one would only help those who send bad keys in bulk.

The bootstrap key comes from the settings and is never stored: a lost Redis locks nobody out.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import re
import secrets
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from waitroom.engine import keys
from waitroom.engine.runner import Runner
from waitroom.errors import InvalidInput, UnknownKey

FRESH_S = 2.0
"""A check costs no round trip for so long, and a revoked key may still work for so long."""

MOST_KEYS = 1_000
SHORTEST_BOOTSTRAP = 24
_NAME = re.compile(r"[^\x00-\x1f\x7f\u2028\u2029]{1,80}")
_KEY = re.compile(r"wr_([0-9a-f]{10})_([A-Za-z0-9_-]{43})", re.ASCII)
_LONGEST = 256


class Role(StrEnum):
    """What a key may do; each includes the ones before it."""

    VIEWER = "viewer"
    OPERATOR = "operator"
    ADMIN = "admin"

    def allows(self, needed: Role) -> bool:
        """Tell whether this role includes `needed`."""
        order = tuple(Role)
        return order.index(self) >= order.index(needed)


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key as it may be shown: without its secret."""

    id: str
    name: str
    role: Role
    created_ms: int
    mark: str = field(default="", repr=False, compare=False)
    """Changes with the secret, so that a session made with another one can be told."""


@dataclass(frozen=True, slots=True)
class _Stored:
    key: ApiKey
    digest: bytes


BOOTSTRAP_ID = "settings"
"""The id of the key that the settings give; none that is made can have it."""


class ApiKeys:
    """The keys of one server, kept in this process for `FRESH_S`."""

    def __init__(self, runner: Runner, *, bootstrap: str | None = None) -> None:
        if bootstrap is not None and not SHORTEST_BOOTSTRAP <= len(bootstrap) <= _LONGEST:
            raise InvalidInput(
                "admin_key",
                f"takes {SHORTEST_BOOTSTRAP} to {_LONGEST} characters; make one with "
                "`echo wr_$(openssl rand -hex 32)`",
            )
        self._runner = runner
        # With none set, nothing can match: the digest is of no text at all.
        self._bootstrap = _digest(bootstrap) if bootstrap else secrets.token_bytes(32)
        self._nobody = secrets.token_bytes(32)
        self._stored: dict[str, _Stored] = {}
        self._fresh_until = -1.0
        self._asking: asyncio.Future[dict[str, _Stored]] | None = None

    async def create(self, name: str, role: Role) -> tuple[str, ApiKey]:
        """Make a key; return its text, which nobody can show again, and its record."""
        if not isinstance(name, str) or not _NAME.fullmatch(name) or name != name.strip():
            raise InvalidInput("name", "takes 1 to 80 printable characters, like 'box office'")
        if len(await self._read(now=True)) >= MOST_KEYS:
            raise InvalidInput("name", f"there are {MOST_KEYS} keys already; revoke some first")
        key_id, secret = secrets.token_hex(5), secrets.token_urlsafe(32)
        # Of this machine's clock: it is shown to people and decides nothing.
        made = ApiKey(key_id, name, Role(role), time.time_ns() // 1_000_000)
        await self._runner.command("HSET", keys.KEYS, key_id, _write(made, _digest(secret)))
        self._fresh_until = -1.0
        return f"wr_{key_id}_{secret}", made

    async def list(self) -> tuple[ApiKey, ...]:
        """Return all stored keys, oldest first, as they are now."""
        stored = await self._read(now=True)
        return tuple(sorted((one.key for one in stored.values()), key=lambda k: k.created_ms))

    async def revoke(self, key_id: str) -> ApiKey:
        """Remove a key; other processes refuse it within `FRESH_S`."""
        found = (await self._read(now=True)).get(key_id)
        if found is None or not await self._runner.command("HDEL", keys.KEYS, key_id):
            raise UnknownKey(key_id)
        self._stored.pop(key_id, None)
        return found.key

    async def find(self, text: str) -> ApiKey | None:
        """Return the key that a caller shows, if it is one of ours.

        Whatever is wrong with it, the same work is done: nothing of a key can be guessed from
        how long the answer takes.
        """
        text = text[:_LONGEST]
        is_bootstrap = hmac.compare_digest(_digest(text), self._bootstrap)
        if is_bootstrap:
            return self._own()
        match = _KEY.fullmatch(text)
        key_id, secret = match.groups() if match else ("", text)
        found = (await self._read()).get(key_id)
        same = hmac.compare_digest(_digest(secret), found.digest if found else self._nobody)
        return found.key if found and same else None

    async def get(self, key_id: str) -> ApiKey | None:
        """Return a key by its id, for sessions of the operator page: None once it is revoked."""
        if key_id == BOOTSTRAP_ID:
            return self._own()
        found = (await self._read()).get(key_id)
        return found.key if found else None

    def _own(self) -> ApiKey:
        return ApiKey(BOOTSTRAP_ID, BOOTSTRAP_ID, Role.ADMIN, 0, _mark(self._bootstrap))

    async def _read(self, *, now: bool = False) -> dict[str, _Stored]:
        """Return all keys: one round trip in `FRESH_S`, however many callers and bad keys."""
        if not now and time.monotonic() < self._fresh_until:
            return self._stored
        # Who comes while a question is under way shares it, and also its failure: a backend that
        # hangs must not let them queue up behind each other.
        if now or self._asking is None:
            self._asking = asyncio.ensure_future(self._ask())
        return await asyncio.shield(self._asking)

    async def _ask(self) -> dict[str, _Stored]:
        asked, mine = time.monotonic(), asyncio.current_task()
        try:
            raw = await self._runner.command("HGETALL", keys.KEYS)
        finally:
            if self._asking is mine:
                self._asking = None
        self._stored = dict(_read_all(raw))
        self._fresh_until = asked + FRESH_S
        return self._stored


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=32).digest()


def _mark(digest: bytes) -> str:
    return hashlib.blake2b(digest, digest_size=8).hexdigest()


def _write(key: ApiKey, digest: bytes) -> str:
    return json.dumps(
        {"name": key.name, "role": key.role, "created_ms": key.created_ms, "hash": digest.hex()},
        ensure_ascii=False,
    )


def _read_all(raw: Mapping[bytes, bytes]) -> Iterator[tuple[str, _Stored]]:
    for key_id, text in raw.items():
        try:
            one = json.loads(text)
            digest, made = bytes.fromhex(one["hash"]), int(one["created_ms"])
            key = ApiKey(key_id.decode(), str(one["name"]), Role(one["role"]), made, _mark(digest))
        except (ValueError, KeyError, TypeError):  # not ours, or of a newer Waitroom: no key
            continue
        yield key.id, _Stored(key, digest)
