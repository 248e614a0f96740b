"""API keys on the operator page: an admin sees, makes and revokes them."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Path, Response

from waitroom.credentials.api_keys import ApiKey
from waitroom.credentials.roles import Role
from waitroom.errors import InvalidInput, UnknownKey
from waitroom.operations import api_keys
from waitroom.server.context import Server
from waitroom.server.operator.page import AdminForm, AdminPage, Page, PageRoute
from waitroom.server.pages.route import redirect

router = APIRouter(prefix="/admin/keys", route_class=PageRoute, include_in_schema=False)
KeyId = Annotated[str, Path(max_length=64)]


@router.get("")
async def list_keys(page: AdminPage) -> Response:
    """Show all keys, without their secrets."""
    return await _list(page)


@router.post("")
async def create_key(
    page: AdminForm,
    name: Annotated[str, Form(max_length=400)] = "",
    role: Annotated[str, Form(max_length=20)] = "",
) -> Response:
    """Make a key; this answer is the only place where it is shown."""
    if role not in tuple(Role):
        raise InvalidInput("role", f"must be one of {', '.join(Role)}")
    try:
        text, key = await api_keys.create(page.server.keys, page.trail, name.strip(), Role(role))
    except InvalidInput as error:
        return await _list(page, 422, name=name, role=role, error=error)
    return page.html("operator/keys/made.html", 201, key=key, text=text)


@router.get("/{key_id}/revoke")
async def confirm_revocation(page: AdminPage, key_id: KeyId) -> Response:
    """Say what a revocation does; nothing is changed yet."""
    return await _confirm(page, key_id)


@router.post("/{key_id}/revoke")
async def revoke_key(
    page: AdminForm,
    key_id: KeyId,
    last: Annotated[str, Form(max_length=1)] = "",
) -> Response:
    """Revoke a key; the last key of an admin only after an extra confirmation."""
    if not last and await _is_last_admin(page.server, key_id):
        return await _confirm(page, key_id, 422)
    await api_keys.revoke(page.server.keys, page.trail, key_id)
    return redirect("/admin/sign-in" if _is_own(page, key_id) else "/admin/keys")


async def _list(
    page: Page,
    status: int = 200,
    name: str = "",
    role: str = Role.VIEWER,
    error: InvalidInput | None = None,
) -> Response:
    server = page.server
    return page.html(
        "operator/keys/list.html",
        status,
        keys=await page.server.keys.list(),
        last_seen=await api_keys.last_seen(server.audit),
        of_settings=server.settings.admin_key is not None,
        roles=list(Role),
        name=name,
        role=role,
        error=error,
    )


async def _confirm(page: Page, key_id: str, status: int = 200) -> Response:
    key = await _key(page.server, key_id)
    return page.html(
        "operator/keys/revoke.html",
        status,
        key=key,
        own=_is_own(page, key_id),
        last=await _is_last_admin(page.server, key_id),
        asked=status != 200,
    )


async def _key(server: Server, key_id: str) -> ApiKey:
    keys = {key.id: key for key in await server.keys.list()}
    if key_id not in keys:
        raise UnknownKey(key_id)
    return keys[key_id]


def _is_own(page: Page, key_id: str) -> bool:
    return page.who.key.id == key_id


async def _is_last_admin(server: Server, key_id: str) -> bool:
    """Return whether no admin could sign in without this key."""
    users = server.named_users
    if server.settings.admin_key is not None or (users and users.roles.name_an_admin):
        return False
    admins = {key.id for key in await server.keys.list() if key.role is Role.ADMIN}
    return admins == {key_id}
