"""Live events: one poll loop per process and room feeds every open stream of that room.

A stream is Server-Sent Events: `ticket` (the same JSON as a status), `room` (the public view, when
the operator changed something), `gone` (a problem, then the end), `away` (the backend cannot be
reached; the place is kept) and `reconnect` (this process stops; come back at once). Each event is
the whole state, so a client that reconnects has missed nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
import time
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from waitroom.engine import PresentedTicket
from waitroom.errors import BackendUnavailable, TooMany, UnknownRoom, WaitroomError
from waitroom.models import MEMBERS_PER_SCRIPT, State, TicketView
from waitroom.server.context import Server
from waitroom.server.http import answers, bodies, problems
from waitroom.server.http.answers import Answer
from waitroom.server.http.request import Call
from waitroom.server.visitor import service, views

log = logging.getLogger("waitroom.events")
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]

LOOK_S = 0.4
"""How often a room's event stream is read: a called person is told within about this time."""

SHARE_S = 0.02
"""New streams that come within this time are polled together."""

LONGEST_PAUSE_S = 15.0
"""No stream stays silent longer: proxies and phones drop idle connections."""

RETRY_MS = 2_000
HEADERS = [
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
    # A stream may end when this process does: a connection that lives on would end under a request.
    (b"connection", b"close"),
]
EVENTS_PER_PAGE = 500
_MOST_PAGES = 20  # as many events as the room's stream keeps
_HEARTBEAT = b": \n\n"


def event(kind: str, body: bytes) -> bytes:
    """Return one event as it goes over the wire."""
    return b"event: %b\ndata: %b\n\n" % (kind.encode(), body)


@dataclass(slots=True, eq=False, kw_only=True)
class Outlet:
    """One open connection; of what it did not take in time, only the newest of a kind is kept."""

    address: str
    sent_at: float = 0.0
    told: tuple[Any, ...] = ()
    chunks: dict[str, bytes] = field(default_factory=dict)
    ended: bool = False
    wake: asyncio.Event = field(default_factory=asyncio.Event)

    def tell(self, kind: str, body: bytes, *, last: bool = False) -> None:
        """Hand over an event; of one kind a slow client gets only the newest."""
        if self.ended:
            return
        self.chunks.pop(kind, None)  # the newest is the last that the client reads
        self.chunks[kind], self.ended = event(kind, body), last
        self.sent_at = time.monotonic()
        self.wake.set()

    def beat(self) -> None:
        """Give a sign of life."""
        self.chunks.setdefault("", _HEARTBEAT)
        self.sent_at = time.monotonic()
        self.wake.set()

    def reconnect(self) -> None:
        """Tell the client to come back, here or to another process."""
        if not self.ended:
            after_ms = random.randint(50, 1_500)  # noqa: S311 - spreads reconnects
            self.chunks["retry"] = b"retry: %d\n" % after_ms
            self.tell("reconnect", b"{}", last=True)

    def take(self) -> bytes:
        """Return what there is to send."""
        self.wake.clear()
        found = b"".join(self.chunks.values())
        self.chunks.clear()
        return found


@dataclass(slots=True, eq=False, kw_only=True)
class Stream(Outlet):
    """The stream of a ticket."""

    held: PresentedTicket
    due_at: float = 0.0


