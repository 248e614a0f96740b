"""Keys that callers send as `Authorization: Bearer`: made, hashed, read and recognised.

A key is `<prefix><id>_<secret>` and is shown once; only a hash is stored. Its secret has 256 random
bits, so a plain hash cannot be reversed, and a slow hash would only help those who send bad keys in
bulk. Subclasses decide where keys are stored.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import re
import secrets
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

FRESH_S = 2.0
"""For this long a check costs no round trip, and a revoked key may still work."""

LONGEST = 256

IN_TEXT = re.compile(r"\b(wrh?_|whs_|whsec_)[\w+/=-]{6,}")
"""Finds keys of operators and hosts and secrets of webhooks in any text, in order to mask them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BearerKey:
    """A key as it may be shown: without its secret."""

    id: str
    name: str
    created_ms: int
    mark: str = field(default="", repr=False, compare=False)
    """Changes with the secret, so that a session made with another secret is recognised."""


Key = TypeVar("Key", bound=BearerKey)


@dataclass(frozen=True, slots=True)
class Stored(Generic[Key]):
    """A key with the hash of its secret."""

    key: Key
    digest: bytes


@dataclass(frozen=True, slots=True)
class Drawn:
    """A new key, before anybody has it: its id, its whole text, and the part that is stored."""

    id: str
    text: str = field(repr=False)
    digest: bytes = field(repr=False)
    created_ms: int


def draw(prefix: str) -> Drawn:
    """Make the text of a new key."""
    key_id, secret = secrets.token_hex(5), secrets.token_urlsafe(32)
    # By this machine's clock: it is shown to people and decides nothing.
    created_ms = time.time_ns() // 1_000_000
    return Drawn(key_id, f"{prefix}{key_id}_{secret}", digest_of(secret), created_ms)


def digest_of(text: str) -> bytes:
    """Return the stored form of a secret."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=32).digest()


def mark_of(digest: bytes) -> str:
    """Return a text that distinguishes a secret from another one, and may be in a cookie."""
    return hashlib.blake2b(digest, digest_size=8).hexdigest()


class BearerKeys(ABC, Generic[Key]):
    """Keys of one kind, cached in this process for `FRESH_S`."""

    def __init__(self, prefix: str, fixed: Stored[Key] | None = None) -> None:
        """Recognise keys of a prefix, and `fixed`, never stored, whose digest covers all of it."""
        self._pattern = re.compile(rf"{prefix}([0-9a-f]{{10}})_([A-Za-z0-9_-]{{43}})", re.ASCII)
        self._fixed = fixed
        self._nobody = secrets.token_bytes(32)  # the hash of no text at all
        self._stored: dict[str, Stored[Key]] = {}
        self._fresh_until = -1.0
        self._asking: asyncio.Future[dict[str, Stored[Key]]] | None = None

    async def find(self, text: str) -> Key | None:
        """Return the key that a caller sends, if it is one of ours.

        Whatever is wrong with it, the same work is done: the time that the answer takes reveals
        nothing about a key.
        """
        text = text[:LONGEST]
        fixed = self._fixed
        is_fixed = hmac.compare_digest(digest_of(text), fixed.digest if fixed else self._nobody)
        if fixed and is_fixed:
            return fixed.key
        match = self._pattern.fullmatch(text)
        key_id, secret = match.groups() if match else ("", text)
        known = (await self.read()).get(key_id)
        same = hmac.compare_digest(digest_of(secret), known.digest if known else self._nobody)
        return known.key if known and same else None

    async def get(self, key_id: str) -> Key | None:
        """Return a key by its id, for sessions of a page: None once it is revoked."""
        if self._fixed and key_id == self._fixed.key.id:
            return self._fixed.key
        known = (await self.read()).get(key_id)
        return known.key if known else None

    async def read(self, *, now: bool = False) -> dict[str, Stored[Key]]:
        """Return all stored keys: read once in `FRESH_S`, however many callers and bad keys."""
        if not now and time.monotonic() < self._fresh_until:
            return self._stored
        # Callers who come meanwhile share the read, and also its failure: if the answer hangs they
        # must not queue up behind each other.
        if now or self._asking is None:
            self._asking = asyncio.ensure_future(self._ask())
        return await asyncio.shield(self._asking)

    def changed(self, removed: str | None = None) -> None:
        """Read again at the next check; a removed key is refused here from now on."""
        if removed is not None:
            self._stored.pop(removed, None)
        self._fresh_until = -1.0

    @abstractmethod
    async def load(self) -> Iterable[Stored[Key]]:
        """Return all keys from where they are stored."""

    async def _ask(self) -> dict[str, Stored[Key]]:
        asked, this = time.monotonic(), asyncio.current_task()
        try:
            loaded = await self.load()
        finally:
            if self._asking is this:
                self._asking = None
        self._stored = {stored.key.id: stored for stored in loaded}
        self._fresh_until = asked + FRESH_S
        return self._stored
