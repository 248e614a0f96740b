"""Who calls for a store: a host by the key of that store, or somebody with an API key.

The key comes as `Authorization: Bearer`, or stands behind the cookie of the console. Host keys are
in the desk's database, so a lost or absent Redis locks no host out. The key of another store is
refused the same whether a store is there or not, so it learns nothing.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, TypeAlias

from fastapi import Depends, Request
from fastapi.security import HTTPBearer

from waitroom.desk.desk import Desk
from waitroom.desk.record.host_keys import PREFIX, HostKey
from waitroom.engine.api_keys import Role
from waitroom.errors import Forbidden, TooMany, Unauthorized
from waitroom.server.context import Here, Server
from waitroom.server.desk.api.schemas import StoreId
from waitroom.server.desk.console import session
from waitroom.server.http import auth
from waitroom.server.pages.forms import check_own_form

_SAFE = ("GET", "HEAD")

# Only for the OpenAPI document: its own errors would not have our shape.
_scheme = HTTPBearer(
    scheme_name="HostKey",
    bearerFormat="wrh_…",
    description="The key of a store's hosts, or an API key: viewers read, operators act.",
    auto_error=False,
)
SIGNED = [Depends(_scheme)]
"""For a router: says in the OpenAPI document that all its routes need a key."""


@dataclass(frozen=True, slots=True)
class HostWho:
    """Somebody who showed a good key: of one store, or an API key, which has a role."""

    key_id: str
    name: str
    address: str
    store: str | None = None
    role: Role | None = None
    form_token: str = ""
    """Of a session in a browser: what its forms must carry."""

    def need(self, store: str, role: Role) -> None:
        """Refuse another store's key, or a role that is too low; hosts act as operators do."""
        if self.role is None:
            if self.store != store:
                raise Forbidden("this key is not of this store")
            if role is Role.ADMIN:
                raise Forbidden("this needs an API key of the role admin; yours is of a host")
        elif not self.role.allows(role):
            raise Forbidden(f"this needs a key of the role {role}; yours is of a {self.role}")


def desk_of(server: Server) -> Desk:
    """Return the desk of a server that has one."""
    assert server.desk is not None  # noqa: S101 - its routes are there only then
    return server.desk


async def host_by_key(server: Server, text: str, address: str) -> HostWho:
    """Return whose key `text` is; a bad one is refused, and counted against the address."""
    if not text.startswith(PREFIX):
        who = await auth.who_is(server, text, address)
        return HostWho(who.key.id, who.key.name, address, role=who.key.role)
    found: HostKey | None = await desk_of(server).hosts.find(text)
    if found is not None:
        return HostWho(found.id, found.name, address, store=found.store)
    wait_s = server.bad_keys.take(address)
    if wait_s:
        server.counters.limited("keys")
        raise TooMany("too many bad keys from this address", math.ceil(wait_s))
    raise Unauthorized("this host key is not known; it may have been revoked")


async def who_hosts(server: Server, request: Request, store: str) -> HostWho:
    """Return who calls, by their key or by the session of the store's console."""
    address = auth.address_of(server, request)
    if "authorization" in request.headers:
        return await host_by_key(server, auth.bearer(request), address)
    signed_in = await session.current(server, request, store)
    if signed_in is None:
        raise Unauthorized("send the key of this store, as `Authorization: Bearer wrh_…`")
    if request.method not in _SAFE:
        check_own_form(server, request)  # a browser sends its cookie for other sites' pages too
    key, token = signed_in
    if isinstance(key, HostKey):
        return HostWho(key.id, key.name, address, store=key.store, form_token=token)
    return HostWho(key.id, key.name, address, role=key.role, form_token=token)


def needs(role: Role) -> Callable[..., Awaitable[HostWho]]:
    """Make the dependency of a store's routes that need a role; a host counts as an operator."""

    async def dependency(request: Request, server: Here, store: StoreId) -> HostWho:
        who = await who_hosts(server, request, store)
        who.need(store, role)
        return who

    return dependency


async def admin_of_all(request: Request, server: Here) -> HostWho:
    """Return an admin; for routes that are about no store in particular."""
    who = await host_by_key(server, auth.bearer(request), auth.address_of(server, request))
    who.need("", Role.ADMIN)
    return who


Reader: TypeAlias = Annotated[HostWho, Depends(needs(Role.VIEWER))]
Host: TypeAlias = Annotated[HostWho, Depends(needs(Role.OPERATOR))]
StoreAdmin: TypeAlias = Annotated[HostWho, Depends(needs(Role.ADMIN))]
Admin: TypeAlias = Annotated[HostWho, Depends(admin_of_all)]
