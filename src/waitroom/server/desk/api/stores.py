"""What admins call: the stores there are, and the keys of their hosts."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Response

from waitroom.desk.record.host_keys import HostKey
from waitroom.server.context import Here
from waitroom.server.desk.api import changes, views
from waitroom.server.desk.api import host_schemas as h
from waitroom.server.desk.api import schemas as b
from waitroom.server.desk.api.auth import SIGNED, Admin, StoreAdmin, desk_of
from waitroom.server.desk.api.guests import small_body
from waitroom.server.http.answers import moment
from waitroom.server.http.openapi import problems

router = APIRouter(
    prefix="/v1/stores",
    tags=["desk admin"],
    dependencies=[*SIGNED, Depends(small_body)],
    responses=problems(400, 401, 403, 404, 408, 409, 413, 422, 429, 503),
)


@router.get("")
async def list_stores(server: Here, _: Admin) -> h.Stores:
    """Return all stores with their settings."""
    found = await desk_of(server).record.stores()
    return h.Stores(stores=[views.store_record(one, secrets=True) for one in found])


@router.post("", status_code=201)
async def create_store(
    server: Here, who: Admin, body: h.NewStore, response: Response
) -> h.StoreRecord:
    """Make a store; without `types` it has one line, `dine-in`."""
    made = await changes.create(server, who, body)
    response.headers["Location"] = f"/v1/stores/{made.id}"
    return views.store_record(made, secrets=True)


@router.get("/{store}/hosts")
async def list_hosts(server: Here, _: StoreAdmin, store: b.StoreId) -> h.HostKeysBody:
    """Return the host keys of a store, without their secrets."""
    desk = desk_of(server)
    await desk.record.store(store)
    return h.HostKeysBody(hosts=[_shown(one) for one in await desk.hosts.list(store)])


@router.post("/{store}/hosts", status_code=201)
async def create_host(
    server: Here, who: StoreAdmin, store: b.StoreId, body: h.NewHost
) -> h.HostKeyMade:
    """Make a host key; this answer is the only place where it is shown."""
    text, made = await changes.create_key(server, who, store, body.name)
    return h.HostKeyMade(key=text, **_shown(made).model_dump())


@router.delete("/{store}/hosts/{key_id}", status_code=204)
async def revoke_host(
    server: Here, who: StoreAdmin, store: b.StoreId, key_id: Annotated[str, Path(max_length=64)]
) -> None:
    """Revoke a host key; every server refuses it within two seconds, and ends its streams soon."""
    await changes.revoke_key(server, who, store, key_id)


def _shown(key: HostKey) -> h.HostKeyBody:
    return h.HostKeyBody(id=key.id, name=key.name, created_at=moment(key.created_ms) or "")
