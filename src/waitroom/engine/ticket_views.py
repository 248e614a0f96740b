"""Tickets as their holders see them: from a script's word and numbers to a `TicketView`."""

from __future__ import annotations

from typing import NamedTuple

from waitroom.engine import protocol
from waitroom.errors import EnterLater, WaitroomError
from waitroom.models import State, TicketView
from waitroom.tickets import KeyRing, Ticket


class PresentedTicket(NamedTuple):
    """A ticket with the string that its holder presented; a new one has none yet."""

    ticket: Ticket
    text: str = ""

    @property
    def claim(self) -> str:
        """What the ticket says of its own place; a new one says nothing."""
        return f"{self.ticket.place}:{self.ticket.epoch}" if self.ticket.epoch else ""


def view(
    room: str, ticket_id: str, text: str, word: str, number: int, sid: int, waiting: int, new: bool
) -> TicketView:
    """Return the view of a ticket for the word and numbers of a script."""
    if word == "waiting":
        return TicketView(room, ticket_id, State.WAITING, text, number or None, waiting, new=new)
    if word == "called":
        until = number or None
        return TicketView(room, ticket_id, State.CALLED, text, None, waiting, until, new=new)
    if word == "inside":
        ends = number or None
        return TicketView(
            room, ticket_id, State.INSIDE, text, None, waiting, None, ends, sid, new=new
        )
    reason = protocol.GONE[word]
    return TicketView(room, ticket_id, State.GONE, text, None, waiting, reason=reason)


def entered(
    presented: PresentedTicket, word: str, number: int, sid: int, new: bool
) -> TicketView | WaitroomError:
    """Return the view of a ticket after an `enter`, or why it is not inside."""
    if word == "enter_later":
        said = "called, but the rolling limit is used up for a moment; the turn is kept"
        return EnterLater(said, number)
    if word != "inside":
        return protocol.refusal("passed" if word == "absent" else word)
    return view(
        presented.ticket.room, presented.ticket.id, presented.text, word, number, sid, 0, new
    )


def joined(
    ring: KeyRing,
    presented: PresentedTicket,
    spot: protocol.Spot,
    waiting: int,
    epoch: int,
    now_s: int,
) -> TicketView | WaitroomError:
    """Return the view of a ticket after a `join`, signed anew if its place is new."""
    ticket, text, word = presented.ticket, presented.text, spot.word
    if word not in protocol.GONE and word not in ("waiting", "called", "inside"):
        return protocol.refusal(word)
    place = spot.place or ticket.place
    if word not in protocol.GONE and (place != ticket.place or epoch != ticket.epoch):
        issued_s = now_s if spot.new else ticket.issued_s
        ticket = Ticket(ticket.room, ticket.id, place, epoch, issued_s, lane=ticket.lane)
        text = ""
    text = text or ring.sign(ticket)
    return view(ticket.room, ticket.id, text, word, spot.number, spot.sid, waiting, spot.new)
