"""Tickets as their holders see them: from a script's word and numbers to a `TicketView`."""

from __future__ import annotations

from typing import NamedTuple

from waitroom.engine.protocol import calls
from waitroom.engine.protocol.refusals import GONE, refusal
from waitroom.engine.protocol.replies import Deferred, EnteredTicket, Joined, JoinedTicket
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
        return calls.claim(self.ticket.place, self.ticket.epoch)


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
    return gone(room, ticket_id, text, word, waiting)


def gone(room: str, ticket_id: str, text: str, word: str, waiting: int = 0) -> TicketView:
    """Return the view of a ticket that is in no state any more."""
    return TicketView(room, ticket_id, State.GONE, text, None, waiting, reason=GONE[word])


def entered(presented: PresentedTicket, found: EnteredTicket) -> TicketView | WaitroomError:
    """Return the view of a ticket after an `enter`, or why it is not inside."""
    if found.word == "enter_later":
        said = "called, but the rolling limit is used up for a moment; the turn is kept"
        return EnterLater(said, found.number)
    if found.word != "inside":
        return refusal("passed" if found.word == "absent" else found.word)
    return inside(presented, found)


def inside(presented: PresentedTicket, found: EnteredTicket) -> TicketView:
    """Return the view of a ticket that is inside."""
    ticket, text = presented
    return view(ticket.room, ticket.id, text, "inside", found.number, found.sid, 0, found.new)


def joined(
    ring: KeyRing, presented: PresentedTicket, found: JoinedTicket, reply: Joined, now_s: int
) -> TicketView | WaitroomError:
    """Return the view of a ticket after a `join`, signed anew if its place is new."""
    (ticket, text), word, epoch = presented, found.word, reply.epoch
    if word not in GONE and word not in ("waiting", "called", "inside"):
        return refusal(word)
    place = found.place or ticket.place
    if word not in GONE and (place != ticket.place or epoch != ticket.epoch):
        issued_s = now_s if found.new else ticket.issued_s
        ticket = Ticket(ticket.room, ticket.id, place, epoch, issued_s, lane=ticket.lane)
        text = ""
    text = text or ring.sign(ticket)
    return view(
        ticket.room, ticket.id, text, word, found.number, found.sid, reply.waiting, found.new
    )


def deferred(ring: KeyRing, presented: PresentedTicket, found: Deferred) -> TicketView:
    """Return the view of a ticket that let others go first, signed anew."""
    moved = presented.ticket._replace(
        place=found.place, epoch=found.epoch, generation=found.generation
    )
    return TicketView(moved.room, moved.id, State.WAITING, ring.sign(moved), found.position)
