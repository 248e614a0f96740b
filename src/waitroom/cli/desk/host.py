"""`waitroom desk host`: the keys that hosts use to sign in to the console of one store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from waitroom.cli.command import Session, Yes, command, group, option
from waitroom.cli.desk.group import StoreId, open_record
from waitroom.cli.output import table
from waitroom.cli.text import moment

if TYPE_CHECKING:
    from waitroom.desk.record.host_keys import HostKey

app = typer.Typer(name="host")
Name = Annotated[str, option("Who or what uses it, for the history.", "TEXT", "--name")]
KeyId = Annotated[str, typer.Argument(metavar="ID", help="The id, as `desk host list` shows it.")]


@group(app)
def _about() -> None:
    """Make, list and revoke the keys with which hosts sign in to their store's console.

    Example:

      waitroom desk host create han-river --name "front tablet"
      waitroom desk host list han-river
    """


@command(app)
async def create(cli: Session, store_id: StoreId, name: Name) -> None:
    """Make a key for the hosts of a store, and show it once.

    It opens the console and the line of that store alone. Only a hash is stored, in the desk's
    database: a lost key cannot be shown again, and a lost Redis locks no host out.

    Example:

      waitroom desk host create han-river --name "front tablet"
    """
    async with open_record(cli) as database:
        from waitroom.desk.record.host_keys import HostKeys
        from waitroom.operations import stores

        keys, trail = HostKeys(database), cli.late_trail()
        text, made = await stores.create_host_key(keys, trail, store_id, name)
    cli.out.show(
        {"key": text, **document(made)},
        f"Created key {made.id} for {name}, host of {store_id}:\n",
        text,
        f"\nSave it now: it is not stored and cannot be shown again. Sign in with it at "
        f"/desk/{store_id}/host.",
    )


@command(app, "list")
async def list_(cli: Session, store_id: StoreId) -> None:
    """List the keys of a store's hosts, without their secrets.

    Example:

      waitroom desk host list han-river
    """
    async with open_record(cli) as database:
        from waitroom.desk.record.host_keys import HostKeys

        keys = await HostKeys(database).list(store_id)
    lines = table("id", "name", "made")
    for key in keys:
        lines.add_row(key.id, key.name, moment(key.created_ms))
    empty = (
        f"There are no keys yet; make one with `waitroom desk host create {store_id} "
        '--name "front tablet"`.'
    )
    cli.out.show({"keys": [document(key) for key in keys]}, lines if keys else empty)


@command(app)
async def revoke(cli: Session, store_id: StoreId, key_id: KeyId, yes: Yes = False) -> None:
    """Revoke a host's key: within two seconds every server refuses it.

    Example:

      waitroom desk host revoke han-river 4be0a1c9d2
    """
    cli.confirm(f"Revoke key {key_id} of {store_id}?", yes)
    async with open_record(cli) as database:
        from waitroom.desk.record.host_keys import HostKeys
        from waitroom.desk.record.record import Record
        from waitroom.operations import stores

        await Record(database).store(store_id)
        keys, trail = HostKeys(database), cli.late_trail()
        key = await stores.revoke_host_key(keys, trail, store_id, key_id)
    cli.out.show({"revoked": document(key)}, f"Revoked key {key.id} of {key.name}.")


def document(key: HostKey) -> dict[str, Any]:
    """Return a key as JSON, without its secret."""
    return {"id": key.id, "store": key.store, "name": key.name, "created_ms": key.created_ms}
