"""Who calls the operator API: the key behind `Authorization: Bearer wr_…`, its role and address.

Routes depend on `Viewer`, `Operator` or `Admin`; each gives them the `Who` to write into the audit
log. Bad keys are counted per address: after some of them that address must wait, but a good key
from there still works, otherwise one careless script would lock out its whole office.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, TypeAlias

from fastapi import Depends, Request
from fastapi.security import HTTPBearer

from waitroom.credentials.api_keys import ApiKey
from waitroom.credentials.named_users import User
from waitroom.credentials.roles import Role
from waitroom.errors import Forbidden, TooMany, Unauthorized
from waitroom.server.context import Here, Server

# Only for the OpenAPI document: its own errors would not have our shape.
_scheme = HTTPBearer(
    scheme_name="ApiKey",
    bearerFormat="wr_…",
    description="An API key, made with `waitroom key create`.",
    auto_error=False,
)


@dataclass(frozen=True, slots=True)
class Who:
    """Somebody who showed a good key, or whom a proxy names."""

    key: ApiKey
    """The key they showed; for a named user, a key that exists for this request alone."""

    address: str
    user: str | None = None
    """The name that a proxy gives them."""

    @classmethod
    def of_user(cls, user: User, role: Role, address: str) -> Who:
        """Return a named user, who acts as if they had a key of their role."""
        key = ApiKey(id=user.id, name=user.name, created_ms=0, role=role)
        return cls(key, address, user.name)

    def need(self, role: Role) -> None:
        """Refuse a role that is too low."""
        if self.key.role.allows(role):
            return
        if self.user is not None:
            raise Forbidden(f"this needs the role {role}; {self.user} is a {self.key.role}", role)
        own = self.key.role
        raise Forbidden(f"this needs a key of the role {role}; yours is of a {own}", role)


async def who_is(server: Server, text: str, address: str) -> Who:
    """Return the owner of the key `text`; a bad key is refused, and counted for the address."""
    key = await server.keys.find(text)
    if key is not None:
        return Who(key, address)
    wait_s = server.bad_keys.take(server.proxies.network(address))
    if wait_s:
        server.counters.limited("keys")
        raise TooMany("too many bad API keys from this address", math.ceil(wait_s))
    raise Unauthorized("this API key is not known; it may have been revoked")


def bearer(request: Request) -> str:
    """Return the key that a request carries."""
    scheme, _, text = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not text.strip():
        raise Unauthorized("send an API key, as `Authorization: Bearer wr_…`")
    return text.strip()


def address_of(server: Server, request: Request) -> str:
    """Return the caller's address, seen through trusted proxies."""
    peer = request.client.host if request.client else ""
    return server.proxies.visitor(peer, request.scope["headers"])


def is_https(server: Server, request: Request) -> bool:
    """Return whether the caller's browser uses https, directly or through a proxy."""
    peer = request.client.host if request.client else ""
    return server.proxies.is_https(peer, request.scope["scheme"], request.scope["headers"])


def needs(role: Role) -> Callable[..., Awaitable[Who]]:
    """Make the dependency for routes that need a role."""

    async def dependency(request: Request, server: Here) -> Who:
        who = await who_is(server, bearer(request), address_of(server, request))
        who.need(role)
        server.backend_health.check()  # fail at once instead of after a timeout
        return who

    return dependency


viewer, operator, admin = (needs(role) for role in Role)
SIGNED = [Depends(_scheme)]
"""For a router: declares in the OpenAPI document that all its routes need a key."""

Viewer: TypeAlias = Annotated[Who, Depends(viewer)]
Operator: TypeAlias = Annotated[Who, Depends(operator)]
Admin: TypeAlias = Annotated[Who, Depends(admin)]
