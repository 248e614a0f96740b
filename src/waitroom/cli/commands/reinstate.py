"""`waitroom reinstate`: give somebody their place back."""

from __future__ import annotations

from typing import Annotated

import typer

from waitroom.cli import text
from waitroom.cli.command import OpId, RoomName, Session
from waitroom.cli.tickets import check_id
from waitroom.operations import reinstating

Ticket = Annotated[
    str,
    typer.Argument(metavar="TICKET", help="An id, a code, an account, or the whole ticket."),
]
LiftBan = Annotated[bool, typer.Option("--lift-ban", help="Even if they are banned.")]
Force = Annotated[
    bool,
    typer.Option("--force", help="Even without a record of them: then at the end of the line."),
]


async def reinstate(
    cli: Session,
    name: RoomName,
    ticket: Ticket,
    lift_ban: LiftBan = False,
    force: Force = False,
    op_id: OpId = None,
) -> None:
    """Give a place back to somebody who was dropped, left, was kicked or did not come.

    They stand at their old place if it is known and still to come, else at the front of the line.
    Their ticket works again. Who is unknown here is refused; the whole ticket proves that they
    were here.

    Example:

      waitroom reinstate concert q3Jv0eW7hJ5mX2aB
      waitroom reinstate concert K7Q-4M2 --lift-ban
    """
    check_id(ticket)
    async with cli.engine() as engine:
        returned = await reinstating.reinstate(
            engine, cli.trail(engine), name, ticket, lift_ban=lift_ban, force=force, op_id=op_id
        )
    place = returned.reinstated
    cli.out.show(
        {
            "name": name,
            "id": returned.ticket_id,
            "position": place.position,
            "waiting": place.waiting,
        },
        f"{returned.ticket_id} waits again, at position {text.number(place.position)} "
        f"of {text.number(place.waiting)}.",
    )
