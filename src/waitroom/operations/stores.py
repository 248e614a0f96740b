"""Stores of the desk and the keys of their hosts: make, change and revoke them."""

from __future__ import annotations

from typing import Any

from waitroom.desk.desk import Desk, Repaired
from waitroom.desk.models import Store
from waitroom.desk.record.host_keys import HostKey, HostKeys
from waitroom.desk.record.record import Record
from waitroom.operations.trail import Trail

_SECRET = {"webhook_url", "webhook_secret"}  # an address may hold a key too


async def create(record: Record, trail: Trail, store: Store) -> Store:
    """Make a store; its lines go live with their first party."""
    created = await record.add_store(store)
    await trail.record("store.create", store=created.id, title=created.title)
    return created


async def change(
    desk: Desk, trail: Trail, old: Store, changes: dict[str, Any], version: int | None = None
) -> Store:
    """Change a store; with `version`, only if nobody else changed it since."""
    new = await desk.change_store(old.id, version=version, **changes)
    changed = {
        name: "…" if name in _SECRET else {"old": _plain(old, name), "new": _plain(new, name)}
        for name in changes
        if getattr(old, name) != getattr(new, name)
    }
    if changed:
        await trail.record("store.change", store=old.id, changed=changed)
    return new


async def rebuild(desk: Desk, trail: Trail, store_id: str | None) -> Repaired:
    """Bring the live lines of a store, or of all, to what the record says."""
    repaired = await desk.repair(store_id, forced=True)
    await trail.record(
        "desk.rebuild",
        store=store_id,
        lines=repaired.lines,
        settled=repaired.settled,
        removed=repaired.removed,
    )
    return repaired


async def create_host_key(
    keys: HostKeys, trail: Trail, store_id: str, name: str
) -> tuple[str, HostKey]:
    """Make a host key; return its text, which is in no log, and its record."""
    text, key = await keys.create(store_id, name)
    await trail.record("host.create", store=store_id, id=key.id, name=key.name)
    return text, key


async def revoke_host_key(keys: HostKeys, trail: Trail, store_id: str, key_id: str) -> HostKey:
    """Revoke a host key."""
    key = await keys.revoke(store_id, key_id)
    await trail.record("host.revoke", store=store_id, id=key.id, name=key.name)
    return key


def _plain(store: Store, name: str) -> Any:
    """Return a field as the log keeps it."""
    if name != "types":
        return getattr(store, name)
    return {line.name: [line.title, line.queue_limit, line.largest_party] for line in store.types}
