"""`key create|list|revoke`."""

from __future__ import annotations

import asyncio

import pytest

from tests.cli.conftest import Cli
from waitroom.credentials.api_keys import ApiKey
from waitroom.engine import Engine
from waitroom.engine.audit import AuditPage


def key_of(cli: Cli, text: str) -> ApiKey | None:
    """Return what a server would make of a key."""
    return cli.engine(lambda engine: engine.api_keys.find(text))


async def _log(engine: Engine) -> AuditPage:
    return await engine.audit.page(limit=1)


def test_create(cli: Cli, room: str) -> None:
    """The key is printed once, on its own line, and works from then on."""
    lines = cli.text("key", "create", "--role", "operator", "--name", room).splitlines()
    (text,) = (line for line in lines if line.startswith("wr_"))
    key = key_of(cli, text)
    assert key is not None
    assert (room, "operator") == (key.name, key.role)
    assert "cannot be shown again" in lines[-1]
    assert text not in cli.text("key", "list")


def test_create_as_json(cli: Cli, room: str) -> None:
    """Programs get the key with its record; without a role it may only read."""
    made = cli.json("key", "create", "--name", room)
    assert ["key", "id", "name", "role", "created_ms"] == list(made)
    assert ("viewer", True) == (made["role"], made["key"].startswith(f"wr_{made['id']}_"))
    (listed,) = (key for key in cli.json("key", "list")["keys"] if key["id"] == made["id"])
    assert {name: made[name] for name in ("id", "name", "role", "created_ms")} == listed


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--name", "a", "--role", "boss"], "role: 'boss' is not one of viewer, operator, admin"),
        (["--name", ""], "name: takes 1 to 80 printable characters"),
        (["--name", "a\nb"], "name: takes 1 to 80 printable characters"),
        (["--role", "viewer"], "Missing option '--name'"),
    ],
)
def test_bad_keys(cli: Cli, words: list[str], message: str) -> None:
    """Invalid key input is refused in one sentence."""
    code, text = cli.error("key", "create", *words)
    assert (2, True) == (code, message in text), text


def test_revoke(cli: Cli, room: str) -> None:
    """After a yes the key is gone; without one it stays."""
    made = cli.json("key", "create", "--name", room)
    result = cli.run("key", "revoke", made["id"], typed="n\n")
    assert (1, True) == (result.exit_code, f"Revoke key {made['id']} of {room}" in result.stderr)
    assert key_of(cli, made["key"]) is not None
    shown = cli.text("key", "revoke", made["id"], typed="y\n")
    assert f"Revoked key {made['id']} of {room}.\n" == shown
    assert key_of(cli, made["key"]) is None
    code, text = cli.error("key", "revoke", made["id"], "--yes")
    assert (1, True) == (code, "see `waitroom key list`" in text)


def test_it_is_in_the_audit_log(cli: Cli, room: str) -> None:
    """Making and revoking keys is logged, without the key."""
    made = cli.json("key", "create", "--name", room)
    (entry,) = cli.engine(_log).entries
    assert ("key.create", "cli", made["id"]) == (entry.action, entry.key_id, entry.detail["id"])
    assert made["key"].split("_", 2)[2] not in repr(entry)
    cli.json("key", "revoke", made["id"], "--yes")
    assert "key.revoke" == cli.engine(_log).entries[0].action


def test_nothing_typed_is_help(cli: Cli) -> None:
    """`waitroom key` alone shows its help."""
    assert cli.text("key", "--help") == cli.text("key")


def test_no_keys_yet(cli: Cli) -> None:
    """An empty list says how to make the first one."""

    async def revoke_all(engine: Engine) -> None:
        keys = engine.api_keys
        await asyncio.gather(*[keys.revoke(key.id) for key in await keys.list()])

    cli.engine(revoke_all)
    assert "waitroom key create --name" in cli.text("key", "list")
