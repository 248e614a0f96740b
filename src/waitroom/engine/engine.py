"""The engine: one method per verb. Everything that touches Redis or Valkey goes through here.

    engine = await Engine.connect(None, data_dir, ring)
    await engine.create("concert", preset("slots"))
    view = await engine.join("concert")

A visitor is known by their signed ticket string; a forged one is refused before the
server is asked.
"""

from __future__ import annotations

import builtins
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Self, TypeVar

from waitroom.engine import event_log, inputs, keys, policies, protocol, ticket_views
from waitroom.engine.api_keys import ApiKeys
from waitroom.engine.audit import Audit
from waitroom.engine.connection.connect import Backend, connect
from waitroom.engine.crowd import Answers, Join, Session, Visitors
from waitroom.engine.handoffs import Handoffs
from waitroom.engine.lines import Lines, Settled, Spot
from waitroom.engine.runner import Clock, OnChange, OnScript, Runner
from waitroom.engine.scripts import Verb
from waitroom.engine.ticket_views import PresentedTicket
from waitroom.errors import InvalidInput, RoomExists, UnknownRoom, VersionConflict
from waitroom.models import (
    MEMBERS_PER_SCRIPT,
    Advanced,
    EventPage,
    Page,
    Policy,
    PolicyChange,
    Room,
    Sample,
    State,
    Stats,
    TicketView,
    check_room_name,
)
from waitroom.tickets import KeyRing, Ticket

_ROOMS_PER_PIPELINE = 100
_CONNECT_S = 2.0
_Item = TypeVar("_Item")


