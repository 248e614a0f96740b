"""What the routes of the desk's API need: a caller whose key has the required role."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, TypeAlias

from fastapi import Depends, Request
from fastapi.security import HTTPBearer

from waitroom.credentials.roles import Role
from waitroom.server.context import Here
from waitroom.server.desk.access import HostCaller, caller_by_key, caller_of
from waitroom.server.desk.bodies.guest_schemas import StoreId
from waitroom.server.http import auth

# Only for the OpenAPI document: its own errors would not have our shape.
_scheme = HTTPBearer(
    scheme_name="HostKey",
    bearerFormat="wrh_…",
    description="The key of a store's hosts, or an API key: viewers read, operators act.",
    auto_error=False,
)
SIGNED = [Depends(_scheme)]
"""For a router: declares in the OpenAPI document that all its routes need a key."""


def needs(role: Role) -> Callable[..., Awaitable[HostCaller]]:
    """Make the dependency for a store's routes that need a role; a host counts as an operator."""

    async def dependency(request: Request, server: Here, store: StoreId) -> HostCaller:
        caller = await caller_of(server, request, store)
        caller.need(store, role)
        return caller

    return dependency


async def admin_of_all(request: Request, server: Here) -> HostCaller:
    """Return an admin; for routes that do not belong to one store."""
    caller = await caller_by_key(server, auth.bearer(request), auth.address_of(server, request))
    caller.need("", Role.ADMIN)
    return caller


Reader: TypeAlias = Annotated[HostCaller, Depends(needs(Role.VIEWER))]
Host: TypeAlias = Annotated[HostCaller, Depends(needs(Role.OPERATOR))]
StoreAdmin: TypeAlias = Annotated[HostCaller, Depends(needs(Role.ADMIN))]
Admin: TypeAlias = Annotated[HostCaller, Depends(admin_of_all)]
