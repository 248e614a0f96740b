"""`waitroom call`: call one ticket by hand."""

from __future__ import annotations

from typing import Annotated

import typer

from waitroom.cli.command import OpId, RoomName, Session
from waitroom.cli.text import moment
from waitroom.cli.tickets import Force, check_id
from waitroom.operations import people

TicketId = Annotated[
    str, typer.Argument(metavar="ID", help="The ticket's id or code, as `list` shows them.")
]


async def call(
    cli: Session, name: RoomName, ticket_id: TicketId, force: Force = False, op_id: OpId = None
) -> None:
    """Call one ticket by hand, wherever it stands in the line.

    Example:

      waitroom call concert q3Jv0eW7hJ5mX2aB
      waitroom call concert K7Q-4M2
    """
    check_id(ticket_id)
    async with cli.engine() as engine:
        trail = cli.trail(engine)
        called = await people.call(engine, trail, name, ticket_id, force=force, op_id=op_id)
    ticket_id, until_ms = called.ticket_id, called.until_ms
    limit = f"may enter until {moment(until_ms)}" if until_ms else "may enter at any time"
    cli.out.show(
        {"name": name, "id": ticket_id, "enter_by_ms": until_ms}, f"Called {ticket_id}: {limit}."
    )
