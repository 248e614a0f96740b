"""Everything that can be read of a room and its people: lists, numbers, history, events."""

from __future__ import annotations

import builtins
from collections.abc import Mapping, Sequence
from pathlib import Path

from waitroom.engine import event_log, inputs, persons
from waitroom.engine.pipeline import Pipeline
from waitroom.engine.protocol import calls, replies, streams
from waitroom.engine.search import LIVE, NOTED, Matches
from waitroom.engine.verbs.base import Verbs
from waitroom.errors import InvalidInput
from waitroom.history import HistoryPoint, Step
from waitroom.models import (
    MEMBERS_PER_SCRIPT,
    EventPage,
    Listed,
    Page,
    Person,
    Sample,
    State,
    Stats,
    check_room_name,
)
from waitroom.short_codes import prefix_of

_NOBODY = "0" * 16


class ReadingVerbs(Verbs):
    """Reads; only `sample` and `keep_history` write, and only what they have read."""

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
        """Return a page of tickets in a state; waiting ones can also be chosen by arrival.

        Before the opening of a draw nobody learns the order: waiting tickets come by id, without a
        place, and cannot be chosen by arrival.
        """
        inputs.check_count("limit", limit, MEMBERS_PER_SCRIPT)
        if state is State.GONE:
            raise InvalidInput("state", "must be waiting, called or inside")
        inputs.check_cursor("after", after)
        call = calls.page(state, after, limit, since_ms, until_ms)
        return replies.listed(await self._run(room, call), state)

    async def find(self, room: str, code: str) -> Page:
        """Return everybody with this short code, whatever their state, in one page.

        A scan in steps finds them, so that nobody else has to wait. As in `list`, nobody has a
        place before the opening of a draw.
        """
        prefix = prefix_of(code)
        if prefix is None:
            raise InvalidInput("code", "must be six letters or digits, like K7Q-4M2")
        matches = await self._search.beginning([check_room_name(room)], prefix, LIVE)
        ids = sorted(matches.by_room.get(room, {})) or [_NOBODY]  # does the room exist?
        tickets: tuple[Listed, ...] = ()
        ordered = True
        for state in (State.WAITING, State.CALLED, State.INSIDE):
            page = replies.listed(await self._run(room, calls.named(state, ids)), state)
            tickets, ordered = (*tickets, *page.tickets), ordered and page.ordered
        return Page(tickets, None, ordered)

    async def ids_beginning(self, rooms: Sequence[str], prefix: str) -> Matches:
        """Return the ids with a prefix that are or were in any of these rooms, as far as noted."""
        return await self._search.beginning(rooms, prefix, (*LIVE, *NOTED))

    async def ids_named(self, ids: Mapping[str, Sequence[str]]) -> Matches:
        """Return which of the given ids are or were there, grouped by room, as far as noted."""
        return await self._search.named(ids)

    async def ids_in_events(self, prefixes: Mapping[str, Sequence[str]]) -> Matches:
        """Return the people whom recent events of rooms name, by room and beginning of the id."""
        return await self._search.in_events(prefixes)

    async def people(self, room: str, ids: Sequence[str]) -> builtins.list[Person]:
        """Return what a room knows of tickets; no places before the opening of a draw."""
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
        return streams.sample(await self._run(room, calls.sample(told_s)))

    async def series(
        self, room: str, *, since_ms: int | None = None, limit: int = 720
    ) -> tuple[Sample, ...]:
        """Return the newest samples, oldest first: `limit` at most, since a moment."""
        return await event_log.series(self._runner, check_room_name(room), since_ms, limit)

    async def keep_history(self, room: str, now_ms: int) -> int | None:
        """Write spans that are over to the room's history; return when the next one will be over.

        Any process may do this, as often as it likes: a span is written once. `now_ms` is the
        server's time, as `advance` gives it.
        """
        return await self._history.keep(check_room_name(room), now_ms)

    async def history(
        self, room: str, since_ms: int, until_ms: int, step: Step
    ) -> tuple[HistoryPoint, ...]:
        """Return the spans of a room that begin between two moments, oldest first.

        Minutes are known for 48 hours, tens for 30 days. The present span is returned as it is so
        far. Quiet spans are filled in; if one is missing, nobody was there to sample the room.
        """
        now = await self.stats(room)
        return await self._history.read(room, since_ms, until_ms, Step(step), now)

    async def events(self, room: str, after: str | None = None, limit: int = 500) -> EventPage:
        """Return the events after a cursor; without one, only the newest cursor."""
        return await event_log.events(self._runner, check_room_name(room), after, limit)

    def pipeline(self, room: str, socket: Path) -> Pipeline:
        """Return a pipelined connection to the server behind `socket`, for millions of calls."""
        return Pipeline(self._runner, self.ring, room, socket)
