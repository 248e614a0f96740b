"""Changes of stores and their keys: from the body of a request to the desk's operations."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from waitroom.credentials.roles import Role
from waitroom.desk.models import OnSite, Store, StoreMode, WaitingType
from waitroom.errors import InvalidInput
from waitroom.operations import stores
from waitroom.operations.trail import Actor, Trail, Way
from waitroom.server.context import Server
from waitroom.server.desk.access import HostCaller, desk_of
from waitroom.server.desk.bodies.host_schemas import NewStore, StoreChange, TypeChange

_FOR_ADMINS = {
    "title",
    "time_zone",
    "country",
    "keep_phones_days",
    "webhook_url",
    "webhook_secret",
}
_NULLABLE = {"reason", "closes_at", "webhook_url", "webhook_secret", "version", "joins_per_hour"}


async def create(server: Server, caller: HostCaller, body: NewStore) -> Store:
    """Make a store."""
    given = _given(body)
    given.pop("version", None)
    lines = [TypeChange(name="dine-in", title="Dine in")] if body.types is None else body.types
    given["types"] = _merged((), lines)
    store = Store(id=body.id, **given)
    return await stores.create(desk_of(server).record, trail_of(server, caller), store)


async def change(server: Server, caller: HostCaller, store_id: str, body: StoreChange) -> Store:
    """Change a store; with a version, only if nobody else changed it since."""
    given = _given(body)
    version = given.pop("version", None)
    if not given:
        raise InvalidInput("body", "give at least one field to change")
    old = await desk_of(server).record.store(store_id)
    needs_admin = bool(_FOR_ADMINS & given.keys())
    if body.types is not None:
        given["types"] = _merged(old.types, body.types)
        needs_admin |= any(old.waiting_type(line.name) is None for line in given["types"])
        # Lines that are not named stay as read, so two hosts changing two lines must not overlap.
        version = version or old.version
    if needs_admin:
        caller.need(store_id, Role.ADMIN)
    return await change_fields(server, caller, old, given, version)


async def change_fields(
    server: Server,
    caller: HostCaller,
    old: Store,
    given: dict[str, Any],
    version: int | None = None,
) -> Store:
    """Change fields of a store that the caller may change."""
    return await stores.change(desk_of(server), trail_of(server, caller), old, given, version)


def trail_of(server: Server, caller: HostCaller, way: Way | None = None) -> Trail:
    """Return the audit log, signed by whoever sends a request."""
    way = way or (Way.PAGE if caller.form_token else Way.API)
    actor = Actor(caller.key_id, caller.name, caller.role or "host", way, caller.address)
    return Trail(server.audit, actor)


def _given(body: StoreChange) -> dict[str, Any]:
    """Return the fields that were sent; null is allowed only for fields that can be empty."""
    given = {name: getattr(body, name) for name in body.model_fields_set if name != "id"}
    for name, value in given.items():
        if value is None and name not in _NULLABLE:
            raise InvalidInput(name, "must not be null; leave it out to keep it as it is")
    if "mode" in given:
        given["mode"] = StoreMode(given["mode"])
    if "on_site" in given:
        given["on_site"] = OnSite(given["on_site"])
    return given


def _merged(old: tuple[WaitingType, ...], given: list[TypeChange]) -> tuple[WaitingType, ...]:
    """Return the lines of a store: named ones changed or added, the others as before."""
    lines = {line.name: line for line in old}
    if len({change.name for change in given}) < len(given):
        raise InvalidInput("types", "two lines have the same name")
    for change in given:
        new = WaitingType(name=change.name, title=change.title or change.name)
        sent = {name: getattr(change, name) for name in change.model_fields_set if name != "name"}
        for name, value in sent.items():
            if value is None and name != "queue_limit":
                raise InvalidInput(f"types.{name}", "must not be null; leave it out to keep it")
        lines[change.name] = replace(lines.get(change.name, new), **sent)
    return tuple(lines.values())
