"""People take a place, get theirs back, or hand it to their account, many in one call."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from waitroom import entry_codes
from waitroom.accounts import ClaimUse
from waitroom.engine import ticket_views
from waitroom.engine.limited import NarrowDoor, charged
from waitroom.engine.protocol import calls, replies
from waitroom.engine.runner import Runner
from waitroom.engine.ticket_reader import TicketReader
from waitroom.engine.ticket_views import Answers, PresentedTicket
from waitroom.entry_codes import EntryCode
from waitroom.errors import CodeRefused, WaitroomError
from waitroom.models import State, TicketView, check_room_name
from waitroom.tickets import KeyRing, Ticket


class Join(NamedTuple):
    """One visitor of a `join`: a new one, one with an old ticket, or one known by name."""

    ticket: str | None = None
    visitor: str | None = None
    enter: bool = False
    source: str = ""
    """The source that new places count for, by `KeyRing.source_name`; empty = not counted."""
    account: ClaimUse | None = None
    """The account that a gate's claim stands for; it counts more than `visitor`."""

    code: str | EntryCode | None = None
    """An entry code, as somebody typed it or already read."""

    narrow: NarrowDoor | None = None
    """The door through which a place is taken, if it has limits of its own."""

    stranger: bool = False
    """Whether nobody says who it is; then a room that needs identity gives no new place."""


class Joins:
    """Sends joins, and makes tickets of the answers."""

    def __init__(
        self, runner: Runner, ring: KeyRing, reader: TicketReader, per_minute: int
    ) -> None:
        self._runner = runner
        self._ring = ring
        self._reader = reader
        self._per_minute = per_minute

    async def join_many(self, room: str, joins: Sequence[Join]) -> Answers:
        """Join visitors in one call."""
        await self._runner.know(check_room_name(room))
        joins = [self._with_code(room, join) for join in joins]
        strangers = sum((join.ticket or join.visitor or join.account) is None for join in joins)
        ids = iter(self._ring.new_ids(strangers))
        tickets = [self._ticket_for(room, join, ids) for join in joins]
        good = [
            (ticket, join)
            for ticket, join in zip(tickets, joins, strict=True)
            if isinstance(ticket, PresentedTicket)
        ]
        return ticket_views.merged(
            tickets, await self._join(room, good, restore=False) if good else []
        )

    async def adopt(self, room: str, old: PresentedTicket, account: ClaimUse) -> TicketView | None:
        """Give an account the earlier of two places; None if the ticket has no place to give.

        Another account's has none: a place that could be handed on could be sold.
        """
        if old.ticket.is_account and old.ticket.id != account.id:
            return None
        call = calls.adopt(account.id, old.ticket.id, old.claim, account.text)
        reply = await self._runner.run(room, call)
        if reply.word == "nothing":
            return None
        joined = replies.joined(reply.expect("ok"))
        self._runner.memory(room).positions.forget(old.ticket.place)
        (answer,) = joined.tickets
        # Somebody who was called holds no code any more, but their ticket names it.
        code = joined.code or (old.ticket.code if answer.place == old.ticket.place else "")
        issued_s = old.ticket.issued_s
        own = PresentedTicket(Ticket(room, account.id, 0, 0, issued_s, code=code, is_account=True))
        view = ticket_views.joined(self._ring, own, answer, joined, int(self._runner.now_s()))
        if isinstance(view, WaitroomError):
            raise view
        return view

    async def restore(self, room: str, tickets: Sequence[PresentedTicket]) -> Answers:
        """Put tickets back into their places, if the room still has those places."""
        return await self._join(room, [(ticket, _UNCOUNTED) for ticket in tickets], restore=True)

    async def _join(
        self, room: str, tickets: Sequence[tuple[PresentedTicket, Join]], *, restore: bool
    ) -> Answers:
        rows = [
            (
                *(each.ticket.id, each.claim, join.enter, charged(join.source, join.narrow)),
                _use(each.ticket, join),
                join.account[1] if join.account else "?" if join.stranger else "",
            )
            for each, join in tickets
        ]
        word = "redraw"
        while word == "redraw":  # its reply brought the current policy and epoch
            draw = self._runner.memory(room).draw(self._ring, room)
            # Read before the server reads its clock, so that memory refuses nobody for too long.
            asked_at_s = self._runner.timer_s()
            call = calls.join(rows, draw, restore=restore, per_minute=self._per_minute)
            reply = await self._runner.run(room, call)
            word = reply.word
        joined, now_s = replies.joined(reply), int(self._runner.now_s())
        memory = self._runner.memory(room)
        positions = memory.positions
        positions.expect(joined.waiting, restoring=joined.restoring)
        noted_at = positions.now()
        answers: Answers = []
        for (ticket, join), answer in zip(tickets, joined.tickets, strict=True):
            view = ticket_views.joined(self._ring, ticket, answer, joined, now_s)
            place = answer.place or ticket.ticket.place
            if isinstance(view, TicketView) and view.state is State.WAITING:
                positions.waits(place, view.position or 0, noted_at)
            else:
                positions.forget(place)
                if refused_s := ticket_views.refused_for_s(answer):
                    memory.limited.refuse(join.source, asked_at_s + refused_s)
                elif (
                    join.source
                    and isinstance(view, CodeRefused)
                    and isinstance(join.code, EntryCode)
                ):
                    memory.refused_codes.refuse(join.code, join.source, view, asked_at_s)
            answers.append(view)
        return answers

    def _with_code(self, room: str, join: Join) -> Join:
        if not isinstance(join.code, str):
            return join
        return join._replace(code=entry_codes.read(self._ring, room, join.code) or _NO_CODE)

    def _ticket_for(
        self, room: str, join: Join, new_ids: Iterator[str]
    ) -> PresentedTicket | WaitroomError:
        ring, is_account = self._ring, join.account is not None
        try:
            if join.code is _NO_CODE:  # it must not reach the server
                raise entry_codes.unknown()
            if join.ticket is not None:
                old = ring.read(room, join.ticket)
                memory = self._runner.memory(room)
                if not self._reader.too_old(old, memory.policy):
                    return _holding(self._reader.read_known(room, join.ticket, memory), join)
                # An expired place does not keep its holder from a new one.
                ticket_id, is_account = old.id, old.is_account
            elif join.account is not None:
                ticket_id = join.account.id
            elif join.visitor is not None:
                ticket_id = ring.visitor_id(room, join.visitor)
            else:
                ticket_id = next(new_ids)
        except WaitroomError as error:
            return error
        code = join.code.name if isinstance(join.code, EntryCode) else ""
        now_s = int(self._runner.now_s())
        return PresentedTicket(
            Ticket(room, ticket_id, 0, 0, now_s, code=code, is_account=is_account)
        )


_UNCOUNTED = Join()
_NO_CODE = EntryCode("", 0)
"""What somebody typed and we did not make."""


def _holding(presented: PresentedTicket, join: Join) -> PresentedTicket:
    """Return a ticket as it is signed if its place is new: with the code that gave it."""
    if not isinstance(join.code, EntryCode):
        return presented
    return presented._replace(ticket=presented.ticket._replace(code=join.code.name))


def _use(ticket: Ticket, join: Join) -> str:
    """Return the use of an entry code, as `join` takes it."""
    if not ticket.code:
        return ""
    # A ticket says only that its holder had the code, which then gives one place, theirs.
    return f"{ticket.code}:{join.code.uses if isinstance(join.code, EntryCode) else 1}"
