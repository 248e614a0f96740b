"""Tickets as their holders see them: turns a script's word and numbers into a `TicketView`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from waitroom.engine.protocol import calls
from waitroom.engine.protocol.refusals import GONE, refusal
from waitroom.engine.protocol.replies import Deferred, EnteredTicket, Joined, JoinedTicket
from waitroom.errors import EnterLater, TooMany, WaitroomError
from waitroom.models import State, TicketView
from waitroom.tickets import KeyRing, Ticket

Answers = list[TicketView | WaitroomError]
"""One result per ticket, in the order asked: its view, or its own error."""


class PresentedTicket(NamedTuple):
    """A ticket with the string that its holder presented; a new one has none yet."""

    ticket: Ticket
    text: str = ""

    @property
    def claim(self) -> str:
        """The place that the ticket claims; empty for a new ticket."""
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


def restoring(waits: TicketView) -> TicketView:
    """Return a view that says why a position is missing: the line is incomplete after a loss."""
    return waits._replace(restoring=True) if waits.state is State.WAITING else waits


def gone(room: str, ticket_id: str, text: str, word: str, waiting: int = 0) -> TicketView:
    """Return the view of a ticket that is gone."""
    return TicketView(room, ticket_id, State.GONE, text, None, waiting, reason=GONE[word])


def entered(presented: PresentedTicket, answer: EnteredTicket) -> TicketView | WaitroomError:
    """Return the view of a ticket after an `enter`, or why it is not inside."""
    if answer.word == "enter_later":
        text = "called, but the rolling limit is used up for a moment; the turn is kept"
        return EnterLater(text, answer.number)
    if answer.word != "inside":
        return refusal("passed" if answer.word == "absent" else answer.word)
    return inside(presented, answer)


def inside(presented: PresentedTicket, answer: EnteredTicket) -> TicketView:
    """Return the view of a ticket that is inside."""
    ticket, text = presented
    return view(ticket.room, ticket.id, text, "inside", answer.number, answer.sid, 0, answer.new)


def joined(
    ring: KeyRing, presented: PresentedTicket, answer: JoinedTicket, reply: Joined, now_s: int
) -> TicketView | WaitroomError:
    """Return the view of a ticket after a `join`, with a new string if its place is new."""
    (ticket, text), word, epoch = presented, answer.word, reply.epoch
    if word == "limited":
        return TooMany.joins(answer.number / 1000)
    if word not in GONE and word not in ("waiting", "called", "inside"):
        return refusal(word)
    place = answer.place or ticket.place
    if word not in GONE and (place != ticket.place or epoch != ticket.epoch):
        issued_s = now_s if answer.new else ticket.issued_s
        ticket = ticket._replace(place=place, epoch=epoch, issued_s=issued_s, generation=0)
        text = ""
    text = text or ring.sign(ticket)
    seen = view(
        ticket.room, ticket.id, text, word, answer.number, answer.sid, reply.waiting, answer.new
    )
    return restoring(seen) if reply.restoring else seen


def refused_for_s(answer: JoinedTicket) -> float:
    """Return for how long the source of a join surely gets no new place; 0 if it may get one."""
    return answer.number / 1000 if answer.word == "limited" and answer.sid == 1 else 0.0


def deferred(ring: KeyRing, presented: PresentedTicket, answer: Deferred) -> TicketView:
    """Return the view of a ticket that let others go first, with a new string."""
    moved = presented.ticket._replace(
        place=answer.place, epoch=answer.epoch, generation=answer.generation
    )
    return TicketView(moved.room, moved.id, State.WAITING, ring.sign(moved), answer.position)


def merged(tickets: Iterable[PresentedTicket | WaitroomError], answers: Answers) -> Answers:
    """Return the answers of the tickets that were sent, merged with the errors of the others."""
    rest = iter(answers)
    return [next(rest) if isinstance(each, PresentedTicket) else each for each in tickets]
