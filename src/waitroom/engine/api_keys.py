"""API keys as stored in Redis: a hash of id → name, role, age and the hash of the secret."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from waitroom.credentials.api_keys import PREFIX, ApiKey, bootstrap_key, check_key_name
from waitroom.credentials.bearer_keys import BearerKeys, Stored, draw, mark_of
from waitroom.credentials.roles import Role
from waitroom.engine import keys
from waitroom.engine.runner import Runner
from waitroom.errors import InvalidInput, UnknownKey

MOST_KEYS = 1_000


class ApiKeys(BearerKeys[ApiKey]):
    """The keys of one server."""

    def __init__(self, runner: Runner, *, bootstrap: str | None = None) -> None:
        super().__init__(PREFIX, None if bootstrap is None else bootstrap_key(bootstrap))
        self._runner = runner

    async def create(self, name: str, role: Role) -> tuple[str, ApiKey]:
        """Make a key; return its text, which cannot be shown again, and its record."""
        check_key_name(name)
        if len(await self.read(now=True)) >= MOST_KEYS:
            raise InvalidInput("name", f"there are {MOST_KEYS} keys already; revoke some first")
        new = draw(PREFIX)
        key = ApiKey(id=new.id, name=name, role=Role(role), created_ms=new.created_ms)
        await self._runner.command("HSET", keys.KEYS, key.id, _write(key, new.digest))
        self.changed()
        return new.text, key

    async def list(self) -> tuple[ApiKey, ...]:
        """Return all stored keys, oldest first, as they are now."""
        stored = (await self.read(now=True)).values()
        return tuple(sorted((entry.key for entry in stored), key=lambda key: key.created_ms))

    async def revoke(self, key_id: str) -> ApiKey:
        """Remove a key; other processes stop accepting it within `FRESH_S`."""
        known = (await self.read(now=True)).get(key_id)
        if known is None or not await self._runner.command("HDEL", keys.KEYS, key_id):
            raise UnknownKey(key_id)
        self.changed(removed=key_id)
        return known.key

    async def load(self) -> Iterator[Stored[ApiKey]]:
        """Return all keys from Redis."""
        return _read_all(await self._runner.command("HGETALL", keys.KEYS))


def _write(key: ApiKey, digest: bytes) -> str:
    return json.dumps(
        {"name": key.name, "role": key.role, "created_ms": key.created_ms, "hash": digest.hex()},
        ensure_ascii=False,
    )


def _read_all(raw: Mapping[bytes, bytes]) -> Iterator[Stored[ApiKey]]:
    for key_id, text in raw.items():
        try:
            fields = json.loads(text)
            digest = bytes.fromhex(fields["hash"])
            key = ApiKey(
                id=key_id.decode(),
                name=str(fields["name"]),
                role=Role(fields["role"]),
                created_ms=int(fields["created_ms"]),
                mark=mark_of(digest),
            )
        except (ValueError, KeyError, TypeError):  # not ours, or from a newer Waitroom: ignore it
            continue
        yield Stored(key, digest)
