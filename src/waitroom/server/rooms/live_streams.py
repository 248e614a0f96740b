"""Live events of tickets: one poll loop per process and room feeds every open stream of that room.

A stream sends `ticket` (the same JSON as a status), `room` (the public view, when the operator
changed something), `gone` (a problem, then the end), `away` (the backend cannot be reached; the
place is kept) and `reconnect` (this process stops; come back at once). Each event is the whole
state, so a client that reconnects has missed nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
import time
from dataclasses import dataclass

import msgspec

from waitroom.engine import Engine, PresentedTicket
from waitroom.errors import BackendUnavailable, UnknownRoom, WaitroomError
from waitroom.models import MEMBERS_PER_SCRIPT, State, TicketView
from waitroom.server.http import answers, problems
from waitroom.server.http.event_stream import (
    BEAT_S,
    LONGEST_PAUSE_S,
    SHARE_S,
    EventStream,
    OpenStreams,
)
from waitroom.server.rooms.backend_health import BackendHealth
from waitroom.server.rooms.board import Boards
from waitroom.server.rooms.passes import Passes
from waitroom.server.rooms.ticket_json import gone_answer, room_body, ticket_body

log = logging.getLogger("waitroom.live_streams")

LOOK_S = 0.4
"""How often a room's events are read: a called person is told within about this time."""

LONGEST_LOOK_S = 1.5
"""When a look at a room is given up, so that its streams soon learn that the backend is away."""

EVENTS_PER_PAGE = 500
_MOST_PAGES = 20  # as many events as the room's log keeps


@dataclass(slots=True, eq=False, kw_only=True)
class TicketStream(EventStream):
    """The stream of a ticket."""

    ticket: PresentedTicket
    due_at: float = 0.0
    ticket_sent_at: float = 0.0

    @property
    def ticket_id(self) -> str:
        """The id of its ticket."""
        return self.ticket.ticket.id


@dataclass(frozen=True, slots=True)
class Sources:
    """What streams need to make their events."""

    engine: Engine
    boards: Boards
    passes: Passes
    backend_health: BackendHealth


class LiveStreams:
    """All streams of tickets in a process, by room."""

    def __init__(self, sources: Sources, open_streams: OpenStreams) -> None:
        self._sources = sources
        self._open = open_streams
        self._rooms: dict[str, RoomStreams] = {}

    async def stop(self) -> None:
        """End every stream and every loop."""
        for streams in [*self._rooms.values()]:
            await streams.stop()

    def open(self, room: str, ticket: PresentedTicket, address: str) -> TicketStream:
        """Add a stream, unless there are too many."""
        stream = TicketStream(ticket=ticket, address=address)
        self._open.add(stream)
        streams = self._rooms.get(room)
        if streams is None:
            streams = self._rooms[room] = RoomStreams(room, self._sources)
        streams.add(stream)
        return stream

    def close(self, room: str, stream: TicketStream) -> None:
        """Remove a stream."""
        self._open.remove(stream)
        streams = self._rooms.get(room)
        if streams is not None and streams.remove(stream):
            del self._rooms[room]


