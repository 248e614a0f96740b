"""Server-Sent Events as connections: what is sent, how many may be open, and how they end.

It does not know the events: `rooms/live_streams.py` makes those of tickets, the desk makes its own.
"""

from __future__ import annotations

import asyncio
import random
import time
from dataclasses import dataclass, field
from typing import Any

from waitroom.errors import TooMany
from waitroom.server.counters.worker import Counters
from waitroom.server.http.bodies import Receive, Send

SHARE_S = 0.02
"""New streams that come within this time are fed together."""

BEAT_S = 8.0
"""No stream stays silent longer: proxies and phones drop idle connections, and a page that misses
two heartbeats says that it has lost the connection."""

LONGEST_PAUSE_S = 15.0
"""The whole state is sent at least this often, even if nothing has changed."""

RETRY_MS = 2_000
HEADERS = [
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
    # A stream may end with this process: a kept connection would then break during a request.
    (b"connection", b"close"),
]
_HEARTBEAT = b": \n\n"


def event(kind: str, body: bytes) -> bytes:
    """Return one event as it goes over the wire."""
    return b"event: %b\ndata: %b\n\n" % (kind.encode(), body)


@dataclass(slots=True, eq=False, kw_only=True)
class EventStream:
    """One open connection; a slow client gets only the newest event of each kind."""

    address: str
    sent_at: float = 0.0
    last_news: tuple[Any, ...] = ()
    chunks: dict[str, bytes] = field(default_factory=dict)
    ended: bool = False
    wake: asyncio.Event = field(default_factory=asyncio.Event)

    def tell(self, kind: str, body: bytes, *, last: bool = False) -> None:
        """Queue an event in place of an older one of its kind."""
        if self.ended:
            return
        self.chunks.pop(kind, None)  # the newest is the last that the client reads
        self.chunks[kind], self.ended = event(kind, body), last
        self.sent_at = time.monotonic()
        self.wake.set()

    def beat(self) -> None:
        """Queue a heartbeat."""
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
        """Take what is queued."""
        self.wake.clear()
        text = b"".join(self.chunks.values())
        self.chunks.clear()
        return text


class OpenStreams:
    """All event streams of a process: counted, limited and drained here."""

    def __init__(self, most: int, most_per_address: int, counters: Counters) -> None:
        self._most = most
        self._most_per_address = most_per_address
        self._counters = counters
        self._streams: set[EventStream] = set()
        self._per_address: dict[str, int] = {}
        self._draining = False

    def add(self, stream: EventStream) -> None:
        """Count a stream in, unless there are too many."""
        count = self._per_address.get(stream.address, 0)
        if len(self._streams) >= self._most or count >= self._most_per_address:
            self._counters.limited("streams")
            raise TooMany("too many event streams are open; poll instead", 30)
        self._streams.add(stream)
        self._per_address[stream.address] = count + 1
        self._counters.streams_open += 1
        self._counters.streams_opened += 1

    def remove(self, stream: EventStream) -> None:
        """Remove a stream from the count."""
        self._streams.discard(stream)
        self._counters.streams_open -= 1
        left = self._per_address.get(stream.address, 1) - 1
        if left > 0:
            self._per_address[stream.address] = left
        else:
            self._per_address.pop(stream.address, None)

    async def drain(self, seconds: float) -> None:
        """Tell every client to reconnect, spread over a while so that they do not come at once."""
        self._draining = True
        streams = random.sample([*self._streams], len(self._streams))
        # At most a hundred steps, by the clock: pauses that each last a little longer would add up.
        step, began = max(1, len(streams) // 100), time.monotonic()
        for start in range(0, len(streams), step):
            await asyncio.sleep(began + seconds * start / len(streams) - time.monotonic())
            for stream in streams[start : start + step]:
                stream.reconnect()

    async def feed(self, stream: EventStream, receive: Receive, send: Send) -> None:
        """Send a stream's events until either side ends it."""
        await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
        disconnected = asyncio.ensure_future(_until_disconnect(receive, stream))
        try:
            await _chunk(send, b"retry: %d\n\n" % RETRY_MS)
            while not stream.ended or stream.wake.is_set():
                await stream.wake.wait()
                if disconnected.done():
                    return
                await _chunk(send, stream.take())
                if self._draining and not stream.ended:
                    stream.reconnect()
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            disconnected.cancel()


async def _chunk(send: Send, chunk: bytes) -> None:
    await send({"type": "http.response.body", "body": chunk, "more_body": True})


async def _until_disconnect(receive: Receive, stream: EventStream) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    stream.ended = True
    stream.wake.set()
