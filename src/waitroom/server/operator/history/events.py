"""`GET /v1/admin/events`: what happens in rooms as Server-Sent Events that can be resumed.

An id names a position in every room that the stream follows, so that a client may reconnect to any
process. A position that is no longer kept is answered with a `gap`.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Annotated

from fastapi import APIRouter, Header, Query, Request, Response
from starlette.types import Receive, Scope, Send

from waitroom.engine.outbox import START, Outbox, OutboxEvent, number_of
from waitroom.errors import InvalidInput, TooMany, Unauthorized, WaitroomError
from waitroom.events.drafts import TYPES
from waitroom.models import check_room_name
from waitroom.moments import from_ms, written
from waitroom.server.context import Here, Server
from waitroom.server.http import bodies, problems
from waitroom.server.http.auth import SIGNED, Viewer, bearer, who_is
from waitroom.server.http.event_stream import BEAT_S, EventStream
from waitroom.server.http.openapi import problems as described

MOST_ROOMS = 50
MOST_STREAMS = 20
"""Per worker: each stream asks the backend once a second."""

STEP_S = 1.0
CHECK_S = 30.0
"""How long a stream may continue after its key was revoked."""

POSITION = re.compile(r"\d{1,16}-\d{1,16}", re.ASCII)
_PAGE = 200
_HEAR_S = 3_600.0

router = APIRouter(prefix="/v1/admin", tags=["operators"], dependencies=SIGNED)


@dataclass(slots=True, eq=False, kw_only=True)
class OperatorStream(EventStream):
    """One stream: its position in each room, and the types it wants."""

    positions: dict[str, str]
    types: frozenset[str]
    check: Callable[[], Awaitable[object]]
    checked_at: float = field(default_factory=time.monotonic)
    heard_at: float = float("-inf")

    @property
    def id(self) -> str:
        """Its position in every room; `START` if nothing has happened in a room yet."""
        return ",".join(f"{room}@{position}" for room, position in self.positions.items())

    def send_event(self, kind: str, document: dict[str, object]) -> None:
        """Queue an event; it never replaces another."""
        text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
        chunk = f"id: {self.id}\nevent: {kind}\ndata: {text}\n\n".encode()
        self.chunks[f"{len(self.chunks)}"] = chunk
        self.sent_at = time.monotonic()
        self.wake.set()

    def beat(self) -> None:
        """Queue a heartbeat that also carries the position of the stream."""
        self.chunks.setdefault("", f"id: {self.id}\n: \n\n".encode())
        self.sent_at = time.monotonic()
        self.wake.set()


class _Answer(Response):
    """The answer to a request for events: it takes over the connection."""

    media_type = "text/event-stream"

    def __init__(self, server: Server, stream: OperatorStream) -> None:
        super().__init__()
        self._server, self._stream = server, stream

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve events until either side ends them."""
        del scope
        server, stream = self._server, self._stream
        try:
            if len(server.operator_streams) >= MOST_STREAMS:
                raise TooMany("too many operators' streams are open", 30)
            server.open_streams.add(stream)
        except WaitroomError as error:
            await bodies.send_answer(send, problems.answer(error), last=server.draining)
            return
        server.operator_streams.add(stream)
        stream.beat()  # a client that is cut off before the first event knows where to go on
        feeding = asyncio.create_task(_feed(server.engine.outbox, stream))
        try:
            await server.open_streams.feed(stream, receive, send)
        finally:
            feeding.cancel()
            await asyncio.wait([feeding])
            server.operator_streams.discard(stream)
            server.open_streams.remove(stream)


