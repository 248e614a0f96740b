"""What visitors do with a ticket, and gates with a session."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence

from waitroom.accounts import ClaimUse
from waitroom.engine import inputs, ticket_views
from waitroom.engine.batcher import Waiter
from waitroom.engine.joins import Join
from waitroom.engine.keys import room_key
from waitroom.engine.limited import NarrowDoor
from waitroom.engine.protocol import calls, replies
from waitroom.engine.protocol.calls import Session
from waitroom.engine.ticket_views import Answers, PresentedTicket
from waitroom.engine.verbs.base import Verbs
from waitroom.entry_codes import EntryCode
from waitroom.errors import WaitroomError
from waitroom.models import State, TicketView, check_room_name
from waitroom.tickets import Ticket


class VisitorVerbs(Verbs):
    """Tickets: taken, polled, used and given up; sessions: checked, extended and ended."""

    async def join(
        self,
        room: str,
        ticket: str | None = None,
        *,
        visitor: str | None = None,
        enter: bool = False,
        source: str = "",
        account: ClaimUse | None = None,
        code: str | EntryCode | None = None,
        narrow: NarrowDoor | None = None,
        stranger: bool = False,
    ) -> TicketView:
        """Take a place, or keep the one that `ticket`, `visitor` or `account` has.

        A new place counts for its `source`, made with `KeyRing.source_name`, and uses the entry
        `code`, if one is given. A `narrow` door has limits of its own for the source. A `stranger`,
        of whom nobody says who it is, gets none where the policy needs identity.
        """
        future: asyncio.Future[TicketView] = asyncio.get_running_loop().create_future()
        join = Join(ticket, visitor, enter, source, account, code, narrow, stranger)
        self.join_for(future, room, join)
        return await future

    async def adopt(self, room: str, ticket: str, account: ClaimUse) -> TicketView | None:
        """Give an account the place of a ticket, or its own if that is earlier; the other goes.

        None if the ticket has no place any more: then the account may join.
        """
        presented = await self._tickets.read(room, ticket)
        if presented.ticket.id != account.id:
            return await self._joins.adopt(room, presented, account)
        view = await self.poll(room, presented)
        return None if view.state is State.GONE else view

    def join_for(self, waiter: Waiter, room: str, join: Join) -> None:
        """Join a visitor; the waiter gets the view, or why there is none."""
        self._crowd.join(check_room_name(room), join, waiter)

    def poll(self, room: str, ticket: str | PresentedTicket) -> Awaitable[TicketView]:
        """Return where a ticket is, and note that its holder is still there.

        Not a coroutine: if the room is known, only the future of the batch is made and awaited.
        """
        future: asyncio.Future[TicketView] = asyncio.get_running_loop().create_future()
        try:
            if self.poll_for(future, room, ticket):
                return future
        except WaitroomError as error:
            future.set_exception(error)
            return future
        return self._crowd.poll_unknown(room, ticket)

    def poll_for(self, waiter: Waiter, room: str, ticket: str | PresentedTicket) -> bool:
        """Poll a ticket; the waiter gets its view. False, without a poll, if the room is not known.

        Nearly every call to a busy server ends here.
        """
        return self._crowd.poll(room, ticket, waiter)

    async def read_ticket(self, room: str, text: str) -> PresentedTicket:
        """Read a ticket string, or raise why it cannot be used; makes no call about the ticket."""
        return await self._tickets.read(room, text)

    async def join_many(self, room: str, joins: Sequence[Join]) -> Answers:
        """Join up to 500 visitors in one call; each gets a view or their own error."""
        inputs.check_many("joins", joins)
        return await self._joins.join_many(room, joins)

    async def poll_many(self, room: str, tickets: Sequence[str | PresentedTicket]) -> Answers:
        """Poll up to 500 tickets in one call; each gets a view or its own error."""
        inputs.check_many("tickets", tickets)
        return await self._crowd.poll_many(room, tickets)

    async def enter(self, room: str, ticket: str) -> TicketView:
        """Go inside; a repeated call returns the same session."""
        return await self._crowd.enter(room, await self._tickets.read(room, ticket))

    async def renew(
        self, room: str, ticket: str, *, sid: int | None = None, vouched_until_ms: int | None = None
    ) -> TicketView:
        """Extend a session from now. A gate may vouch for a session whose record was lost."""
        presented = await self._tickets.read(room, ticket)
        return await self._renew(room, presented, sid, vouched_until_ms)

    async def renew_session(
        self, room: str, ticket_id: str, sid: int, *, vouched_until_ms: int | None = None
    ) -> TicketView:
        """Extend a session for a gate, which knows it from a pass that it has verified."""
        ticket = Ticket(check_room_name(room), inputs.check_ticket_id(ticket_id), 0, 0, 0)
        return await self._renew(room, PresentedTicket(ticket), sid, vouched_until_ms)

    async def _renew(
        self, room: str, presented: PresentedTicket, sid: int | None, vouched_until_ms: int | None
    ) -> TicketView:
        call = calls.renew(presented.ticket.id, presented.claim, sid, vouched_until_ms)
        return ticket_views.inside(presented, replies.renewed(await self._single(room, call)))

    async def finish(
        self, room: str, ticket: str, *, sid: int | None = None, op_id: str | None = None
    ) -> TicketView:
        """End a session; the same call gives its place to the next person."""
        ticket_id = (await self._tickets.read(room, ticket)).ticket.id
        call = calls.finish(ticket_id, sid)
        (await self._single(room, call, inputs.op_id_of(op_id))).expect("finished")
        return ticket_views.gone(room, ticket_id, ticket, "finished")

    async def finish_session(self, room: str, ticket_id: str, sid: int) -> None:
        """End a session for a gate; a session that has already ended is not an error."""
        call = calls.finish(inputs.check_ticket_id(ticket_id), sid)
        (await self._single(room, call, inputs.op_id_of(None))).expect("finished")

    async def leave(self, room: str, ticket: str, *, op_id: str | None = None) -> TicketView:
        """Give up a place, a turn or a session."""
        presented = await self._tickets.read(room, ticket)
        self._crowd.forget(room, presented)
        call = calls.leave(presented.ticket.id, presented.claim)
        await self._single(room, call, inputs.op_id_of(op_id))
        return ticket_views.gone(room, presented.ticket.id, ticket, "left")

    async def defer(
        self, room: str, ticket: str, places: int, *, op_id: str | None = None
    ) -> TicketView:
        """Let `places` people go first; the view has the new ticket string."""
        presented = await self._tickets.read(room, ticket)
        inputs.check_count("places", places, 1_000_000)
        self._crowd.forget(room, presented)
        call = calls.defer(presented.ticket.id, places)
        reply = await self._single(room, call, inputs.op_id_of(op_id))
        return ticket_views.deferred(self.ring, presented, replies.deferred(reply))

    async def check(self, room: str, ticket_id: str, sid: int) -> bool:
        """Return whether a session is inside now; cheaper than a poll, and no sign of presence."""
        future: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self.check_for(future, room, (ticket_id, sid))
        return await future

    def check_for(self, waiter: Waiter, room: str, session: Session) -> None:
        """Check a session; the waiter gets whether it is inside."""
        inputs.check_session(session)
        self._crowd.check(check_room_name(room), session, waiter)

    async def check_many(self, room: str, sessions: Sequence[Session]) -> list[bool]:
        """Check up to 500 sessions, each the id of a ticket and a `sid`, in one call."""
        inputs.check_many("sessions", sessions)
        for session in sessions:
            inputs.check_session(session)
        return await self._crowd.check_many(check_room_name(room), sessions)

    async def has_ended(self, room: str, ticket_id: str, sid: int) -> bool:
        """Return whether a session is known to have ended early, or its ticket to be kicked."""
        done, kicked = (room_key(check_room_name(room), name) for name in ("done", "kicked"))
        if await self._runner.command("ZSCORE", done, sid) is not None:
            return True
        kicked_ms = await self._runner.command("ZSCORE", kicked, ticket_id)
        return kicked_ms is not None and float(kicked_ms) >= sid / 1000  # session ids are times
