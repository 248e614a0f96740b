"""Reads the tickets that people present: forged ones, and those that are too old, end here."""

from __future__ import annotations

from collections.abc import Sequence

from waitroom.engine.memory import RoomMemory
from waitroom.engine.runner import Runner
from waitroom.engine.ticket_views import PresentedTicket
from waitroom.errors import InvalidTicket, WaitroomError
from waitroom.models import Policy, check_room_name
from waitroom.tickets import KeyRing, Ticket


class TicketReader:
    """Checks the MAC, the room and the age of tickets; makes no call about any of them."""

    def __init__(self, runner: Runner, ring: KeyRing) -> None:
        self._runner = runner
        self._ring = ring

    async def read(self, room: str, text: str) -> PresentedTicket:
        """Read a ticket string, or raise why it cannot be used; gets to know the room first."""
        if not self._runner.knows(room):
            self._ring.read(check_room_name(room), text)  # a forged ticket must not cost a call
            await self._runner.know(room)
        return self.read_known(room, text, self._runner.memory(room))

    def read_known(
        self, room: str, text: str | PresentedTicket, memory: RoomMemory
    ) -> PresentedTicket:
        """Read a ticket of a room that this process knows, unless it was read before."""
        if isinstance(text, PresentedTicket):
            return text
        ticket = self._ring.read(room, text)
        if self.too_old(ticket, memory.policy):
            raise InvalidTicket("it is too old; join again for a new one")
        if ticket.epoch > memory.epoch:
            memory.claim = max(memory.claim, ticket.epoch)
        return PresentedTicket(ticket, text)

    def read_all(
        self, room: str, tickets: Sequence[str | PresentedTicket]
    ) -> list[PresentedTicket | WaitroomError]:
        """Read tickets; each that cannot be used becomes its own error."""
        # A room name that somebody made up must leave nothing behind.
        memory = self._runner.memories.get(room) or RoomMemory()
        presented: list[PresentedTicket | WaitroomError] = []
        for ticket in tickets:
            try:
                presented.append(self.read_known(room, ticket, memory))
            except WaitroomError as error:
                presented.append(error)
        return presented

    def too_old(self, ticket: Ticket, policy: Policy | None) -> bool:
        """Return whether a ticket is older than the policy lets it be."""
        life = policy.ticket_ttl_s if policy else None
        return life is not None and self._runner.now_s() > ticket.issued_s + life
