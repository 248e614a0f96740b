"""API keys in the operator API: an admin lists, makes and revokes them."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path
from pydantic import BaseModel, ConfigDict, Field

from waitroom.credentials.roles import Role
from waitroom.operations import api_keys
from waitroom.server.context import Here
from waitroom.server.http.auth import Admin
from waitroom.server.operator.api import Shown, Strict, api_router, trail_of

router = api_router(409, path="/keys")


class NewKey(Strict):
    """An API key to create."""

    # JSON has no enums, so a role is given as a word.
    model_config = ConfigDict(extra="forbid", strict=False)
    name: str = Field(min_length=1, max_length=80, strict=True)
    role: Role = Role.VIEWER


class KeyBody(Shown):
    """An API key, without its secret."""

    id: str
    name: str
    role: Role
    created_ms: int


class KeyMade(KeyBody):
    """A new API key: its text is shown only this time."""

    key: str


class KeysBody(BaseModel):
    """All stored keys."""

    keys: list[KeyBody]


@router.get("", operation_id="listKeys")
async def list_keys(server: Here, _: Admin) -> KeysBody:
    """Return all API keys, without their secrets."""
    return KeysBody(keys=[KeyBody.of(key) for key in await server.keys.list()])


@router.post("", operation_id="createKey", status_code=201)
async def create_key(server: Here, who: Admin, body: NewKey) -> KeyMade:
    """Make an API key; this answer is the only place where it is shown."""
    text, key = await api_keys.create(server.keys, trail_of(server, who), body.name, body.role)
    return KeyMade(key=text, **KeyBody.of(key).model_dump())


@router.delete("/{key_id}", operation_id="revokeKey", status_code=204)
async def revoke_key(server: Here, who: Admin, key_id: Annotated[str, Path(max_length=64)]) -> None:
    """Revoke an API key; every server refuses it within two seconds."""
    await api_keys.revoke(server.keys, trail_of(server, who), key_id)
