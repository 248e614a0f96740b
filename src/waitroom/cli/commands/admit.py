"""`waitroom admit`: call the first people of the line by hand."""

from __future__ import annotations

import secrets
from typing import Annotated

import typer

from waitroom.cli import text
from waitroom.cli.command import OpId, RoomName, Session
from waitroom.cli.tickets import Force
from waitroom.operations import people

Count = Annotated[int, typer.Argument(help="How many people to call.")]


async def admit(
    cli: Session, name: RoomName, count: Count, force: Force = False, op_id: OpId = None
) -> None:
    """Call the first COUNT people of the line by hand.

    The room's `capacity` and `max_entries` still hold, so fewer may be called, unless --force is
    given. The pace does not apply. Give an --op-id to repeat the command safely, in scripts.

    Example:

      waitroom admit concert 50
      waitroom admit concert 50 --op-id doors-20-00
    """
    op_id = op_id or secrets.token_hex(8)
    async with cli.engine() as engine:
        trail = cli.trail(engine)
        called = await people.admit(engine, trail, name, count, force=force, op_id=op_id)
        waiting = (await engine.stats(name)).waiting
    fewer = f" of the {text.number(count)} asked for" if called.count < count else ""
    cli.out.show(
        {"name": name, "asked": count, "called": called.count, "waiting": waiting, "op_id": op_id},
        f"Called {text.people(called.count)}{fewer}; {text.number(waiting)} still waiting.",
    )
