"""The engine: one method per verb. Everything that touches Redis or Valkey goes through here.

    engine = await Engine.connect(None, data_dir, ring)
    await engine.create("concert", preset("slots"))
    view = await engine.join("concert")

A visitor is known by their signed ticket string; a forged one is refused before the
server is asked.
"""

from __future__ import annotations

import asyncio
import builtins
import itertools
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Self, TypeVar

from waitroom.engine import event_log, inputs, persons, ticket_views
from waitroom.engine.api_keys import ApiKeys
from waitroom.engine.audit import Audit
from waitroom.engine.batcher import Waiter
from waitroom.engine.connection.clients import Probe
from waitroom.engine.connection.connect import Backend, connect
from waitroom.engine.crowd import Answers, Concerns, Crowd, Join, Vouched
from waitroom.engine.declared import Declared
from waitroom.engine.handoffs import Handoffs
from waitroom.engine.history import RoomHistory
from waitroom.engine.keys import room_key
from waitroom.engine.lines import LineContents, LineCounts, LineMark, Lines, Settled, Spot
from waitroom.engine.marks import Marks
from waitroom.engine.outbox import Outbox
from waitroom.engine.pipeline import Pipeline
from waitroom.engine.protocol import calls, replies
from waitroom.engine.protocol.calls import ScriptCall, Session
from waitroom.engine.push_subscriptions import PushSubscriptions
from waitroom.engine.rooms import ForeignTickets, Rooms
from waitroom.engine.runner import Clock, OnChange, OnScript, Runner
from waitroom.engine.search import LIVE, NOTED, Matches, Search
from waitroom.engine.sign_outs import OperatorSignOuts
from waitroom.engine.steps import Steps, steps_of
from waitroom.engine.ticket_views import PresentedTicket
from waitroom.engine.user_sessions import UserSessions
from waitroom.engine.webhooks import Webhooks
from waitroom.errors import InvalidInput, WaitroomError
from waitroom.history import HistoryPoint, Step
from waitroom.models import (
    MEMBERS_PER_SCRIPT,
    Advanced,
    EventPage,
    Listed,
    Page,
    Person,
    Policy,
    PolicyChange,
    Reinstated,
    Room,
    Sample,
    State,
    Stats,
    TicketView,
    check_room_name,
)
from waitroom.short_codes import prefix_of
from waitroom.tickets import KeyRing, Ticket

