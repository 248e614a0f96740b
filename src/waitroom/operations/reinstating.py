"""Give a place back to somebody who was in a room."""

from __future__ import annotations

from dataclasses import dataclass

from waitroom.engine import Engine
from waitroom.models import Reinstated
from waitroom.operations import finding
from waitroom.operations.trail import Trail
from waitroom.tickets import LONGEST_TICKET

_LONGER_THAN_CODES = 40


@dataclass(frozen=True, slots=True)
class Returned:
    """Who has a place again, where, and the entry in the log."""

    ticket_id: str
    reinstated: Reinstated
    entry_id: str


async def reinstate(
    engine: Engine,
    trail: Trail,
    room: str,
    ticket: str,
    *,
    lift_ban: bool = False,
    force: bool = False,
    op_id: str | None = None,
) -> Returned:
    """Give a place back; `ticket` is an id, a short code, an account or a whole ticket string."""
    given = ticket
    if _LONGER_THAN_CODES < len(ticket) <= LONGEST_TICKET:  # a whole ticket proves its own place
        ticket_id = (await engine.read_ticket(room, ticket)).ticket.id
    else:
        given = ticket_id = await finding.ticket_id(engine, room, ticket)
    doing = engine.reinstate(
        room, given, lift_ban=lift_ban, force=force, op_id=trail.op_id("reinstate", op_id)
    )
    detail = {"ticket": ticket_id, "lift_ban": lift_ban, "force": force}
    reinstated = await trail.attempt("reinstate", room, doing, **detail)
    entry_id = await trail.record("reinstate", room, **detail, position=reinstated.position)
    return Returned(ticket_id, reinstated, entry_id)