class Engine:
    """All verbs of Waitroom on one server, for any number of rooms and concurrent callers."""

    def __init__(
        self,
        backend: Backend,
        ring: KeyRing,
        *,
        clock: Clock | None = None,
        patience_s: float | None = None,
        admin_key: str | None = None,
    ) -> None:
        self.backend = backend
        self.ring = ring
        flags = backend.facts.scripts_take_flags
        self.runner = Runner(backend.client, flags=flags, clock=clock, patience_s=patience_s)
        self.visitors = Visitors(self.runner, ring)
        self.lines = Lines(self.runner)
        self.api_keys = ApiKeys(self.runner, bootstrap=admin_key)
        self.audit = Audit(self.runner)
        self.handoffs = Handoffs(self.runner)

    @classmethod
    async def connect(
        cls,
        url: str | None,
        data_dir: Path,
        ring: KeyRing,
        *,
        timeout_s: float = 2.0,
        connect_timeout_s: float | None = None,
        patience_s: float | None = None,
        clock: Clock | None = None,
        admin_key: str | None = None,
    ) -> Self:
        """Connect to the server of `url`, or start an own one in `data_dir`.

        A call gives up after `timeout_s` without an answer, and is tried again, but not once
        `patience_s` have passed. The first connection may take `connect_timeout_s`, two
        seconds unless `timeout_s` is longer. `admin_key` is an API key that the settings give.
        """
        first_s = max(timeout_s, _CONNECT_S) if connect_timeout_s is None else connect_timeout_s
        backend = await connect(url, data_dir, timeout_s, connect_timeout_s=first_s)
        try:
            return cls(backend, ring, clock=clock, patience_s=patience_s, admin_key=admin_key)
        except BaseException:  # a key that cannot be one
            await backend.aclose()
            raise

    async def aclose(self) -> None:
        """Let calls under way end, then close the connection and an own server."""
        await self.visitors.drain()
        await self.lines.drain()
        await self.backend.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.aclose()

    # Rooms ----------------------------------------------------------------------------------

    async def create(self, room: str, policy: Policy, *, op_id: str | None = None) -> Room:
        """Make a room."""
        check_room_name(room)
        await self.runner.command("SADD", keys.ROOMS, room)
        reply = await self._configure(room, "create", "", policy, op_id)
        if reply.word == "room_exists":
            raise RoomExists(room)
        return await self.room(room)

    async def configure(
        self, room: str, *, version: int | None = None, op_id: str | None = None, **changes: Any
    ) -> PolicyChange:
        """Change fields of a policy, at once; with `version`, only if it still is that one.

        Return the room directly before and after. A repeat of an `op_id` changes nothing.
        """
        while True:
            old = await self.room(room)
            policy = old.policy.change(**changes)
            # The script compares versions, for it alone knows whether this is a repeat.
            expected = old.version if version is None else version
            reply = await self._configure(room, "update", expected, policy, op_id)
            if reply.word == "ok":
                return PolicyChange(old, await self.room(room))
            if reply.word == "lost":
                raise UnknownRoom(room)
            if version is not None:
                raise VersionConflict(room, version, reply.number("version"))

    async def _configure(
        self, room: str, action: str, version: int | str, policy: Policy, op_id: str | None
    ) -> protocol.Reply:
        args = [action, version, *policies.write(policy)]
        reply = await self.runner.run(Verb.CONFIGURE, room, args, op_id=inputs.op_id_of(op_id))
        if reply.word == "ok":
            memory = self.runner.memory(room)
            memory.policy, memory.version = policy, reply.number("version")
        return reply

    async def room(self, room: str) -> Room:
        """Return a room with its policy as it is now."""
        check_room_name(room)
        reply = await self.runner.run(Verb.STATS, room, [])
        memory = self.runner.memory(room)
        if memory.policy is None:
            raise UnknownRoom(room)
        return Room(room, memory.policy, memory.version, reply.number("epoch"))

    async def rooms(self) -> tuple[str, ...]:
        """Return the names of all rooms."""
        return tuple(
            sorted(name.decode() for name in await self.runner.command("SMEMBERS", keys.ROOMS))
        )

    async def occupied(self, rooms: Sequence[str]) -> builtins.list[str]:
        """Return those rooms that hold anybody; a cheap question, asked of many at once."""
        found: builtins.list[str] = []
        for some in _some(rooms, _ROOMS_PER_PIPELINE):
            counts = await self.runner.exists([(r, ("waiting", "called", "inside")) for r in some])
            found += (room for room, count in zip(some, counts, strict=True) if count)
        return found

    async def meet(self, rooms: Sequence[str]) -> builtins.list[str]:
        """Get to know rooms, so that they survive a loss; return those with something to tidy."""
        return [
            room
            for some in _some(rooms, _ROOMS_PER_PIPELINE)
            for room in await self.runner.meet(some)
        ]

    def remembered(self) -> set[str]:
        """Return the rooms that this process could bring back after a loss."""
        return {room for room in self.runner.memories if self.runner.knows(room)}

    def policy_of(self, room: str) -> Policy | None:
        """Return the policy that this process knows of a room, without asking the server."""
        memory = self.runner.memories.get(room)
        return memory.policy if memory is not None else None

    async def ping(self) -> None:
        """Ask the server for a sign of life; no retries, so that the caller learns the truth."""
        await self.runner.client.ping()

    def on_change(self, tell: OnChange) -> Callable[[], None]:
        """Tell of every room that this process changes; call what is returned to end that."""
        return _subscribed(self.runner.on_change, tell)

    def on_script(self, tell: OnScript) -> Callable[[], None]:
        """Tell of every script call; call what is returned to end that."""
        return _subscribed(self.runner.on_script, tell)

    @property
    def oldest_call_s(self) -> float:
        """The age of the oldest call of visitors under way; 0.0 if there is none."""
        return self.visitors.oldest_s

    def fail_waiting(self, error: Exception) -> None:
        """Give the error to all visitors who wait for an answer, now."""
        self.visitors.fail(error)

    def declare(self, room: str, policy: Policy) -> None:
        """Remember a room from a configuration file: it comes back after a loss and our restart."""
        self.runner.declare(check_room_name(room), policy)

    async def clear(self, room: str, *, op_id: str | None = None) -> int:
        """Empty a room and refuse all its tickets from now on; return how many it held."""
        reply = await self._run(Verb.CLEAR, room, [], inputs.op_id_of(op_id))
        return reply.number("cleared")

    async def drop(self, room: str, *, op_id: str | None = None) -> bool:
        """Remove a room with all that it holds; return whether it was there."""
        check_room_name(room)
        try:
            await self.runner.run(Verb.DROP, room, [], op_id=inputs.op_id_of(op_id))
            found = True
        except UnknownRoom:
            found = False
        await self.runner.command("SREM", keys.ROOMS, room)
        self.runner.memories.pop(room, None)
        return found

    # Visitors -------------------------------------------------------------------------------

    async def join(
        self,
        room: str,
        ticket: str | None = None,
        *,
        visitor: str | None = None,
        enter: bool = False,
    ) -> TicketView:
        """Take a place, or keep the one that `ticket` or `visitor` has."""
        check_room_name(room)
        return await self.visitors.joins(room).submit(Join(ticket, visitor, enter))

    def poll(self, room: str, ticket: str | PresentedTicket) -> Awaitable[TicketView]:
        """Tell where a ticket is, and that its holder is still there.

        Nearly every call to a busy server ends here. So it is no coroutine: where the room is
        known, the future of the batch is all that is made and awaited.
        """
        return self.visitors.poll_one(room, ticket)

    async def read_ticket(self, room: str, text: str) -> PresentedTicket:
        """Read a ticket string, or raise why it cannot be used; nothing of the ticket is asked."""
        return await self.visitors.read(room, text)

    async def join_many(self, room: str, joins: Sequence[Join]) -> Answers:
        """Join up to 500 visitors in one call; each gets a view or their own error."""
        inputs.check_many("joins", joins)
        return await self.visitors.join(room, joins)

    async def poll_many(self, room: str, tickets: Sequence[str | PresentedTicket]) -> Answers:
        """Poll up to 500 tickets in one call; each gets a view or its own error."""
        inputs.check_many("tickets", tickets)
        return await self.visitors.poll_many(room, tickets)

    async def enter(self, room: str, ticket: str) -> TicketView:
        """Go inside; asked again, answer the same session."""
        held = await self.visitors.read(room, ticket)
        return await self.visitors.enters(room).submit(held)

    async def renew(
        self, room: str, ticket: str, *, sid: int | None = None, vouched_until_ms: int | None = None
    ) -> TicketView:
        """Extend a session from now. A gate may vouch for one whose record was lost."""
        held = await self.visitors.read(room, ticket)
        args = [held.ticket.id, inputs.or_empty(sid), inputs.or_empty(vouched_until_ms), held.claim]
        return _inside(room, held, await self._run(Verb.RENEW, room, args))

    async def finish(
        self, room: str, ticket: str, *, sid: int | None = None, op_id: str | None = None
    ) -> TicketView:
        """End a session; its place goes to the next one in the same call."""
        held = await self.visitors.read(room, ticket)
        args = [held.ticket.id, inputs.or_empty(sid)]
        reply = await self._run(Verb.FINISH, room, args, inputs.op_id_of(op_id))
        if reply.word != "finished":
            raise protocol.refusal(reply.word)
        reason = protocol.GONE["finished"]
        return TicketView(room, held.ticket.id, State.GONE, ticket, reason=reason)

    async def renew_session(
        self, room: str, ticket_id: str, sid: int, *, vouched_until_ms: int | None = None
    ) -> TicketView:
        """Extend a session for a gate, which knows it by a pass that it has verified."""
        held = PresentedTicket(
            Ticket(check_room_name(room), inputs.check_ticket_id(ticket_id), 0, 0, 0)
        )
        args = [ticket_id, sid, inputs.or_empty(vouched_until_ms), held.claim]
        return _inside(room, held, await self._run(Verb.RENEW, room, args))

    async def finish_session(self, room: str, ticket_id: str, sid: int) -> None:
        """End a session for a gate; one that has ended already is no error of theirs."""
        args = [inputs.check_ticket_id(ticket_id), sid]
        reply = await self._run(Verb.FINISH, room, args, inputs.op_id_of(None))
        if reply.word != "finished":
            raise protocol.refusal(reply.word)

    async def leave(self, room: str, ticket: str, *, op_id: str | None = None) -> TicketView:
        """Give up a place, a turn or a session."""
        held = await self.visitors.read(room, ticket)
        await self._run(Verb.LEAVE, room, [held.ticket.id, held.claim], inputs.op_id_of(op_id))
        return TicketView(room, held.ticket.id, State.GONE, ticket, reason=protocol.GONE["left"])

    async def defer(
        self, room: str, ticket: str, places: int, *, op_id: str | None = None
    ) -> TicketView:
        """Let `places` people go first; the view has the new ticket string."""
        held = await self.visitors.read(room, ticket)
        inputs.check_count("places", places, 1_000_000)
        reply = await self._run(Verb.DEFER, room, [held.ticket.id, places], inputs.op_id_of(op_id))
        if reply.word != "waiting":
            raise protocol.refusal(reply.word)
        moved = held.ticket._replace(
            place=reply.number("place"),
            epoch=reply.number("epoch"),
            generation=reply.number("defers"),
        )
        position = reply.number("position")
        return TicketView(room, moved.id, State.WAITING, self.ring.sign(moved), position)

    async def check(self, room: str, ticket_id: str, sid: int) -> bool:
        """Tell whether a session is inside now. It is no sign of life, and cheaper than a poll."""
        check_room_name(room)
        inputs.check_session((ticket_id, sid))
        return await self.visitors.checks(room).submit((ticket_id, sid))

    async def check_many(self, room: str, sessions: Sequence[Session]) -> builtins.list[bool]:
        """Check up to 500 sessions, each the id of a ticket and a `sid`, in one call."""
        check_room_name(room)
        inputs.check_many("sessions", sessions)
        for session in sessions:
            inputs.check_session(session)
        return await self.visitors.check(room, sessions)

    # Operators and the ticker ---------------------------------------------------------------

    async def advance(self, room: str, most: int = MEMBERS_PER_SCRIPT) -> Advanced:
        """Do one bounded step of housekeeping and admission."""
        inputs.check_count("most", most, MEMBERS_PER_SCRIPT)
        return protocol.advanced(await self._run(Verb.ADVANCE, room, [most]))

    async def admit(
        self, room: str, count: int, *, force: bool = False, op_id: str | None = None
    ) -> int:
        """Call the first `count` people by hand; return how many there were room for."""
        inputs.check_count("count", count, 1_000_000)
        op_id, total, step = inputs.op_id_of(op_id), 0, 0
        while total < count:
            want = min(count - total, MEMBERS_PER_SCRIPT)
            args = [want, int(force)]
            reply = await self._run(Verb.ADMIT, room, args, f"{op_id}.{step}")
            if reply.word != "ok":
                if total:
                    break
                raise protocol.refusal(reply.word)
            total, step = total + reply.number("called"), step + 1
            if reply.number("called") < want and not reply.number("more"):
                break
        return total

    async def call(
        self, room: str, ticket_id: str, *, force: bool = False, op_id: str | None = None
    ) -> int | None:
        """Call one ticket by hand; return until when it may enter, None for no limit."""
        args = [inputs.check_ticket_id(ticket_id), int(force)]
        reply = await self._run(Verb.CALL, room, args, inputs.op_id_of(op_id))
        if reply.word != "called":
            raise protocol.refusal(reply.word)
        return reply.moment("until")

    async def kick(self, room: str, ticket_ids: Iterable[str], *, op_id: str | None = None) -> int:
        """Remove tickets wherever they are; return how many were there."""
        if isinstance(ticket_ids, str):  # or each of its letters would be an id
            raise InvalidInput("ticket ids", "must be a list of ids, not one string")
        ids = [inputs.check_ticket_id(ticket_id) for ticket_id in ticket_ids]
        op_id, total = inputs.op_id_of(op_id), 0
        for start in range(0, len(ids), MEMBERS_PER_SCRIPT):
            some = ids[start : start + MEMBERS_PER_SCRIPT]
            reply = await self._run(Verb.KICK, room, some, f"{op_id}.{start}")
            total += reply.number("kicked")
        return total

    async def settle(
        self, room: str, tickets: Sequence[Settled] = (), *, pace: str = "", forced: bool = False
    ) -> int:
        """Bring tickets to where a record elsewhere says they are; return how many changed.

        A revision that is older than one settled before changes nothing, unless it is forced; of
        several for one ticket the newest counts. Without tickets it only tells those who watch
        that the record has changed.
        """
        check_room_name(room)
        inputs.check_settled(tickets, pace)
        newest = _newest(tickets)
        total = 0
        try:
            for some in _some(newest, MEMBERS_PER_SCRIPT) if newest else ((),):
                args = [int(forced), pace, *(value for one in some for value in one)]
                reply = await self.runner.run(Verb.SETTLE, room, args, items=max(1, len(some)))
                total += reply.number("settled")
        finally:
            self.lines.forget(room)
        return total

    async def spot(self, room: str, ticket_id: str) -> Spot:
        """Return where a ticket of a settled line stands."""
        return await self.lines.spot(room, ticket_id)

    async def revisions(self, rooms: Sequence[str]) -> builtins.list[int]:
        """Return a number per room that is another one after every change; 0 if it is not there."""
        return await self.lines.revisions(rooms)

    def forget_line(self, room: str) -> None:
        """Ask for the length and pace of a line again, for they have changed."""
        self.lines.forget(room)

    async def list(
        self,
        room: str,
        state: State = State.WAITING,
        *,
        after: str | None = None,
        limit: int = 100,
        since_ms: int | None = None,
        until_ms: int | None = None,
    ) -> Page:
        """Return a page of tickets in a state; waiting ones also by when they arrived."""
        inputs.check_count("limit", limit, MEMBERS_PER_SCRIPT)
        if state is State.GONE:
            raise InvalidInput("state", "must be waiting, called or inside")
        if after is not None and not (after.isascii() and after.isdecimal() and len(after) <= 16):
            raise InvalidInput("after", "must be the cursor of an earlier page")
        low, high = (inputs.or_empty(t and t * 1000) for t in (since_ms, until_ms))
        args = [state, after or "", limit, low, high]
        return protocol.listed(await self._run(Verb.LIST, room, args), state)

    async def stats(self, room: str) -> Stats:
        """Return a room at a glance."""
        return protocol.stats(await self._run(Verb.STATS, room, []), room)

    async def sample(self, room: str) -> Sample | None:
        """Note the room's numbers, and return them; None if that was done a moment ago."""
        return protocol.sample(await self._run(Verb.SAMPLE, room, []))

    async def series(
        self, room: str, *, since_ms: int | None = None, limit: int = 720
    ) -> tuple[Sample, ...]:
        """Return the newest samples, oldest first: `limit` at most, since a moment."""
        return await event_log.series(self.runner, check_room_name(room), since_ms, limit)

    async def events(self, room: str, after: str | None = None, limit: int = 500) -> EventPage:
        """Return what happened after a cursor; without one, nothing but the newest cursor."""
        return await event_log.events(self.runner, check_room_name(room), after, limit)

    # Inside ---------------------------------------------------------------------------------

    async def _run(
        self, verb: Verb, room: str, args: Sequence[Any], op_id: str | None = None
    ) -> protocol.Reply:
        return await self.runner.run(verb, check_room_name(room), [*args], op_id=op_id)


def _inside(room: str, held: PresentedTicket, reply: protocol.Reply) -> TicketView:
    if reply.word != "inside":
        raise protocol.refusal(reply.word)
    sid, ends, new = reply.number("sid"), reply.number("ends"), reply.fields.get("new") == 1
    return ticket_views.view(room, held.ticket.id, held.text, "inside", ends, sid, 0, new)


def _newest(tickets: Sequence[Settled]) -> builtins.list[Settled]:
    """Return the newest that is said of each ticket; of two with one revision, the last."""
    found: dict[str, Settled] = {}
    for one in tickets:
        known = found.get(one[0])
        if known is None or one[3] >= known[3]:
            found[one[0]] = one
    return [*found.values()]


def _some(items: Sequence[_Item], most: int) -> Iterator[Sequence[_Item]]:
    for start in range(0, len(items), most):
        yield items[start : start + most]


def _subscribed(observers: builtins.list[_Item], tell: _Item) -> Callable[[], None]:
    observers.append(tell)

    def unsubscribe() -> None:
        if tell in observers:
            observers.remove(tell)

    return unsubscribe
