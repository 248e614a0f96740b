"""Who acts for a store: a host with that store's key, or somebody with an API key.

The key comes as `Authorization: Bearer`, or from the cookie of the console. Host keys are in the
desk's database, so a lost or absent Redis locks no host out. The key of another store is refused
in the same way whether or not a store exists, so its holder learns nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from fastapi import Request

from waitroom.credentials.roles import Role
from waitroom.desk.desk import Desk
from waitroom.desk.record.host_keys import PREFIX, HostKey
from waitroom.errors import Forbidden, TooMany, Unauthorized
from waitroom.server.context import Server
from waitroom.server.desk import session
from waitroom.server.http import auth
from waitroom.server.pages.forms import check_own_form

_SAFE = ("GET", "HEAD")


@dataclass(frozen=True, slots=True)
class HostCaller:
    """Somebody who showed a valid key: a host key of one store, or an API key, which has a role."""

    key_id: str
    name: str
    address: str
    store: str | None = None
    role: Role | None = None
    form_token: str = ""
    """The CSRF token that forms of their browser session must carry."""

    def need(self, store: str, role: Role) -> None:
        """Refuse another store's key, or a role that is too low; hosts act as operators do."""
        if self.role is None:
            if self.store != store:
                raise Forbidden("this key belongs to another store")
            if role is Role.ADMIN:
                raise Forbidden("this needs an API key of the role admin; yours is of a host")
        elif not self.role.allows(role):
            raise Forbidden(f"this needs a key of the role {role}; yours is of a {self.role}")


def desk_of(server: Server) -> Desk:
    """Return the desk of a server that has one."""
    assert server.desk is not None  # noqa: S101 - its routes exist only then
    return server.desk


async def caller_by_key(server: Server, text: str, address: str) -> HostCaller:
    """Return the owner of the key `text`; a bad key is refused, and counted for the address."""
    if not text.startswith(PREFIX):
        who = await auth.who_is(server, text, address)
        return HostCaller(who.key.id, who.key.name, address, role=who.key.role)
    key = await desk_of(server).hosts.find(text)
    if key is not None:
        return HostCaller(key.id, key.name, address, store=key.store)
    wait_s = server.bad_keys.take(server.proxies.network(address))
    if wait_s:
        server.counters.limited("keys")
        raise TooMany("too many bad keys from this address", math.ceil(wait_s))
    raise Unauthorized("this host key is not known; it may have been revoked")


async def caller_of(server: Server, request: Request, store: str) -> HostCaller:
    """Return the sender of a request, by their key or by the session of the store's console."""
    address = auth.address_of(server, request)
    if "authorization" in request.headers:
        return await caller_by_key(server, auth.bearer(request), address)
    signed_in = await session.current(server, request, store)
    if signed_in is None:
        raise Unauthorized("send the key of this store, as `Authorization: Bearer wrh_…`")
    if request.method not in _SAFE:
        check_own_form(server, request)  # a browser sends its cookie for other sites too
    key, token = signed_in
    if isinstance(key, HostKey):
        return HostCaller(key.id, key.name, address, store=key.store, form_token=token)
    return HostCaller(key.id, key.name, address, role=key.role, form_token=token)