class RoomStreams:
    """The streams of one room, and the loop that feeds them."""

    def __init__(self, room: str, sources: Sources) -> None:
        self.streams: set[TicketStream] = set()
        self._by_id: dict[str, set[TicketStream]] = {}
        self._room = room
        self._sources = sources
        self._cursor: str | None = None
        self._told_mark = 0
        self._new = set[TicketStream]()
        self._news = asyncio.Event()
        self._away = False
        self._task = asyncio.create_task(self._run())

    def add(self, stream: TicketStream) -> None:
        """Add a stream; it is due at once, and gets the room's event too."""
        self.streams.add(stream)
        self._new.add(stream)
        self._news.set()
        self._by_id.setdefault(stream.ticket_id, set()).add(stream)

    def remove(self, stream: TicketStream) -> bool:
        """Remove a stream; return whether it was the last."""
        self.streams.discard(stream)
        self._new.discard(stream)
        same = self._by_id.get(stream.ticket_id, set())
        same.discard(stream)
        if not same:
            self._by_id.pop(stream.ticket_id, None)
        if not self.streams:
            self._task.cancel()
            return True
        return False

    async def stop(self) -> None:
        """End the loop and every stream."""
        self._task.cancel()
        for stream in self.streams:
            stream.reconnect()
        await asyncio.wait([self._task], timeout=1)

    async def _run(self) -> None:
        while True:
            try:
                async with asyncio.timeout(LONGEST_LOOK_S):
                    await self._look()
            except TimeoutError:
                self._sources.backend_health.suspect()
            except UnknownRoom as error:
                self._end_all(problems.answer(error).body)
            except WaitroomError as error:
                self._tell_away(error)
            except Exception:
                log.exception("the streams of room %s could not be fed", self._room)
            self._beat()
            self._news.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LOOK_S):
                    await self._news.wait()
                    await asyncio.sleep(SHARE_S)

    async def _look(self) -> None:
        """Poll the tickets that are due, and at once those that the room's events name."""
        self._sources.backend_health.check(self._room)
        await self._sources.boards.get(self._room)
        await self._follow_events()
        now = time.monotonic()
        due = [stream for stream in self.streams if stream.due_at <= now and not stream.ended]
        for start in range(0, len(due), MEMBERS_PER_SCRIPT):
            await self._poll(due[start : start + MEMBERS_PER_SCRIPT])
        self._away = False
        self._tell_room()

    async def _follow_events(self) -> None:
        """Make the streams due that events have named since the last look.

        Page by page: a look may end between two pages, and the cursor does not go back.
        """
        for _ in range(_MOST_PAGES):
            page = await self._sources.engine.events(self._room, self._cursor, EVENTS_PER_PAGE)
            self._cursor = page.cursor
            for ticket_id in {ticket_id for entry in page.events for ticket_id in entry.ids}:
                for stream in self._by_id.get(ticket_id, ()):
                    stream.due_at = 0.0
            if len(page.events) < EVENTS_PER_PAGE:
                return

    async def _poll(self, streams: list[TicketStream]) -> None:
        tickets = [stream.ticket for stream in streams]
        views = await self._sources.engine.poll_many(self._room, tickets)
        now = time.monotonic()
        for stream, view in zip(streams, views, strict=True):
            if isinstance(view, WaitroomError):
                stream.tell("gone", problems.answer(view).body, last=True)
            else:
                self._tell(stream, view, now)

    def _tell(self, stream: TicketStream, view: TicketView, now: float) -> None:
        if view.state is State.GONE:
            stream.tell("gone", gone_answer(view).body, last=True)
            return
        body = ticket_body(self._sources.boards, self._sources.passes, view)
        # Our own heartbeats: the ticket is polled for its holder as long as the stream is open.
        stream.due_at = now + min(LONGEST_PAUSE_S, body.poll_after_ms / 1000)
        news = (view.state, view.position, view.enter_by_ms, view.session_ends_at_ms)
        # Not the time of the last send: a heartbeat does not say how many stand behind.
        if news != stream.last_news or now - stream.ticket_sent_at > LONGEST_PAUSE_S:
            stream.last_news, stream.ticket_sent_at = news, now
            stream.tell("ticket", answers.encode(body))

    def _tell_room(self) -> None:
        board = self._sources.boards.known.get(self._room)
        if board is None:
            return
        before, self._told_mark = self._told_mark, board.mark
        if board.mark != before:
            self._new = set(self.streams)
            for stream in self.streams if before else ():
                # Its wait has changed; send it at the next look or the one after, not all in one.
                spread_s = random.uniform(0, LOOK_S)  # noqa: S311 - hides nothing
                stream.due_at, stream.last_news = time.monotonic() + spread_s, ()
        if self._new:
            body = answers.encode(room_body(board))
            for stream in self._new & self.streams:
                stream.tell("room", body)
            self._new.clear()

    def _tell_away(self, error: WaitroomError) -> None:
        if isinstance(error, BackendUnavailable):
            self._sources.backend_health.suspect()
            if not self._sources.backend_health.is_away(self._room):
                return  # only slow: listeners lose nothing
        if self._away:
            return
        self._away = True
        body = msgspec.json.encode(problems.document(error))
        for stream in self.streams:
            stream.last_news = ()
            stream.due_at = 0.0
            stream.tell("away", body)

    def _end_all(self, problem: bytes) -> None:
        for stream in self.streams:
            stream.tell("gone", problem, last=True)

    def _beat(self) -> None:
        now = time.monotonic()
        for stream in self.streams:
            if now - stream.sent_at > BEAT_S and not stream.wake.is_set():
                stream.beat()
