"""`GET /v1/admin/events`: what happens in rooms as Server-Sent Events, resumed where it ended.

An id names a position in every room that the stream follows, so that a client may come back to any
process. A position that is not there any more is answered with a `gap`.
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
"""Per worker: each asks the backend once a second."""

STEP_S = 1.0
CHECK_S = 30.0
"""How long a stream goes on after its key was revoked."""

POSITION = re.compile(r"\d{1,16}-\d{1,16}", re.ASCII)
_PAGE = 200
_HEAR_S = 3_600.0

router = APIRouter(prefix="/v1/admin", tags=["operators"], dependencies=SIGNED)


@dataclass(slots=True, eq=False, kw_only=True)
class OperatorStream(EventStream):
    """One stream: how far it has come in each room, and which types it wants."""

    positions: dict[str, str]
    types: frozenset[str]
    check: Callable[[], Awaitable[object]]
    checked_at: float = field(default_factory=time.monotonic)
    heard_at: float = float("-inf")

    @property
    def id(self) -> str:
        """Where it is, in every room that has had an event."""
        return ",".join(
            f"{room}@{position}" for room, position in self.positions.items() if position != START
        )

    def send_event(self, kind: str, document: dict[str, object]) -> None:
        """Queue an event; none takes the place of another."""
        text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
        chunk = f"id: {self.id}\nevent: {kind}\ndata: {text}\n\n".encode()
        self.chunks[f"{len(self.chunks)}"] = chunk
        self.sent_at = time.monotonic()
        self.wake.set()

    def beat(self) -> None:
        """Queue a heartbeat that also says how far the stream has come."""
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
    """Follow what happens in rooms; `Last-Event-ID` goes on where an earlier stream ended."""
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
    """Return the rooms that were asked for, or all."""
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
    """Queue what is new until the stream ends."""
    while not stream.ended:
        try:
            await feed_once(outbox, stream)
        except Unauthorized:
            stream.reconnect()  # the client comes back with its key, and is refused
        except WaitroomError:  # away: it goes on when the backend is back
            pass
        await asyncio.sleep(STEP_S)


async def feed_once(outbox: Outbox, stream: OperatorStream) -> None:
    """Queue what is new in all rooms, as far as the client has read what came before."""
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
        # Only as fast as the client reads: what it has not read yet is in the outbox.
        while stream.positions[room] != last and not stream.chunks and not stream.ended:
            if not await _next(outbox, stream, room, last):
                break
            await asyncio.sleep(0)
    if now - stream.sent_at >= BEAT_S:
        stream.beat()


async def _next(outbox: Outbox, stream: OperatorStream, room: str, newest: str) -> bool:
    """Queue the next events of a room; tell whether there may be more."""
    before = stream.positions[room]
    events = await outbox.read(room, before, _PAGE)
    first = events[0].number if events else number_of(newest) + 1
    if number_of(before) and first > number_of(before) + 1:
        here = f"{events[0].id.partition('-')[0]}-{first - 1}" if events else newest
        stream.positions[room] = here
        since = written(from_ms(int(before.partition("-")[0])))
        stream.send_event("gap", {"type": "gap", "room": room, "data": {"since": since}})
    for event in events:
        stream.positions[room] = event.id
        if not stream.types or event.type in stream.types or event.type == "gap":
            stream.send_event(event.type, _document(event))
    return len(events) == _PAGE


def _document(event: OutboxEvent) -> dict[str, object]:
    return {
        "id": event.id,
        "type": event.type,
        "room": event.room,
        "at": written(from_ms(event.at_ms)),
        "data": event.data,
    }
