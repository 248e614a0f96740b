"""`waitroom note`: write a note on the timeline of a room."""

from __future__ import annotations

from typing import Annotated

import typer

from waitroom.cli.command import RoomName, Session
from waitroom.operations import notes

Words = Annotated[str, typer.Argument(metavar="TEXT", help="What to remember, in one line.")]


async def note(cli: Session, name: RoomName, text: Words) -> None:
    """Write a note on the timeline of a room: into its audit log, and beside its charts.

    Example:

      waitroom note concert "The payment provider is slow"
    """
    async with cli.engine() as engine:
        entry_id = await notes.add(engine, cli.trail(engine), name, text)
    cli.out.show({"name": name, "id": entry_id}, f"Noted in {name}.")
