"""`waitroom desk …`: the group, and what its commands share."""

from __future__ import annotations

import importlib.util
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from waitroom.cli.command import Session, group
from waitroom.errors import InvalidInput

if TYPE_CHECKING:  # the desk is an extra, and its packages load slowly
    from waitroom.desk.desk import Desk
    from waitroom.desk.record.database import Database

app = typer.Typer(name="desk")
NEEDED = ("sqlalchemy", "aiosqlite", "alembic", "httpx2", "segno")
StoreId = Annotated[str, typer.Argument(metavar="STORE", help="The store's id, like han-river.")]


@group(app)
def _about() -> None:
    """Run the waitlist of restaurants: stores, keys of hosts, and a demonstration.

    Example:

      waitroom desk store create han-river --title "Han River Noodles"
      waitroom desk host create han-river --name "front tablet"
      waitroom serve --desk true
    """


def check_installed(extra: str = "desk", *more: str) -> None:
    """Say what to install if the desk's packages are missing."""
    missing = [name for name in (*NEEDED, *more) if importlib.util.find_spec(name) is None]
    if missing:
        why = f"{', '.join(missing)} is missing; run `pip install 'waitroom[{extra}]'`"
        raise InvalidInput("desk", why)


@asynccontextmanager
async def open_record(cli: Session) -> AsyncIterator[Database]:
    """Open only the desk's database: Redis may be away."""
    check_installed()
    from waitroom.desk.record.database import open_database

    async with open_database(cli.settings.desk_database, cli.settings.data_dir) as database:
        yield database


@asynccontextmanager
async def open_lines(cli: Session) -> AsyncIterator[Desk]:
    """Open the desk with its live lines, for one command: nothing runs in the background."""
    async with open_record(cli) as database, cli.engine() as engine:
        from waitroom.desk.desk import Desk
        from waitroom.desk.record.record import Record

        async with aclosing(Desk(Record(database), engine, engine.ring)) as desk:
            yield desk
