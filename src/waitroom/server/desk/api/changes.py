"""What changes stores and their keys, each with its line in the audit log. No secrets in that."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Any

from waitroom.desk.models import Store, StoreMode, WaitingType
from waitroom.desk.record.host_keys import HostKey
from waitroom.engine.api_keys import Role
from waitroom.engine.audit import Entry
from waitroom.errors import InvalidInput, Unavailable
from waitroom.server.context import Server
from waitroom.server.desk.api import host_schemas as h
from waitroom.server.desk.api.auth import HostWho, desk_of

_LOG = logging.getLogger("waitroom.audit")
_FOR_ADMINS = {"title", "time_zone", "keep_phones_days", "webhook_url", "webhook_secret"}
_NULLABLE = {"reason", "closes_at", "webhook_url", "webhook_secret", "version"}
_SECRET = {"webhook_url", "webhook_secret"}  # an address may hold a key too


async def audit(server: Server, who: HostWho, action: str, **detail: Any) -> None:
    """Write what was done to the audit log and to the process log.

    What was done stays done if the log cannot be written at that moment, so that is no error.
    """
    role = who.role or "host"
    _LOG.info("audit", extra={"by": who.key_id, "action": action, "room": None, "detail": detail})
    entry = Entry(
        key_id=who.key_id,
        key_name=who.name,
        role=role,
        action=action,
        detail=detail,
        address=who.address,
    )
    try:
        await server.audit.append(entry)
    except Unavailable:
        _LOG.exception("could not write the audit log")


async def create(server: Server, who: HostWho, body: h.NewStore) -> Store:
    """Make a store."""
    given = _given(body)
    given.pop("version", None)
    lines = [h.TypeChange(name="dine-in", title="Dine in")] if body.types is None else body.types
    given["types"] = _merged((), lines)
    made = await desk_of(server).add_store(Store(id=body.id, **given))
    await audit(server, who, "store.create", store=made.id, title=made.title)
    return made


async def change(server: Server, who: HostWho, store_id: str, body: h.StoreChange) -> Store:
    """Change a store; with a version, only if nobody else did since."""
    given = _given(body)
    version = given.pop("version", None)
    if not given:
        raise InvalidInput("body", "give at least one field to change")
    desk = desk_of(server)
    old = await desk.record.store(store_id)
    more = sorted(_FOR_ADMINS & given.keys())
    if body.types is not None:
        given["types"] = _merged(old.types, body.types)
        more += [one.name for one in given["types"] if old.type(one.name) is None]
        # Lines that are not named stay, so two hosts who change two lines must not cross.
        version = version or old.version
    if more:
        who.need(store_id, Role.ADMIN)
    new = await desk.change_store(store_id, version=version, **given)
    changed = {
        name: "…" if name in _SECRET else {"old": _plain(old, name), "new": _plain(new, name)}
        for name in given
        if getattr(old, name) != getattr(new, name)
    }
    if changed:
        await audit(server, who, "store.change", store=store_id, changed=changed)
    return new


async def make_key(server: Server, who: HostWho, store: str, name: str) -> tuple[str, HostKey]:
    """Make a host key; its text is in no log."""
    text, made = await desk_of(server).hosts.create(store, name)
    await audit(server, who, "host.create", store=store, id=made.id, name=made.name)
    return text, made


async def revoke_key(server: Server, who: HostWho, store: str, key_id: str) -> None:
    """Revoke a host key."""
    gone = await desk_of(server).hosts.revoke(store, key_id)
    await audit(server, who, "host.revoke", store=store, id=gone.id, name=gone.name)


def _given(body: h.StoreChange) -> dict[str, Any]:
    """Return the fields that were sent; null is a value only where nothing can be one."""
    found = {name: getattr(body, name) for name in body.model_fields_set if name != "id"}
    for name, value in found.items():
        if value is None and name not in _NULLABLE:
            raise InvalidInput(name, "must not be null; leave it out to keep it as it is")
    if "mode" in found:
        found["mode"] = StoreMode(found["mode"])
    return found


def _merged(old: tuple[WaitingType, ...], given: list[h.TypeChange]) -> tuple[WaitingType, ...]:
    """Return the lines of a store: those that are named changed or added, the others as before."""
    lines = {one.name: one for one in old}
    if len({one.name for one in given}) < len(given):
        raise InvalidInput("types", "two lines have the same name")
    for one in given:
        known = lines.get(one.name, WaitingType(name=one.name, title=one.title or one.name))
        sent = {name: getattr(one, name) for name in one.model_fields_set if name != "name"}
        for name, value in sent.items():
            if value is None and name != "queue_limit":
                raise InvalidInput(f"types.{name}", "must not be null; leave it out to keep it")
        lines[one.name] = replace(known, **sent)
    return tuple(lines.values())


def _plain(store: Store, name: str) -> Any:
    """Return a field as the log keeps it."""
    value = getattr(store, name)
    if name != "types":
        return value
    return {one.name: [one.title, one.queue_limit, one.largest_party] for one in value}
