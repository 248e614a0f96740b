"""Entry codes that newcomers show. Only their form is checked here; the room knows who used one."""

from __future__ import annotations

from waitroom import entry_codes
from waitroom.entry_codes import EntryCode
from waitroom.errors import InvalidInput
from waitroom.server.context import Server
from waitroom.server.tickets.bodies import JoinBody


def shown(server: Server, room: str, body: JoinBody, visitor: str | None) -> EntryCode | None:
    """Return the code that somebody shows, or refuse one that we did not make for this room.

    A stranger's repeat could not be told from somebody else with the same code.
    """
    if body.code is None:
        return None
    code = entry_codes.read(server.ring, room, body.code)
    if code is None:
        raise entry_codes.unknown()
    if visitor is None:
        raise InvalidInput(
            "Idempotency-Key",
            "is needed with a code, so that a lost answer does not use it up; send a random UUID",
        )
    return code