async def send_off(streams: Sequence[Outlet], seconds: float) -> None:
    """Tell clients to come back, spread over a while so that they do not come at once."""
    streams = random.sample(streams, len(streams))
    some = max(1, len(streams) // 100)
    for start in range(0, len(streams), some):
        for stream in streams[start : start + some]:
            stream.reconnect()
        await asyncio.sleep(seconds * some / len(streams))


class Hub:
    """All streams of a process, by room."""

    def __init__(self) -> None:
        self._server: Server | None = None
        self._channels: dict[str, Channel] = {}
        self._per_address: dict[str, int] = {}
        self._count = 0

    def start(self, server: Server) -> None:
        """Belong to a server."""
        self._server = server

    async def stop(self) -> None:
        """End every stream and every loop."""
        for channel in [*self._channels.values()]:
            await channel.stop()

    async def drain(self, seconds: float) -> None:
        """Tell every client to come back, spread over a while so that they do not come at once."""
        await send_off([one for ch in self._channels.values() for one in ch.streams], seconds)

    def count_in(self, server: Server, address: str) -> None:
        """Count a stream of an address, whatever it tells, unless there are too many."""
        settings = server.settings
        mine = self._per_address.get(address, 0)
        if self._count >= settings.streams or mine >= settings.streams_per_address:
            server.tally.limited("streams")
            raise TooMany("too many event streams are open; poll instead", 30)
        self._per_address[address] = mine + 1
        self._count += 1
        server.tally.streams_open += 1
        server.tally.streams_opened += 1

    def count_out(self, server: Server, address: str) -> None:
        """Count a stream no more."""
        self._count -= 1
        server.tally.streams_open -= 1
        left = self._per_address.get(address, 1) - 1
        if left > 0:
            self._per_address[address] = left
        else:
            self._per_address.pop(address, None)

    def open(self, server: Server, room: str, held: PresentedTicket, address: str) -> Stream:
        """Add a stream, unless there are too many."""
        self.count_in(server, address)
        stream = Stream(held=held, address=address)
        channel = self._channels.get(room)
        if channel is None:
            channel = self._channels[room] = Channel(server, room)
        channel.add(stream)
        return stream

    def close(self, server: Server, room: str, stream: Stream) -> None:
        """Remove a stream."""
        self.count_out(server, stream.address)
        channel = self._channels.get(room)
        if channel is not None and channel.remove(stream):
            del self._channels[room]


class Channel:
    """The streams of one room, and the loop that feeds them."""

    def __init__(self, server: Server, room: str) -> None:
        self.streams: set[Stream] = set()
        self._by_id: dict[str, set[Stream]] = {}
        self._server = server
        self._room = room
        self._cursor: str | None = None
        self._told_room: tuple[Any, ...] = ()
        self._new = set[Stream]()
        self._news = asyncio.Event()
        self._away = False
        self._task = asyncio.create_task(self._run())

    def add(self, stream: Stream) -> None:
        """Take a stream in; it is due at once, and told of the room too."""
        self.streams.add(stream)
        self._new.add(stream)
        self._news.set()
        self._by_id.setdefault(stream.held.ticket.id, set()).add(stream)

    def remove(self, stream: Stream) -> bool:
        """Let a stream go; return whether it was the last."""
        self.streams.discard(stream)
        self._new.discard(stream)
        same = self._by_id.get(stream.held.ticket.id, set())
        same.discard(stream)
        if not same:
            self._by_id.pop(stream.held.ticket.id, None)
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
                await self._look()
            except UnknownRoom as error:
                self._end_all(problems.answer(error))
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
        """Poll whoever is due, and at once whom the room's events name."""
        server, room = self._server, self._room
        server.pulse.check()
        await server.boards.get(room)
        for ticket_id in await self._changed():
            for stream in self._by_id.get(ticket_id, ()):
                stream.due_at = 0.0
        now = time.monotonic()
        due = [stream for stream in self.streams if stream.due_at <= now and not stream.ended]
        for start in range(0, len(due), MEMBERS_PER_SCRIPT):
            await self._poll(due[start : start + MEMBERS_PER_SCRIPT])
        self._away = False
        self._tell_room()

    async def _changed(self) -> set[str]:
        """Return the ids that events have named since the last look."""
        found: set[str] = set()
        for _ in range(_MOST_PAGES):
            page = await self._server.engine.events(self._room, self._cursor, EVENTS_PER_PAGE)
            self._cursor = page.cursor
            found.update(ticket_id for one in page.events for ticket_id in one.ids)
            if len(page.events) < EVENTS_PER_PAGE:
                break
        return found

    async def _poll(self, streams: list[Stream]) -> None:
        found = await self._server.engine.poll_many(self._room, [one.held for one in streams])
        now = time.monotonic()
        for stream, view in zip(streams, found, strict=True):
            if isinstance(view, WaitroomError):
                stream.tell("gone", problems.answer(view).body, last=True)
            else:
                self._tell(stream, view, now)

    def _tell(self, stream: Stream, view: TicketView, now: float) -> None:
        if view.state is State.GONE:
            stream.tell("gone", service.gone(view).body, last=True)
            return
        body = views.ticket(self._server, view)
        # Heartbeats of our own: the ticket is polled for its holder as long as the stream is open.
        stream.due_at = now + min(LONGEST_PAUSE_S, body.poll_after_ms / 1000)
        news = (view.state, view.position, view.enter_by_ms, view.session_ends_at_ms)
        if news != stream.told or now - stream.sent_at > LONGEST_PAUSE_S:
            stream.told = news
            stream.tell("ticket", answers.encode(body))

    def _tell_room(self) -> None:
        board = self._server.boards.known.get(self._room)
        if board is None:
            return
        news = (board.version, board.stats.hold_until_ms is not None)
        before, self._told_room = self._told_room, news
        if news != before:
            self._new = set(self.streams)
        if self._new:
            body = answers.encode(views.room(board))
            for stream in self._new & self.streams:
                stream.tell("room", body)
            self._new.clear()

    def _tell_away(self, error: WaitroomError) -> None:
        if isinstance(error, BackendUnavailable):
            self._server.pulse.suspect()
        if self._away:
            return
        self._away = True
        body = msgspec.json.encode(problems.document(error))
        for stream in self.streams:
            stream.told = ()
            stream.due_at = 0.0
            stream.tell("away", body)

    def _end_all(self, answer: Answer) -> None:
        for stream in self.streams:
            stream.tell("gone", answer.body, last=True)

    def _beat(self) -> None:
        now = time.monotonic()
        for stream in self.streams:
            if now - stream.sent_at > LONGEST_PAUSE_S and not stream.wake.is_set():
                stream.beat()


async def serve(server: Server, call: Call, receive: Receive, send: Send) -> int:
    """Answer a request for events until either side ends it; return the status."""
    try:
        server.pulse.check()
        held = await service.within(server, server.engine.read_ticket(call.room, call.held))
        await service.within(server, server.boards.get(call.room))
        address = server.proxies.visitor(call.peer, call.headers)
        stream = server.hub.open(server, call.room, held, address)
    except WaitroomError as error:
        answer = problems.answer(error)
        await bodies.send_answer(send, answer, last=server.draining)
        return answer.status
    try:
        await feed(server, stream, receive, send)
    finally:
        server.hub.close(server, call.room, stream)
    return 200


async def feed(server: Server, stream: Outlet, receive: Receive, send: Send) -> None:
    """Send what a stream is told until either side ends it."""
    await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
    left = asyncio.ensure_future(_until_disconnect(receive, stream))
    try:
        await _chunk(send, b"retry: %d\n\n" % RETRY_MS)
        while not stream.ended or stream.wake.is_set():
            await stream.wake.wait()
            if left.done():
                return
            await _chunk(send, stream.take())
            if server.draining and not stream.ended:
                stream.reconnect()
        await send({"type": "http.response.body", "body": b"", "more_body": False})
    finally:
        left.cancel()


async def _chunk(send: Send, chunk: bytes) -> None:
    await send({"type": "http.response.body", "body": chunk, "more_body": True})


async def _until_disconnect(receive: Receive, stream: Outlet) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    stream.ended = True
    stream.wake.set()
