"""API keys: make and revoke them, and see which are in use. Their text is in no log."""

from __future__ import annotations

from waitroom.credentials.api_keys import ApiKey
from waitroom.credentials.roles import Role
from waitroom.engine.api_keys import ApiKeys
from waitroom.engine.audit import Audit, Log
from waitroom.operations.trail import Trail

_NEWEST = 500


async def create(keys: ApiKeys, trail: Trail, name: str, role: Role) -> tuple[str, ApiKey]:
    """Make an API key; return its text, which cannot be shown again, and its record."""
    text, key = await keys.create(name, role)
    await trail.record("key.create", id=key.id, name=key.name, role=key.role)
    return text, key


async def revoke(keys: ApiKeys, trail: Trail, key_id: str) -> ApiKey:
    """Revoke an API key."""
    key = await keys.revoke(key_id)
    await trail.record("key.revoke", id=key.id, name=key.name)
    return key


async def last_seen(log: Audit) -> dict[str, int]:
    """Return when each key last signed in or did something, as far as the newest entries show.

    Requests that only read leave no entry.
    """
    seen: dict[str, int] = {}
    for stream in Log:
        for entry in (await log.page(limit=_NEWEST, log=stream)).entries:
            seen[entry.key_id] = max(entry.at_ms, seen.get(entry.key_id, 0))
    return seen