@router.get(
    "/events",
    operation_id="followEvents",
    status_code=200,  # FastAPI cannot read it from this class
    response_class=_Answer,
    responses=described(401, 403, 404, 422, 429, 503)
    | {
        200: {
            "description": "Server-Sent Events, each named by its type; and `reconnect`",
            "content": {"text/event-stream": {"schema": {"type": "string"}}},
        }
    },
)
async def follow_events(
    server: Here,
    request: Request,
    who: Viewer,
    room: Annotated[str, Query(max_length=4_000, description="Rooms, split by commas.")] = "",
    types: Annotated[str, Query(max_length=500, description="Types, split by commas.")] = "",
    last_event_id: Annotated[str, Header(max_length=8_000)] = "",
) -> Response:
    """Follow what happens in rooms; `Last-Event-ID` continues where an earlier stream ended."""
    wanted = frozenset(filter(None, types.split(",")))
    if unknown := sorted(wanted - set(TYPES)):
        raise InvalidInput("types", f"{unknown[0]!r:.40} is not one of {', '.join(TYPES)}")
    rooms = await _rooms(server, room)
    positions = _read_id(last_event_id) if last_event_id else None
    if positions is None:
        positions = await server.engine.outbox.newest(rooms)
    text = bearer(request)
    stream = OperatorStream(
        address=server.proxies.network(who.address),
        positions={name: positions.get(name, START) for name in rooms},
        types=wanted,
        check=lambda: who_is(server, text, who.address),
    )
    return _Answer(server, stream)


async def _rooms(server: Server, names: str) -> list[str]:
    """Return the requested rooms, or all."""
    if not names:
        rooms = list(await server.engine.rooms())
        if len(rooms) > MOST_ROOMS:
            raise InvalidInput("room", f"there are {len(rooms)} rooms; name at most {MOST_ROOMS}")
        return rooms
    rooms = [check_room_name(name) for name in dict.fromkeys(names.split(","))]
    if len(rooms) > MOST_ROOMS:
        raise InvalidInput("room", f"name at most {MOST_ROOMS}")
    for name in rooms:
        await server.engine.room(name)
    return rooms


def _read_id(text: str) -> dict[str, str]:
    positions: dict[str, str] = {}
    for part in text.split(","):
        name, _, position = part.partition("@")
        if not POSITION.fullmatch(position):
            raise InvalidInput("Last-Event-ID", "is not an id of this stream")
        positions[check_room_name(name)] = position
    return positions


async def _feed(outbox: Outbox, stream: OperatorStream) -> None:
    """Queue new events until the stream ends."""
    while not stream.ended:
        try:
            await feed_once(outbox, stream)
        except Unauthorized:
            stream.reconnect()  # the client reconnects with its key, and is refused
        except WaitroomError:  # away: continue when the backend is back
            pass
        await asyncio.sleep(STEP_S)


async def feed_once(outbox: Outbox, stream: OperatorStream) -> None:
    """Queue new events of all rooms, as far as the client has read earlier ones."""
    now = time.monotonic()
    if now - stream.checked_at >= CHECK_S:
        await stream.check()
        stream.checked_at = now
    if now - stream.heard_at >= _HEAR_S:
        for room in stream.positions:
            await outbox.hear(room)
        stream.heard_at = now
    newest = await outbox.newest([*stream.positions])
    for room, last in newest.items():
        # Only as fast as the client reads: unread events stay in the outbox.
        while stream.positions[room] != last and not stream.chunks and not stream.ended:
            if not await _next(outbox, stream, room, last):
                break
            await asyncio.sleep(0)
    if now - stream.sent_at >= BEAT_S:
        stream.beat()


async def _next(outbox: Outbox, stream: OperatorStream, room: str, newest: str) -> bool:
    """Queue the next events of a room; return whether there may be more."""
    before = stream.positions[room]
    events = await outbox.read(room, before, _PAGE)
    first = events[0].number if events else number_of(newest) + 1
    if first > number_of(before) + 1:
        gap = _gap(room, before, f"{_ms(events[0].id)}-{first - 1}" if events else newest)
        stream.positions[room] = gap.id
        stream.send_event(gap.type, _document(gap))
    for event in events:
        stream.positions[room] = event.id
        if not stream.types or event.type in stream.types or event.type == "gap":
            stream.send_event(event.type, _document(event))
    return len(events) == _PAGE


def _gap(room: str, before: str, here: str) -> OutboxEvent:
    """Say that the events after one position, up to another, are gone."""
    since = None if before == START else written(from_ms(_ms(before)))
    until = written(from_ms(_ms(here)))
    return OutboxEvent("gap", _ms(here), {"since": since, "until": until}, here, room)


def _ms(position: str) -> int:
    return int(position.partition("-")[0])


def _document(event: OutboxEvent) -> dict[str, object]:
    return {
        "id": event.id,
        "type": event.type,
        "room": event.room,
        "at": written(from_ms(event.at_ms)),
        "data": event.data,
    }
