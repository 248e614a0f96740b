"""The crowd's side of the engine: what many ask at a moment goes out together."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from waitroom.engine import ticket_views
from waitroom.engine.batcher import Batches, Waiter
from waitroom.engine.joins import Join, Joins
from waitroom.engine.protocol import calls, replies
from waitroom.engine.protocol.calls import ScriptCall, Session
from waitroom.engine.protocol.replies import EnteredTicket
from waitroom.engine.protocol.reply import Reply
from waitroom.engine.runner import Runner
from waitroom.engine.ticket_reader import TicketReader
from waitroom.engine.ticket_views import Answers, PresentedTicket
from waitroom.entry_codes import EntryCode
from waitroom.errors import TooMany
from waitroom.models import State, TicketView, check_room_name

ENTERS_PER_SCRIPT = 400
"""Leaves room in one script call for as many people as are called next."""

SINGLES_AT_ONCE = 8
"""Calls about one ticket that run in parallel: half of the connections stay for the crowd."""

Concerns = Callable[[str], bool]
"""Returns whether a room is meant."""

Vouched = Callable[[str, int | None], float]
"""Returns for how many seconds a position that somebody was told may be repeated."""


class _Single(NamedTuple):
    """A call about one ticket. Two equal calls have the same effect as one."""

    call: ScriptCall
    op_id: str | None


class Crowd:
    """Sends the calls of one room together: joins, polls, entries, checks, and single ones."""

    def __init__(self, runner: Runner, reader: TicketReader, joins: Joins) -> None:
        self._runner = runner
        self._reader = reader
        self._restore = joins.restore
        self._polls: Batches[PresentedTicket, TicketView] = Batches(self._poll)
        # One call at a time, so that whoever is first here is first in the line too.
        self._joins: Batches[Join, TicketView] = Batches(joins.join_many, in_flight=1)
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
        """Give the error to all who have waited this long, in the rooms that it concerns."""
        for batches in self._batches:
            for room, batcher in [*batches.items()]:  # whoever gets the error may ask again at once
                if concerns is None or concerns(room):
                    batcher.fail(error, longer_than_s)

    def repeat_told(self, longer_than_s: float, vouched_s: Vouched) -> int:
        """Repeat the last answer to those whose poll has waited this long.

        Only if that answer was `waiting`, and not longer ago than `vouched_s(room, position)`.
        Everybody else goes on waiting. Return how many got an answer.
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
        """Take a place, together with all who join at this moment."""
        # Somebody who may already have a place is never refused from memory; with a used code, only
        # where it was refused a moment ago.
        memory = self._runner.memories.get(room)
        named = join.visitor is not None or join.account is not None
        if memory and memory.limited and join.ticket is None and not named:
            wait_s = memory.limited.wait_s(join.source, self._runner.timer_s())
            if wait_s > 0:
                waiter.set_exception(TooMany.joins(wait_s))
                return
        if memory and memory.refused_codes and join.source and isinstance(join.code, EntryCode):
            now_s = self._runner.timer_s()
            error = memory.refused_codes.refusal(join.code, join.source, now_s)
            if error is not None:
                waiter.set_exception(error)
                return
        self._joins[room].add(join, waiter)

    def enter(self, room: str, ticket: PresentedTicket) -> asyncio.Future[TicketView]:
        """Go inside, together with all who enter at this moment."""
        return self._enters[room].submit(ticket)

    def check(self, room: str, session: Session, waiter: Waiter) -> None:
        """Return whether a session is inside, together with all checks of this moment."""
        self._checks[room].add(session, waiter)

    def single(
        self, room: str, call: ScriptCall, op_id: str | None = None
    ) -> asyncio.Future[Reply]:
        """Make a call about one ticket, in its turn."""
        return self._singles[room].submit(_Single(call, op_id))

    async def _run_singles(self, room: str, singles: list[_Single]) -> list[Reply | Exception]:
        """Run calls in parallel; the same call from many connections runs once."""

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
        """Stop vouching for a ticket that gives up its place."""
        self._runner.memory(room).positions.forget(ticket.ticket.place)

    def poll(self, room: str, ticket: str | PresentedTicket, waiter: Waiter) -> bool:
        """Poll a ticket, together with all polls of this moment; False if the room is unknown."""
        memory = self._runner.memories.get(room)
        if memory is None or memory.policy is None:
            return False
        self._polls[room].add(self._reader.read_known(room, ticket, memory), waiter)
        return True

    async def poll_unknown(self, room: str, ticket: str | PresentedTicket) -> TicketView:
        """Get to know the room, then poll a ticket in the same way."""
        if not isinstance(ticket, PresentedTicket):
            ticket = await self._reader.read(room, ticket)
        return await self._polls[room].submit(ticket)

    async def poll_many(self, room: str, tickets: Sequence[str | PresentedTicket]) -> Answers:
        """Poll tickets in one call; ticket strings are read first."""
        check_room_name(room)
        presented = self._reader.read_all(room, tickets)
        if not self._runner.knows(room) and any(
            isinstance(ticket, PresentedTicket) for ticket in presented
        ):
            await self._runner.know(room)
            presented = self._reader.read_all(room, tickets)  # now their age is checked too
        good = [ticket for ticket in presented if isinstance(ticket, PresentedTicket)]
        return ticket_views.merged(presented, await self._poll(room, good) if good else [])

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
            if position >= 0:  # nearly all: no function call except the necessary ones
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
        for ticket in tickets:  # whoever enters has learned of their call
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
        """Return which sessions are inside, in one call."""
        return replies.checked(await self._runner.run(room, calls.check(sessions)))