_CONNECT_S = 2.0
_NOBODY = "0" * 16
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
        audit_days: int | None = None,
        joins_per_minute: int = 0,
    ) -> None:
        self.backend = backend
        self.ring = ring
        flags = backend.facts.scripts_take_flags
        self._runner = Runner(backend.clients, flags=flags, clock=clock, patience_s=patience_s)
        self._rooms = Rooms(self._runner)
        self._crowd = Crowd(self._runner, ring, joins_per_minute)
        self._lines = Lines(self._runner)
        self._search = Search(self._runner)
        self._history = RoomHistory(self._runner)
        self.api_keys = ApiKeys(self._runner, bootstrap=admin_key)
        self.audit = Audit(self._runner, audit_days)
        self.declared = Declared(self._runner)
        self.handoffs = Handoffs(self._runner)
        self.outbox = Outbox(self._runner)
        self.webhooks = Webhooks(self._runner)
        self.marks = Marks(self._runner)
        self.push_subscriptions = PushSubscriptions(self._runner)
        self.sign_outs = OperatorSignOuts(self._runner)
        self.user_sessions = UserSessions(self._runner)

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
        audit_days: int | None = None,
        joins_per_minute: int = 0,
    ) -> Self:
        """Connect to the server of `url`, or start one in `data_dir`.

        A call gives up after `timeout_s` without an answer, and is tried again: three times, or
        as long as `patience_s` have not passed. The first connection may take `connect_timeout_s`,
        two seconds unless `timeout_s` is longer. `admin_key` is an API key that the settings give.
        With `audit_days`, older entries of the audit log go when something is written to it.
        A room gives `joins_per_minute` new places to a source, which all engines count together;
        0 = any number.
        """
        first_s = max(timeout_s, _CONNECT_S) if connect_timeout_s is None else connect_timeout_s
        backend = await connect(url, data_dir, timeout_s, connect_timeout_s=first_s)
        try:
            return cls(
                backend,
                ring,
                clock=clock,
                patience_s=patience_s,
                admin_key=admin_key,
                audit_days=audit_days,
                joins_per_minute=joins_per_minute,
            )
        except BaseException:  # the admin key is malformed
            await backend.aclose()
            raise

    async def aclose(self) -> None:
        """Let calls under way end, then close the connection and a server that we started."""
        await self._crowd.drain()
        await self._lines.drain()
        await self.backend.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.aclose()

    def on_change(self, tell: OnChange) -> Callable[[], None]:
        """Call `tell` with every room that this process changes; the result unsubscribes."""
        return _subscribed(self._runner.on_change, tell)

    def on_script(self, tell: OnScript) -> Callable[[], None]:
        """Call `tell` with every script call; the result unsubscribes."""
        return _subscribed(self._runner.on_script, tell)

    @property
    def probe(self) -> Probe:
        """Tells whether the server, or each node of a Cluster, is there."""
        return self.backend.probe

    def node_of(self, room: str) -> str:
        """Return the node of a Cluster on which a room lives; an empty name for one server."""
        return self.probe.node_of(room_key(room, "meta"))

    def give_up_on(self, nodes: Iterable[str]) -> None:
        """Try calls to these nodes only once from now on: they are known to be away."""
        self._runner.away = frozenset(nodes)

    def fail_waiting(
        self, error: Exception, *, longer_than_s: float = 0.0, concerns: Concerns | None = None
    ) -> None:
        """Give the error to visitors who have waited so long, in the rooms that it concerns."""
        self._crowd.fail(error, longer_than_s, concerns)

    def repeat_told(self, longer_than_s: float, vouched_s: Vouched) -> int:
        """Tell those whose poll has waited for so long what they were told before.

        Only where that was `waiting`, not longer ago than `vouched_s(room, position)`. Everybody
        else goes on waiting. Return how many were told.
        """
        return self._crowd.repeat_told(longer_than_s, vouched_s)

    # Rooms ----------------------------------------------------------------------------------

    async def create(self, room: str, policy: Policy, *, op_id: str | None = None) -> Room:
        """Make a room."""
        return await self._rooms.create(room, policy, op_id)

    async def configure(
        self, room: str, *, version: int | None = None, op_id: str | None = None, **changes: Any
    ) -> PolicyChange:
        """Change fields of a policy atomically; with `version`, only if it is still current.

        Return the room directly before and after. A repeat of an `op_id` changes nothing.
        """
        return await self._rooms.configure(room, version, op_id, changes)

    async def clear(self, room: str, *, op_id: str | None = None) -> int:
        """Empty a room and refuse all its tickets from now on; return how many it held."""
        cleared = replies.cleared(await self._once(room, calls.CLEAR, op_id))
        await self.push_subscriptions.forget(room)
        return cleared

    async def drop(self, room: str, *, op_id: str | None = None) -> bool:
        """Remove a room with all that it holds; return whether it was there."""
        dropped = await self._rooms.drop(room, op_id)
        await self.push_subscriptions.forget(room)
        await self._history.forget(room)
        await self.marks.forget(room)
        return dropped

    async def room(self, room: str) -> Room:
        """Return a room with its policy as it is now."""
        return await self._rooms.get(room)

    async def rooms(self) -> tuple[str, ...]:
        """Return the names of all rooms; while a Cluster's index is away, those known here."""
        return await self._rooms.names()

    async def occupied(self, rooms: Sequence[str]) -> builtins.list[str]:
        """Return the rooms with anybody in them; a cheap query for many rooms at once."""
        return await self._rooms.occupied(rooms)

    async def foreign_tickets(self, rooms: Sequence[str]) -> builtins.list[ForeignTickets]:
        """Return the rooms in which tickets of another deployment with our secret were shown."""
        return await self._rooms.foreign_tickets(rooms)

    async def note_kicks(self, rooms: Sequence[str]) -> None:
        """Learn whom anybody has kicked, banned or reinstated, so that it survives a loss."""
        await self._rooms.note_kicks(rooms)

    async def meet(self, rooms: Sequence[str]) -> builtins.list[str]:
        """Get to know rooms, so that they survive a loss; return those with something to tidy."""
        return await self._rooms.meet(rooms)

    def remembered(self) -> set[str]:
        """Return the rooms that this process could bring back after a loss."""
        return {room for room in self._runner.memories if self._runner.knows(room)}

    def policy_of(self, room: str) -> Policy | None:
        """Return the policy that this process knows of a room, without asking the server."""
        memory = self._runner.memories.get(room)
        return memory.policy if memory is not None else None

    def declare(self, room: str, policy: Policy) -> None:
        """Remember a room from a configuration file: it survives a data loss and our restart."""
        self._runner.declare(check_room_name(room), policy)

    # Visitors -------------------------------------------------------------------------------

    async def join(
        self,
        room: str,
        ticket: str | None = None,
        *,
        visitor: str | None = None,
        enter: bool = False,
        source: str = "",
    ) -> TicketView:
        """Take a place, or keep the one that `ticket` or `visitor` has.

        A new place counts for its `source`, made with `KeyRing.source_name`.
        """
        future: asyncio.Future[TicketView] = asyncio.get_running_loop().create_future()
        self.join_for(future, room, Join(ticket, visitor, enter, source))
        return await future

    def join_for(self, waiter: Waiter, room: str, join: Join) -> None:
        """Join a visitor; the waiter gets the view, or why there is none."""
        self._crowd.join(check_room_name(room), join, waiter)

    def poll(self, room: str, ticket: str | PresentedTicket) -> Awaitable[TicketView]:
        """Return where a ticket is, and note that its holder is still there.

        No coroutine: where the room is known, only the future of the batch is made and awaited.
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
        """Poll a ticket; the waiter gets its view. False, and nothing, if the room is not known.

        Nearly every call to a busy server ends here.
        """
        return self._crowd.poll(room, ticket, waiter)

    async def read_ticket(self, room: str, text: str) -> PresentedTicket:
        """Read a ticket string, or raise why it cannot be used; makes no call about the ticket."""
        return await self._crowd.read(room, text)

    async def join_many(self, room: str, joins: Sequence[Join]) -> Answers:
        """Join up to 500 visitors in one call; each gets a view or their own error."""
        inputs.check_many("joins", joins)
        return await self._crowd.join_many(room, joins)

    async def poll_many(self, room: str, tickets: Sequence[str | PresentedTicket]) -> Answers:
        """Poll up to 500 tickets in one call; each gets a view or its own error."""
        inputs.check_many("tickets", tickets)
        return await self._crowd.poll_many(room, tickets)

    async def enter(self, room: str, ticket: str) -> TicketView:
        """Go inside; a repeated call returns the same session."""
        return await self._crowd.enter(room, await self._crowd.read(room, ticket))

    async def renew(
        self, room: str, ticket: str, *, sid: int | None = None, vouched_until_ms: int | None = None
    ) -> TicketView:
        """Extend a session from now. A gate may vouch for one whose record was lost."""
        presented = await self._crowd.read(room, ticket)
        return await self._renew(room, presented, sid, vouched_until_ms)

    async def renew_session(
        self, room: str, ticket_id: str, sid: int, *, vouched_until_ms: int | None = None
    ) -> TicketView:
        """Extend a session for a gate, which knows it by a pass that it has verified."""
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
        """End a session; its place goes to the next one in the same call."""
        ticket_id = (await self._crowd.read(room, ticket)).ticket.id
        call = calls.finish(ticket_id, sid)
        (await self._single(room, call, inputs.op_id_of(op_id))).expect("finished")
        return ticket_views.gone(room, ticket_id, ticket, "finished")

    async def finish_session(self, room: str, ticket_id: str, sid: int) -> None:
        """End a session for a gate; a session that has already ended is no error."""
        call = calls.finish(inputs.check_ticket_id(ticket_id), sid)
        (await self._single(room, call, inputs.op_id_of(None))).expect("finished")

    async def leave(self, room: str, ticket: str, *, op_id: str | None = None) -> TicketView:
        """Give up a place, a turn or a session."""
        presented = await self._crowd.read(room, ticket)
        self._crowd.forget(room, presented)
        call = calls.leave(presented.ticket.id, presented.claim)
        await self._single(room, call, inputs.op_id_of(op_id))
        return ticket_views.gone(room, presented.ticket.id, ticket, "left")

    async def defer(
        self, room: str, ticket: str, places: int, *, op_id: str | None = None
    ) -> TicketView:
        """Let `places` people go first; the view has the new ticket string."""
        presented = await self._crowd.read(room, ticket)
        inputs.check_count("places", places, 1_000_000)
        self._crowd.forget(room, presented)
        call = calls.defer(presented.ticket.id, places)
        reply = await self._single(room, call, inputs.op_id_of(op_id))
        return ticket_views.deferred(self.ring, presented, replies.deferred(reply))

    async def check(self, room: str, ticket_id: str, sid: int) -> bool:
        """Tell whether a session is inside now; cheaper than a poll, and no sign of presence."""
        future: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self.check_for(future, room, (ticket_id, sid))
        return await future

    def check_for(self, waiter: Waiter, room: str, session: Session) -> None:
        """Check a session; the waiter gets whether it is inside."""
        inputs.check_session(session)
        self._crowd.check(check_room_name(room), session, waiter)

    async def check_many(self, room: str, sessions: Sequence[Session]) -> builtins.list[bool]:
        """Check up to 500 sessions, each the id of a ticket and a `sid`, in one call."""
        inputs.check_many("sessions", sessions)
        for session in sessions:
            inputs.check_session(session)
        return await self._crowd.check_many(check_room_name(room), sessions)

    async def has_ended(self, room: str, ticket_id: str, sid: int) -> bool:
        """Tell whether a session is known to have ended early, or its ticket to be kicked."""
        done, kicked = (room_key(check_room_name(room), name) for name in ("done", "kicked"))
        if await self._runner.command("ZSCORE", done, sid) is not None:
            return True
        kicked_ms = await self._runner.command("ZSCORE", kicked, ticket_id)
        return kicked_ms is not None and float(kicked_ms) >= sid / 1000  # session ids are times

    # Operators and the ticker ---------------------------------------------------------------

    async def advance(self, room: str, most: int = MEMBERS_PER_SCRIPT) -> Advanced:
        """Do one bounded step of housekeeping and admission."""
        inputs.check_count("most", most, MEMBERS_PER_SCRIPT)
        return replies.advanced(await self._run(room, calls.advance(most)))

    async def admit(
        self, room: str, count: int, *, force: bool = False, op_id: str | None = None
    ) -> int:
        """Call the first `count` people by hand; return how many there was room for."""
        inputs.check_count("count", count, 1_000_000)
        op_id, total = inputs.op_id_of(op_id), 0
        for step in itertools.count():
            want = min(count - total, MEMBERS_PER_SCRIPT)
            reply = await self._once(room, calls.admit(want, force=force), f"{op_id}.{step}")
            if total and reply.word != "ok":
                break
            done = replies.admitted(reply)
            total += done.called
            if total >= count or (done.called < want and not done.more):
                break
        return total

    async def call(
        self, room: str, ticket_id: str, *, force: bool = False, op_id: str | None = None
    ) -> int | None:
        """Call one ticket by hand; return until when it may enter, None for no limit."""
        call = calls.call(inputs.check_ticket_id(ticket_id), force=force)
        return replies.called(await self._once(room, call, op_id))

    async def kick(
        self, room: str, ticket_ids: Iterable[str], *, ban: bool = False, op_id: str | None = None
    ) -> int:
        """Remove tickets, here or not; return how many were waiting, called or inside.

        None of them comes back to a place it had. With `ban` it cannot join again either, until it
        is kicked without one.
        """
        if isinstance(ticket_ids, str):  # else each of its letters would be an id
            raise InvalidInput("ticket ids", "must be a list of ids, not one string")
        ids = [inputs.check_ticket_id(ticket_id) for ticket_id in ticket_ids]
        op_id, total = inputs.op_id_of(op_id), 0
        for start in range(0, len(ids), MEMBERS_PER_SCRIPT):
            call = calls.kick(ids[start : start + MEMBERS_PER_SCRIPT], ban=ban)
            total += replies.kicked(await self._once(room, call, f"{op_id}.{start}"))
        return total

    async def reinstate(
        self,
        room: str,
        ticket: str,
        *,
        lift_ban: bool = False,
        force: bool = False,
        op_id: str | None = None,
    ) -> Reinstated:
        """Give a place back to somebody who was here; their ticket string works again.

        `ticket` is an id, or the whole ticket string, which proves a place by itself. A ban holds
        unless it is lifted. Of whom nothing in the room tells is refused, or with `force` put at
        the end of the line.
        """
        ticket_id, claim, evidence = ticket, "", ""
        if not inputs.TICKET_ID.fullmatch(ticket):
            presented = await self._crowd.read(room, ticket)
            ticket_id, claim = presented.ticket.id, presented.claim
        op_id = inputs.op_id_of(op_id)
        while True:
            call = calls.reinstate(ticket_id, claim, evidence, lift_ban=lift_ban, force=force)
            reply = await self._once(room, call, op_id)
            if reply.word != "unread":
                return replies.reinstated(reply)
            evidence = (await self.steps(room, ticket_id)).evidence

    async def steps(self, room: str, ticket_id: str) -> Steps:
        """Return what the room's events tell of one ticket, as far back as they are kept."""
        return await steps_of(self._runner, check_room_name(room), ticket_id)

    async def settle(
        self, room: str, tickets: Sequence[Settled] = (), *, pace: str = "", forced: bool = False
    ) -> int:
        """Bring tickets to the state that an outside record says; return how many changed.

        A revision older than the last settled one changes nothing, unless it is forced; of several
        for one ticket the newest counts. Without tickets it only tells watchers that the record has
        changed.
        """
        check_room_name(room)
        inputs.check_settled(tickets, pace)
        newest = inputs.newest(tickets)
        total = 0
        try:
            for some in _some(newest, MEMBERS_PER_SCRIPT) if newest else ((),):
                call = calls.settle(some, pace, forced=forced)
                total += replies.settled(await self._run(room, call))
        finally:
            self._lines.forget(room)
        return total

    async def line(self, room: str) -> LineContents:
        """Return the whole content of a settled line.

        The read is not atomic. A ticket that moves meanwhile is seen twice or not at all, which
        costs only a needless `settle`.
        """
        return await self._lines.contents(room)

    async def line_counts(self, rooms: Sequence[str]) -> builtins.list[LineCounts]:
        """Return how long settled lines are."""
        return await self._lines.counts(rooms)

    def line_mark(self, room: str) -> LineMark:
        """Return the epoch and revision of a room that this process saw last."""
        return self._lines.mark(room)

    async def spot(self, room: str, ticket_id: str) -> Spot:
        """Return where a ticket of a settled line stands."""
        return await self._lines.spot(room, ticket_id)

    async def revisions(self, rooms: Sequence[str]) -> builtins.list[int]:
        """Return a number per room that differs after every change; 0 if the room is not there."""
        return await self._lines.revisions(rooms)

    def forget_line(self, room: str) -> None:
        """Forget the known length and pace of a line, because they have changed."""
        self._lines.forget(room)

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
        """Return a page of tickets in a state; waiting ones also by when they arrived.

        Before the opening of a draw nobody learns the order: the waiting come by id, without a
        place, and cannot be chosen by their arrival.
        """
        inputs.check_count("limit", limit, MEMBERS_PER_SCRIPT)
        if state is State.GONE:
            raise InvalidInput("state", "must be waiting, called or inside")
        inputs.check_cursor("after", after)
        call = calls.page(state, after, limit, since_ms, until_ms)
        return replies.listed(await self._run(room, call), state)

    async def find(self, room: str, code: str) -> Page:
        """Return everybody with this short code, whatever their state, in one page.

        Steps of a scan find them, so that nobody else waits for it. As in
        `list`, nobody has a place before the opening of a draw.
        """
        prefix = prefix_of(code)
        if prefix is None:
            raise InvalidInput("code", "must be six letters or digits, like K7Q-4M2")
        matches = await self._search.beginning([check_room_name(room)], prefix, LIVE)
        ids = sorted(matches.by_room.get(room, {})) or [_NOBODY]  # is there such a room?
        tickets: tuple[Listed, ...] = ()
        ordered = True
        for state in (State.WAITING, State.CALLED, State.INSIDE):
            page = replies.listed(await self._run(room, calls.named(state, ids)), state)
            tickets, ordered = (*tickets, *page.tickets), ordered and page.ordered
        return Page(tickets, None, ordered)

    async def ids_beginning(self, rooms: Sequence[str], prefix: str) -> Matches:
        """Return who is or was in any of these rooms and whose id begins so, as far as noted."""
        return await self._search.beginning(rooms, prefix, (*LIVE, *NOTED))

    async def ids_named(self, ids: Mapping[str, Sequence[str]]) -> Matches:
        """Return those of the given ids, by room, who are or were there, as far as noted."""
        return await self._search.named(ids)

    async def ids_in_events(self, prefixes: Mapping[str, Sequence[str]]) -> Matches:
        """Return whom recent events of rooms name, by room and how the id begins."""
        return await self._search.in_events(prefixes)

    async def people(self, room: str, ids: Sequence[str]) -> builtins.list[Person]:
        """Return what a room knows of tickets; nobody's place before the opening of a draw."""
        hidden = (await self.stats(room)).hidden
        return await persons.look(self._runner, room, ids, hidden=hidden)

    async def stats(self, room: str) -> Stats:
        """Return a room at a glance."""
        reply = await self._run(room, calls.STATS)
        return replies.stats(reply, room, self._runner.memory(room).message_at_ms)

    async def sample(self, room: str, *, told_s: int | None = None) -> Sample | None:
        """Note the room's numbers, and return them; None if that was done a moment ago.

        `told_s` is the likely wait that a newcomer is told, as far as the caller knows.
        """
        return replies.sample(await self._run(room, calls.sample(told_s)))

    async def series(
        self, room: str, *, since_ms: int | None = None, limit: int = 720
    ) -> tuple[Sample, ...]:
        """Return the newest samples, oldest first: `limit` at most, since a moment."""
        return await event_log.series(self._runner, check_room_name(room), since_ms, limit)

    async def keep_history(self, room: str, now_ms: int) -> int | None:
        """Write spans that are over to the room's history; return when the next one will be.

        Any process may, as often as it likes: a span is written once. `now_ms` is the server's
        time, as `advance` gives it.
        """
        return await self._history.keep(check_room_name(room), now_ms)

    async def history(
        self, room: str, since_ms: int, until_ms: int, step: Step
    ) -> tuple[HistoryPoint, ...]:
        """Return the spans of a room that begin between two moments, oldest first.

        Minutes are known for 48 hours, tens for 30 days. The present span comes as it is so far.
        Quiet spans are filled in; where one is missing, nobody was there to sample the room.
        """
        now = await self.stats(room)
        return await self._history.read(room, since_ms, until_ms, Step(step), now)

    async def events(self, room: str, after: str | None = None, limit: int = 500) -> EventPage:
        """Return the events after a cursor; without one, only the newest cursor."""
        return await event_log.events(self._runner, check_room_name(room), after, limit)

    def pipeline(self, room: str, socket: Path) -> Pipeline:
        """Return a pipelined connection to the server behind `socket`, for millions of calls."""
        return Pipeline(self._runner, self.ring, room, socket)

    # Inside ---------------------------------------------------------------------------------

    async def _run(self, room: str, call: ScriptCall) -> replies.Reply:
        return await self._runner.run(check_room_name(room), call)

    async def _single(self, room: str, call: ScriptCall, op_id: str | None = None) -> replies.Reply:
        return await self._crowd.single(check_room_name(room), call, op_id)

    async def _once(self, room: str, call: ScriptCall, op_id: str | None) -> replies.Reply:
        """Run a call that counts something: a repeat with the same `op_id` changes nothing."""
        op_id = inputs.op_id_of(op_id)
        return await self._runner.run(check_room_name(room), call, op_id=op_id)


def _some(items: Sequence[_Item], most: int) -> Iterator[Sequence[_Item]]:
    for start in range(0, len(items), most):
        yield items[start : start + most]


def _subscribed(observers: builtins.list[_Item], tell: _Item) -> Callable[[], None]:
    observers.append(tell)

    def unsubscribe() -> None:
        if tell in observers:
            observers.remove(tell)

    return unsubscribe
