"""Requests of admins: the stores, and the keys of their hosts."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Response

from waitroom.operations import stores
from waitroom.server.context import Here
from waitroom.server.desk import changes
from waitroom.server.desk.access import desk_of
from waitroom.server.desk.api.auth import SIGNED, Admin, StoreAdmin
from waitroom.server.desk.api.bodies import small_body
from waitroom.server.desk.bodies.guest_schemas import StoreId
from waitroom.server.desk.bodies.host_schemas import (
    HostKeyMade,
    HostKeysBody,
    NewHost,
    NewStore,
    StoreRecord,
    Stores,
)
from waitroom.server.desk.bodies.hosts import host_key_body, store_record
from waitroom.server.http.openapi import problems

router = APIRouter(
    prefix="/v1/stores",
    tags=["desk admin"],
    dependencies=[*SIGNED, Depends(small_body)],
    responses=problems(400, 401, 403, 404, 408, 409, 413, 422, 429, 503),
)


@router.get("", operation_id="listStores")
async def list_stores(server: Here, _: Admin) -> Stores:
    """Return all stores with their settings."""
    listed = await desk_of(server).record.stores()
    return Stores(stores=[store_record(store, secrets=True) for store in listed])


@router.post("", operation_id="createStore", status_code=201)
async def create_store(
    server: Here, caller: Admin, body: NewStore, response: Response
) -> StoreRecord:
    """Make a store; without `types` it has one line, `dine-in`."""
    made = await changes.create(server, caller, body)
    response.headers["Location"] = f"/v1/stores/{made.id}"
    return store_record(made, secrets=True)


@router.get("/{store}/hosts", operation_id="listHosts")
async def list_hosts(server: Here, _: StoreAdmin, store: StoreId) -> HostKeysBody:
    """Return the host keys of a store, without their secrets."""
    keys = await desk_of(server).hosts.list(store)
    return HostKeysBody(hosts=[host_key_body(key) for key in keys])


@router.post("/{store}/hosts", operation_id="createHost", status_code=201)
async def create_host(
    server: Here, caller: StoreAdmin, store: StoreId, body: NewHost
) -> HostKeyMade:
    """Make a host key; this answer is the only place where it is shown."""
    keys, trail = desk_of(server).hosts, changes.trail_of(server, caller)
    text, made = await stores.create_host_key(keys, trail, store, body.name)
    return HostKeyMade(key=text, **host_key_body(made).model_dump())


@router.delete("/{store}/hosts/{key_id}", operation_id="revokeHost", status_code=204)
async def revoke_host(
    server: Here, caller: StoreAdmin, store: StoreId, key_id: Annotated[str, Path(max_length=64)]
) -> None:
    """Revoke a host key; every server refuses it within two seconds, and soon ends its streams."""
    keys, trail = desk_of(server).hosts, changes.trail_of(server, caller)
    await stores.revoke_host_key(keys, trail, store, key_id)
