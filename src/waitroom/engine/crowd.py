"""The crowd's side of the engine: tickets read and checked, joined and polled many at a time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from waitroom.engine import ticket_views
from waitroom.engine.batcher import Batches, Waiter
from waitroom.engine.memory import RoomMemory
from waitroom.engine.protocol import calls, replies
from waitroom.engine.protocol.calls import ScriptCall, Session
from waitroom.engine.protocol.replies import EnteredTicket, Reply
from waitroom.engine.runner import Runner
from waitroom.engine.ticket_views import PresentedTicket
from waitroom.errors import InvalidTicket, TooMany, WaitroomError
from waitroom.models import Policy, State, TicketView, check_room_name
from waitroom.tickets import KeyRing, Ticket

Answers = list[TicketView | WaitroomError]
"""One per ticket, in the order asked: its view, or its own error."""

ENTERS_PER_SCRIPT = 400
"""Leaves room in one script call for as many people as are called next."""

SINGLES_AT_ONCE = 8
"""Calls about one ticket that run side by side: half of the connections are left to the crowd."""

Concerns = Callable[[str], bool]
"""Tells whether a room is meant."""

Vouched = Callable[[str, int | None], float]
"""Tells for how many seconds a position that somebody was told may be repeated."""


class Join(NamedTuple):
    """One visitor of a `join`: a new one, one with an old ticket, or one known by name."""

    ticket: str | None = None
    visitor: str | None = None
    enter: bool = False
    source: str = ""
    """Whose new places are counted together, by `KeyRing.source_name`; empty = not counted."""


class _Single(NamedTuple):
    """A call about one ticket. Two that are equal have the same effect as one."""

    call: ScriptCall
    op_id: str | None


class Crowd:
    """Reads tickets, and sends those of one room together."""

    def __init__(self, runner: Runner, ring: KeyRing, joins_per_minute: int = 0) -> None:
        self._runner = runner
        self._ring = ring
        self._joins_per_minute = joins_per_minute
        self._polls: Batches[PresentedTicket, TicketView] = Batches(self._poll)
        # One call at a time, so that the first here is first in the line too.
        self._joins: Batches[Join, TicketView] = Batches(self.join_many, in_flight=1)
        self._enters: Batches[PresentedTicket, TicketView] = Batches(
            self._enter, most=ENTERS_PER_SCRIPT
        )
        self._checks: Batches[Session, bool] = Batches(self.check_many)
        self._singles: Batches[_Single, Reply] = Batches(
            self._run_singles, most=SINGLES_AT_ONCE, in_flight=1
        )
        self._batches: tuple[Batches[Any, Any], ...] = (
            *(self._polls, self._joins, self._enters),
            *(self._checks, self._singles),
        )

    def fail(self, error: Exception, longer_than_s: float, concerns: Concerns | None) -> None:
        """Give the error to all who have waited for so long, in the rooms that it concerns."""
        for batches in self._batches:
            for room, batcher in [*batches.items()]:  # whoever is told may ask again at once
                if concerns is None or concerns(room):
                    batcher.fail(error, longer_than_s)

    def repeat_told(self, longer_than_s: float, vouched_s: Vouched) -> int:
        """Tell those whose poll has waited for so long what they were told before.

        Only where that was `waiting`, not longer ago than `vouched_s(room, position)`. Everybody
        else goes on waiting. Return how many were told.
        """
        number = 0
        for room, batcher in [*self._polls.items()]:
            for presented, waiter in batcher.waiting(longer_than_s):
                view = self._told(room, presented, vouched_s)
                if view is not None:
                    waiter.set_result(view)
                    number += 1
        return number

    def _told(self, room: str, presented: PresentedTicket, vouched_s: Vouched) -> TicketView | None:
        (ticket, text), positions = presented, self._runner.memory(room).positions
        last = positions.position(ticket.place)
        if last is None or last.age_s > vouched_s(room, last.position or None):
            return None
        view = ticket_views.view(
            room, ticket.id, text, "waiting", last.position, 0, positions.waiting, False
        )
        return view._replace(stale=True, restoring=positions.restoring and not last.position)

    async def drain(self) -> None:
        """Wait until every call under way has its answer."""
        for batches in self._batches:
            for batcher in [*batches.values()]:
                await batcher.drain()

    def join(self, room: str, join: Join, waiter: Waiter) -> None:
        """Take a place, together with the others of this moment."""
        # Who may have a place already is never refused from memory.
        memory = self._runner.memories.get(room)
        if memory and memory.limited and join.ticket is None and join.visitor is None:
            wait_s = memory.limited.wait_s(join.source, self._timer_s())
            if wait_s > 0:
                waiter.set_exception(TooMany.joins(wait_s))
                return
        self._joins[room].add(join, waiter)

    def enter(self, room: str, ticket: PresentedTicket) -> asyncio.Future[TicketView]:
        """Go inside, together with the others of this moment."""
        return self._enters[room].submit(ticket)

    def check(self, room: str, session: Session, waiter: Waiter) -> None:
        """Tell whether a session is inside, together with the others of this moment."""
        self._checks[room].add(session, waiter)

    def single(
        self, room: str, call: ScriptCall, op_id: str | None = None
    ) -> asyncio.Future[Reply]:
        """Make a call about one ticket, in its turn."""
        return self._singles[room].submit(_Single(call, op_id))

    async def _run_singles(self, room: str, singles: list[_Single]) -> list[Reply | Exception]:
        """Run calls side by side, the same call of many connections once."""

        async def answer(single: _Single) -> Reply | Exception:
            try:
                return await self._runner.run(room, single.call, op_id=single.op_id)
            except Exception as error:  # of this call alone
                return error

        unique = [*dict.fromkeys(singles)]
        answers = await asyncio.gather(*map(answer, unique))
        by_single = dict(zip(unique, answers, strict=True))
        return [by_single[single] for single in singles]

    def forget(self, room: str, ticket: PresentedTicket) -> None:
        """Vouch no longer for a ticket that gives up its place."""
        self._runner.memory(room).positions.forget(ticket.ticket.place)

    async def read(self, room: str, text: str) -> PresentedTicket:
        """Read a ticket string, or raise why it cannot be used; makes no call about the ticket."""
        if not self._runner.knows(room):
            self._ring.read(check_room_name(room), text)  # a forged ticket must not cost a call
            await self._runner.know(room)
        return self._read(room, text, self._runner.memory(room))

    def poll(self, room: str, ticket: str | PresentedTicket, waiter: Waiter) -> bool:
        """Poll a ticket together with the others of this moment; False if the room is unknown."""
        memory = self._runner.memories.get(room)
        if memory is None or memory.policy is None:
            return False
        self._polls[room].add(self._read(room, ticket, memory), waiter)
        return True

    async def poll_unknown(self, room: str, ticket: str | PresentedTicket) -> TicketView:
        """Get to know the room, and poll a ticket in the same way."""
        if not isinstance(ticket, PresentedTicket):
            ticket = await self.read(room, ticket)
        return await self._polls[room].submit(ticket)

    async def poll_many(self, room: str, tickets: Sequence[str | PresentedTicket]) -> Answers:
        """Poll tickets in one call; strings are read first."""
        check_room_name(room)
        presented = self._read_all(room, tickets)
        if not self._runner.knows(room) and any(
            isinstance(ticket, PresentedTicket) for ticket in presented
        ):
            await self._runner.know(room)
            presented = self._read_all(room, tickets)  # now also by their age
        good = [ticket for ticket in presented if isinstance(ticket, PresentedTicket)]
        return _merged(presented, await self._poll(room, good) if good else [])

    async def _poll(self, room: str, tickets: Sequence[PresentedTicket]) -> Answers:
        """Poll tickets in one call, and put missing tickets back into the line."""
        asked = [each.ticket for each in tickets]
        claims = [f"{ticket.place}:{ticket.epoch}" if ticket.epoch else "" for ticket in asked]
        call = calls.poll([ticket.id for ticket in asked], claims)
        reply = replies.polled(await self._runner.run(room, call))
        waiting, positions = reply.waiting, self._runner.memory(room).positions
        positions.expect(waiting, restoring=reply.restoring)
        noted_at = positions.now()
        views: list[TicketView] = []
        absent: list[int] = []
        for (ticket, text), position in zip(tickets, reply.positions, strict=True):
            if position >= 0:  # nearly all: no call but for what it takes
                positions.waits(ticket.place, position, noted_at)
                views.append(
                    TicketView(room, ticket.id, State.WAITING, text, position or None, waiting)
                )
                continue
            word, number, sid = next(reply.elsewhere)
            positions.forget(ticket.place)
            if word == "absent":
                absent.append(len(views))
                word = "passed"  # until it is back in its place, below
            views.append(
                ticket_views.view(room, ticket.id, text, word, number, sid, waiting, False)
            )
        answers: Answers = [*map(ticket_views.restoring, views)] if reply.restoring else [*views]
        if absent:
            restored = await self._restore(room, [tickets[i] for i in absent])
            for i, view in zip(absent, restored, strict=True):
                answers[i] = view
        return answers

    async def _enter(self, room: str, tickets: Sequence[PresentedTicket]) -> Answers:
        """Let called tickets go inside, in one call."""
        positions = self._runner.memory(room).positions
        for ticket in tickets:  # who comes in knows of their call
            positions.forget(ticket.ticket.place)
        entered = await self._ask_enter(room, tickets)
        pairs = zip(tickets, entered, strict=True)
        absent = [ticket for ticket, answer in pairs if answer.word == "absent"]
        if absent:  # swept or lost: they get their places back, but no turn
            await self._restore(room, absent)
            again = iter(await self._ask_enter(room, absent))
            entered = [next(again) if at.word == "absent" else at for at in entered]
        return [ticket_views.entered(*pair) for pair in zip(tickets, entered, strict=True)]

    async def _ask_enter(
        self, room: str, tickets: Sequence[PresentedTicket]
    ) -> list[EnteredTicket]:
        ids, claims = [each.ticket.id for each in tickets], [each.claim for each in tickets]
        return replies.entered(await self._runner.run(room, calls.enter(ids, claims)))

    async def check_many(self, room: str, sessions: Sequence[Session]) -> list[bool]:
        """Tell in one call which sessions are inside."""
        return replies.checked(await self._runner.run(room, calls.check(sessions)))

    async def join_many(self, room: str, joins: Sequence[Join]) -> Answers:
        """Join visitors in one call."""
        await self._runner.know(check_room_name(room))
        strangers = sum(join.ticket is None and join.visitor is None for join in joins)
        ids = iter(self._ring.new_ids(strangers))
        tickets = [self._ticket_for(room, join, ids) for join in joins]
        good = [
            (ticket, join)
            for ticket, join in zip(tickets, joins, strict=True)
            if isinstance(ticket, PresentedTicket)
        ]
        return _merged(tickets, await self._join(room, good, restore=False) if good else [])

    async def _restore(self, room: str, tickets: Sequence[PresentedTicket]) -> Answers:
        """Put tickets back into their places, where the room still has those."""
        return await self._join(room, [(ticket, _UNCOUNTED) for ticket in tickets], restore=True)

    async def _join(
        self, room: str, tickets: Sequence[tuple[PresentedTicket, Join]], *, restore: bool
    ) -> Answers:
        rows = [(each.ticket.id, each.claim, join.enter, join.source) for each, join in tickets]
        per_minute = self._joins_per_minute
        word = "redraw"
        while word == "redraw":  # its reply brought the current policy and epoch
            draw = self._runner.memory(room).draw(self._ring, room)
            # Before the server looks at its clock, so that nobody is refused from memory too long.
            asked_at_s = self._timer_s()
            call = calls.join(rows, draw, restore=restore, per_minute=per_minute)
            reply = await self._runner.run(room, call)
            word = reply.word
        joined, now_s = replies.joined(reply), int(self._now_s())
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
            answers.append(view)
        return answers

    def _ticket_for(
        self, room: str, join: Join, new_ids: Iterator[str]
    ) -> PresentedTicket | WaitroomError:
        ring = self._ring
        try:
            if join.ticket is not None:
                old = ring.read(room, join.ticket)
                memory = self._runner.memory(room)
                if not self._too_old(old, memory.policy):
                    return self._read(room, join.ticket, memory)
                ticket_id = old.id  # an expired place does not keep its holder from a new one
            elif join.visitor is not None:
                ticket_id = ring.visitor_id(room, join.visitor)
            else:
                ticket_id = next(new_ids)
        except WaitroomError as error:
            return error
        return PresentedTicket(Ticket(room, ticket_id, 0, 0, int(self._now_s())))

    def _read(self, room: str, text: str | PresentedTicket, memory: RoomMemory) -> PresentedTicket:
        if isinstance(text, PresentedTicket):
            return text
        ticket = self._ring.read(room, text)
        if self._too_old(ticket, memory.policy):
            raise InvalidTicket("it is too old; join again for a new one")
        if ticket.epoch > memory.epoch:
            memory.claim = max(memory.claim, ticket.epoch)
        return PresentedTicket(ticket, text)

    def _read_all(
        self, room: str, tickets: Sequence[str | PresentedTicket]
    ) -> list[PresentedTicket | WaitroomError]:
        # A name that somebody made up must leave nothing behind.
        memory = self._runner.memories.get(room) or RoomMemory()
        presented: list[PresentedTicket | WaitroomError] = []
        for ticket in tickets:
            try:
                presented.append(self._read(room, ticket, memory))
            except WaitroomError as error:
                presented.append(error)
        return presented

    def _too_old(self, ticket: Ticket, policy: Policy | None) -> bool:
        life = policy.ticket_ttl_s if policy else None
        return life is not None and self._now_s() > ticket.issued_s + life

    def _now_s(self) -> float:
        clock = self._runner.clock
        return clock() / 1e6 if clock else time.time()

    def _timer_s(self) -> float:
        """Return a time that no setting of the clock moves."""
        clock = self._runner.clock
        return clock() / 1e6 if clock else time.monotonic()


_UNCOUNTED = Join()


def _merged(tickets: Iterable[PresentedTicket | WaitroomError], answers: Answers) -> Answers:
    """Return the answers of the tickets sent, merged with the errors of the others."""
    rest = iter(answers)
    return [next(rest) if isinstance(each, PresentedTicket) else each for each in tickets]
