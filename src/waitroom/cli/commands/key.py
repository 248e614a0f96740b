"""Keys: makes, lists and revokes those of operators; rotates those of passes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from waitroom.cli.command import Session, Yes, command, group, option
from waitroom.cli.output import table
from waitroom.cli.text import moment, read_age
from waitroom.credentials import pass_keys
from waitroom.credentials.api_keys import ApiKey
from waitroom.credentials.roles import Role
from waitroom.errors import InvalidInput
from waitroom.operations import api_keys
from waitroom.operations import pass_keys as operations

app = typer.Typer(name="key")
RoleWord = Annotated[str, option(f"One of {', '.join(Role)}.", "WORD", "--role")]
KeyName = Annotated[str, option("Who or what uses it, for the audit log.", "TEXT", "--name")]
Algorithm = Annotated[str | None, option("ES256, EdDSA or RS256; else `pass_algorithm`.", "WORD")]
OlderThan = Annotated[str, option("Like 90s, 10m or 2h.", "TIME")]
KeyId = Annotated[str, typer.Argument(metavar="ID", help="The id, as `key list` shows it.")]


@group(app)
def _about() -> None:
    """Make, list and revoke API keys, for the operator API and the operator page.

    Example:

      waitroom key create --role operator --name "box office"
      waitroom key list
    """


@command(app)
async def create(cli: Session, name: KeyName, role: RoleWord = Role.VIEWER) -> None:
    """Make an API key for the operator API and the operator page, and show it once.

    A viewer reads; an operator also changes rooms and calls people; an admin also makes, empties
    and removes rooms, and manages keys. Only a hash is stored: a lost key cannot be shown again.

    Example:

      waitroom key create --role operator --name "box office"
      export KEY=$(waitroom key create --name grafana --json | jq -r .key)
    """
    wanted = read_role(role)
    async with cli.engine() as engine:
        text, made = await api_keys.create(engine.api_keys, cli.trail(engine), name, wanted)
    cli.out.show(
        {"key": text, **document(made)},
        f"Created key {made.id} for {name}, with the role {made.role}:\n",
        text,
        "\nSave it now: it is not stored and cannot be shown again.",
    )


@command(app, "list")
async def list_(cli: Session) -> None:
    """List all API keys, without their secrets.

    Example:

      waitroom key list
    """
    async with cli.engine() as engine:
        keys = await engine.api_keys.list()
    lines = table("id", "name", "role", "made")
    for key in keys:
        lines.add_row(key.id, key.name, key.role, moment(key.created_ms))
    empty = 'There are no keys yet; make one with `waitroom key create --name "box office"`.'
    cli.out.show({"keys": [document(key) for key in keys]}, lines if keys else empty)


@command(app)
async def revoke(cli: Session, key_id: KeyId, yes: Yes = False) -> None:
    """Revoke an API key: within two seconds every server refuses it, and its sign-ins end.

    Example:

      waitroom key revoke 4be0a1c9d2
    """
    async with cli.engine() as engine:
        keys = engine.api_keys
        known = {key.id: key for key in await keys.list()}
        if key_id in known:
            key = known[key_id]
            cli.confirm(f"Revoke key {key.id} of {key.name}, {key.role}?", yes)
        gone = await api_keys.revoke(keys, cli.trail(engine), key_id)
    cli.out.show({"revoked": document(gone)}, f"Revoked key {gone.id} of {gone.name}.")


@command(app)
async def rotate(cli: Session, algorithm: Algorithm = None) -> None:
    """Add a new key for passes. It signs a few seconds later; the old ones still verify.

    The key goes to the folder that `pass_keys` names, or to `pass-keys` in the data folder. Running
    servers notice it by themselves. Remove old keys with `waitroom key prune` when no pass of
    theirs can be in use any more.

    Example:

      waitroom key rotate
      waitroom --data-dir /var/lib/waitroom key rotate --algorithm EdDSA
    """
    folder = _folder(cli)
    wanted = algorithm or cli.settings.pass_algorithm
    made = await operations.rotate(cli.late_trail(), folder, wanted)
    cli.out.show(
        {"key": made.name, "folder": str(folder), "signs_after_s": pass_keys.SIGNS_AFTER_S},
        f"Created {made}.\nIt signs from {pass_keys.SIGNS_AFTER_S:g} s on. "
        "Other servers need it too: share the folder, or copy the file.",
    )


@command(app)
async def prune(cli: Session, older_than: OlderThan = "24h", yes: Yes = False) -> None:
    """Remove keys of passes that stopped signing long ago; the newest always stays.

    Give the longest session of your rooms: a pass of a removed key is refused at once.

    Example:

      waitroom key prune --older-than 2h
    """
    folder = _folder(cli)
    age_ms = read_age("older-than", older_than) or 0
    cli.confirm(f"Remove the keys in {folder} that signed no pass for {older_than}?", yes)
    removed = await operations.prune(cli.late_trail(), folder, age_ms / 1000)
    names = [path.name for path in removed]
    cli.out.show({"removed": names}, "\n".join(f"Removed {name}." for name in names) or "None.")


def _folder(cli: Session) -> Path:
    folder = pass_keys.folder_of(cli.settings)
    if folder is None:
        raise InvalidInput(
            "pass_keys", "names files or holds the keys themselves; let it name a folder to rotate"
        )
    return folder


def read_role(word: str) -> Role:
    """Return the role of a word."""
    try:
        return Role(word.lower())
    except ValueError:
        raise InvalidInput("role", f"{word!r:.40} is not one of {', '.join(Role)}") from None


def document(key: ApiKey) -> dict[str, Any]:
    """Return a key as JSON, without its secret."""
    return {"id": key.id, "name": key.name, "role": key.role, "created_ms": key.created_ms}
