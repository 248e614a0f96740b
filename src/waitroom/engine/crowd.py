"""The crowd's side of the engine: tickets read and checked, joined and polled many at a time."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from typing import Any

from waitroom.engine import protocol, ticket_views
from waitroom.engine.batcher import Batcher, failed
from waitroom.engine.runner import Runner
from waitroom.engine.scripts import Verb
from waitroom.engine.ticket_views import PresentedTicket
from waitroom.errors import InvalidTicket, WaitroomError
from waitroom.models import BeforeOpen, TicketView, check_room_name
from waitroom.tickets import KeyRing, Ticket

Answers = list[TicketView | WaitroomError]
"""One per ticket, in the order asked: its view, or its own error."""

Session = tuple[str, int]
"""The id of a ticket, and the session that it is said to have."""

ENTERS_PER_SCRIPT = 400
"""Leaves as many as are called next within what one script may move."""

_MOST_BATCHERS = 4_096
_NOBODY = "-" * 16
_INSIDE = ord("1")


@dataclass(frozen=True, slots=True)
class Join:
    """One visitor of a `join`: a new one, one with an old ticket, or one known by name."""

    ticket: str | None = None
    visitor: str | None = None
    enter: bool = False


class Visitors:
    """Reads tickets and sends those of one room together."""

    def __init__(self, runner: Runner, ring: KeyRing) -> None:
        self._runner = runner
        self._ring = ring
        self._polls: dict[str, Batcher[PresentedTicket, TicketView]] = {}
        self._joins: dict[str, Batcher[Join, TicketView]] = {}
        self._enters: dict[str, Batcher[PresentedTicket, TicketView]] = {}
        self._checks: dict[str, Batcher[Session, bool]] = {}

    def _batchers(self) -> list[Batcher[Any, Any]]:
        kinds: list[dict[str, Batcher[Any, Any]]] = [self._polls, self._joins, self._enters]
        return [one for kind in (*kinds, self._checks) for one in kind.values()]

    @property
    def oldest_s(self) -> float:
        """The age of the oldest call under way, in any room; 0.0 if there is none."""
        return max((one.oldest_s for one in self._batchers()), default=0.0)

    def fail(self, error: Exception) -> None:
        """Give the error to all who wait for an answer, now."""
        for one in self._batchers():
            one.fail(error)

    async def drain(self) -> None:
        """Wait until every call under way has its answer."""
        for one in self._batchers():
            await one.drain()

    def polls(self, room: str) -> Batcher[PresentedTicket, TicketView]:
        """Return the batcher of a room's polls."""
        found = self._polls.get(room)
        if found is None:
            found = Batcher(lambda held: self.poll(room, held))
            _keep(self._polls, room, found)
        return found

    def joins(self, room: str) -> Batcher[Join, TicketView]:
        """Return the batcher of a room's joins."""
        found = self._joins.get(room)
        if found is None:
            # One call at a time, so that who comes first here is first in the line too.
            found = Batcher(lambda joins: self.join(room, joins), in_flight=1)
            _keep(self._joins, room, found)
        return found

    def enters(self, room: str) -> Batcher[PresentedTicket, TicketView]:
        """Return the batcher of a room's enters."""
        found = self._enters.get(room)
        if found is None:
            found = Batcher(lambda held: self.enter(room, held), most=ENTERS_PER_SCRIPT)
            _keep(self._enters, room, found)
        return found

    def checks(self, room: str) -> Batcher[Session, bool]:
        """Return the batcher of a room's checks."""
        found = self._checks.get(room)
        if found is None:
            found = Batcher(lambda sessions: self.check(room, sessions))
            _keep(self._checks, room, found)
        return found

    async def read(self, room: str, text: str) -> PresentedTicket:
        """Read a ticket string, or raise why it cannot be used; the server is not asked for it."""
        if not self._runner.knows(room):
            self._ring.read(check_room_name(room), text)  # a forged one must not cost a question
            await self._runner.know(room)
        return self._read(room, text)

    def poll_one(self, room: str, ticket: str | PresentedTicket) -> Awaitable[TicketView]:
        """Poll a ticket together with the others of this moment; see `Engine.poll`."""
        if not self._runner.knows(room):
            return self._poll_unknown(room, ticket)
        try:
            presented = self._read(room, ticket)
        except WaitroomError as error:
            return failed(error)
        return self.polls(room).submit(presented)

    async def _poll_unknown(self, room: str, ticket: str | PresentedTicket) -> TicketView:
        if not isinstance(ticket, PresentedTicket):
            ticket = await self.read(room, ticket)
        return await self.polls(room).submit(ticket)

    async def poll_many(self, room: str, tickets: Sequence[str | PresentedTicket]) -> Answers:
        """Poll tickets in one call; strings are read first."""
        check_room_name(room)
        presented = self._read_all(room, tickets)
        if not self._runner.knows(room) and any(
            isinstance(one, PresentedTicket) for one in presented
        ):
            await self._runner.know(room)
            presented = self._read_all(room, tickets)  # now also by their age
        good = [one for one in presented if isinstance(one, PresentedTicket)]
        answers = iter(await self.poll(room, good) if good else ())
        return [next(answers) if isinstance(one, PresentedTicket) else one for one in presented]

    async def poll(self, room: str, held: Sequence[PresentedTicket]) -> Answers:
        """Poll tickets in one call, and put back into the line who is missing there."""
        ids = "".join([one.ticket.id for one in held])
        claims = " ".join([one.claim or "-" for one in held])
        reply = await self._runner.run(Verb.POLL, room, [ids, claims], items=len(held))
        waiting = reply.number("waiting")
        others = protocol.others(reply)
        found: Answers = []
        absent: list[int] = []
        for one, position in zip(held, reply.fields["positions"], strict=True):
            word, number, sid = ("waiting", position, 0) if position >= 0 else next(others)
            if word == "absent":
                absent.append(len(found))
                word = "passed"  # until it is back in its place, below
            found.append(
                ticket_views.view(room, one.ticket.id, one.text, word, number, sid, waiting, False)
            )
        if absent:
            restored = await self.restore(room, [held[i] for i in absent])
            for i, view in zip(absent, restored, strict=True):
                found[i] = view
        return found

    async def enter(self, room: str, held: Sequence[PresentedTicket]) -> Answers:
        """Let called tickets go inside, in one call."""
        found = await self._enter(room, held)
        absent = [one for one, (word, *_) in zip(held, found, strict=True) if word == "absent"]
        if absent:  # swept or lost: they have their places back, which is not a turn
            await self.restore(room, absent)
            again = iter(await self._enter(room, absent))
            found = [next(again) if spot[0] == "absent" else spot for spot in found]
        return [ticket_views.entered(one, *spot) for one, spot in zip(held, found, strict=True)]

    async def _enter(
        self, room: str, held: Sequence[PresentedTicket]
    ) -> list[tuple[str, int, int, bool]]:
        args = [value for one in held for value in (one.ticket.id, one.claim)]
        return [*protocol.entered(await self._runner.run(Verb.ENTER, room, args, items=len(held)))]

    async def check(self, room: str, sessions: Sequence[Session]) -> list[bool]:
        """Tell in one call which sessions are inside."""
        # What cannot be an id is nobody's; it must not shift the others.
        ids = "".join([ticket_id if _is_id(ticket_id) else _NOBODY for ticket_id, _ in sessions])
        sids = " ".join([str(sid) for _, sid in sessions])
        reply = await self._runner.run(Verb.CHECK, room, [ids, sids], items=len(sessions))
        return [one == _INSIDE for one in reply.fields["inside"]]

    async def join(self, room: str, joins: Sequence[Join]) -> Answers:
        """Join visitors in one call."""
        await self._runner.know(check_room_name(room))
        held = [self._held_for(room, join) for join in joins]
        good = [
            (one, join.enter)
            for one, join in zip(held, joins, strict=True)
            if isinstance(one, PresentedTicket)
        ]
        answers = iter(await self._join(room, good, restore=False) if good else ())
        return [next(answers) if isinstance(one, PresentedTicket) else one for one in held]

    async def restore(self, room: str, held: Sequence[PresentedTicket]) -> Answers:
        """Put tickets back into their places, where the room still has those."""
        return await self._join(room, [(one, False) for one in held], restore=True)

    async def _join(
        self, room: str, held: Sequence[tuple[PresentedTicket, bool]], *, restore: bool
    ) -> Answers:
        word = "redraw"
        while word == "redraw":  # after it the policy and epoch of that reply are known
            args = self._join_args(room, held, restore)
            reply = await self._runner.run(Verb.JOIN, room, args, items=len(held))
            word = reply.word
        waiting, epoch = reply.number("waiting"), reply.number("epoch")
        now_s = int(self._now_s())
        return [
            ticket_views.joined(self._ring, one, spot, waiting, epoch, now_s)
            for (one, _), spot in zip(held, protocol.joined(reply), strict=True)
        ]

    def _join_args(
        self, room: str, held: Sequence[tuple[PresentedTicket, bool]], restore: bool
    ) -> list[Any]:
        memory = self._runner.memory(room)
        draws = memory.policy is not None and memory.policy.before_open is BeforeOpen.DRAW
        args: list[Any] = [int(restore)]
        for one, enter in held:
            ticket_id = one.ticket.id
            draw = self._ring.draw(room, memory.epoch, ticket_id) if draws else ""
            args += (ticket_id, one.claim, draw, int(enter))
        return args

    def _held_for(self, room: str, join: Join) -> PresentedTicket | WaitroomError:
        ring = self._ring
        try:
            if join.ticket is not None:
                old = ring.read(room, join.ticket)
                if not self._too_old(old):
                    return self._read(room, join.ticket)
                ticket_id = old.id  # a place that is over does not keep its holder from a new one
            elif join.visitor is not None:
                ticket_id = ring.visitor_id(room, join.visitor)
            else:
                ticket_id = ring.new_id()
        except WaitroomError as error:
            return error
        return PresentedTicket(Ticket(room, ticket_id, 0, 0, int(self._now_s())))

    def _read(self, room: str, text: str | PresentedTicket) -> PresentedTicket:
        if isinstance(text, PresentedTicket):
            return text
        ticket = self._ring.read(room, text)
        if self._too_old(ticket):
            raise InvalidTicket("it is too old; join again for a new one")
        memory = self._runner.memory(room)
        if ticket.epoch > memory.epoch:
            memory.saw_epoch(ticket.epoch)
        return PresentedTicket(ticket, text)

    def _read_all(
        self, room: str, tickets: Sequence[str | PresentedTicket]
    ) -> list[PresentedTicket | WaitroomError]:
        found: list[PresentedTicket | WaitroomError] = []
        for ticket in tickets:
            try:
                found.append(self._read(room, ticket))
            except WaitroomError as error:
                found.append(error)
        return found

    def _too_old(self, ticket: Ticket) -> bool:
        policy = self._runner.memory(ticket.room).policy
        life = policy.ticket_ttl_s if policy else None
        return life is not None and self._now_s() > ticket.issued_s + life

    def _now_s(self) -> float:
        clock = self._runner.clock
        return clock() / 1e6 if clock else time.time()


def _is_id(ticket_id: str) -> bool:
    return len(ticket_id) == len(_NOBODY) and ticket_id.isascii()


def _keep(batchers: dict[str, Batcher[Any, Any]], room: str, batcher: Batcher[Any, Any]) -> None:
    """Remember a room's batcher; names that visitors make up must not fill the memory."""
    if len(batchers) >= _MOST_BATCHERS:
        for name in [name for name, old in batchers.items() if old.idle]:
            del batchers[name]
    batchers[room] = batcher
