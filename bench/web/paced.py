"""A load at a fixed rate, whatever the server does; wrk always keeps its connections full.

Each request has a due time. If no connection is free it waits here, and its latency counts from the
due time, so that a stalled server is charged for everybody it kept waiting.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import re
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from itertools import cycle
from typing import cast

CONNECTIONS = 64
TICK_S = 0.001
PATIENCE_S = 5.0
REOPEN_S = 0.1
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_CLOSE = re.compile(rb"\r\nconnection: *close\r\n", re.IGNORECASE)


@dataclass(slots=True)
class Paced:
    """One load: the requests, the free connections, and the results.

    Requests are sent in a random order, each once before any is sent again.
    """

    port: int
    requests: list[bytes]
    total: int = 0
    took_ms: list[float] = field(default_factory=list)
    answers: Counter[bytes] = field(default_factory=Counter)
    """By the first digit of the status."""
    broken: int = 0
    """Requests whose connection ended before their answer did."""
    _open: set[_Connection] = field(default_factory=set)
    _free: deque[_Connection] = field(default_factory=deque)
    _due: deque[float] = field(default_factory=deque)
    _reopening: set[asyncio.Task[None]] = field(default_factory=set)
    _over: bool = False
    _next: Iterator[bytes] = field(init=False)

    def __post_init__(self) -> None:
        self._next = cycle(random.sample(self.requests, len(self.requests)))

    @property
    def errors(self) -> int:
        """How many requests got no good answer."""
        return self.total - self.answers[b"2"]

    @property
    def failed(self) -> int:
        """How many requests failed because of the server: 5xx, no answer, or half of one."""
        return self.total - sum(self.answers.values()) + self.answers[b"5"]

    async def run(self, per_s: float, seconds: float) -> None:
        """Send requests at a fixed rate, and wait for their answers."""
        self.total = max(1, int(per_s * seconds))
        began, asked = time.perf_counter(), 0
        while asked < self.total:
            now = time.perf_counter()
            while asked < self.total and began + asked / per_s <= now:
                self._due.append(began + asked / per_s)
                asked += 1
            self._send()
            await asyncio.sleep(TICK_S)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._settled(), PATIENCE_S)

    async def open(self) -> None:
        """Open one connection."""
        loop = asyncio.get_running_loop()
        await loop.create_connection(lambda: _Connection(self), "127.0.0.1", self.port)

    def ready(self, connection: _Connection) -> None:
        """Take a connection that may send the next request."""
        self._open.add(connection)
        self._free.append(connection)
        self._send()

    def lost(self, connection: _Connection) -> None:
        """Replace a connection that has ended."""
        self._open.discard(connection)
        if self._over:
            return
        self.broken += connection.asking
        if connection in self._free:
            self._free.remove(connection)
        task = asyncio.create_task(self._reopen())
        self._reopening.add(task)
        task.add_done_callback(self._reopening.discard)

    async def close(self) -> None:
        """Close all connections."""
        self._over = True
        for task in self._reopening:
            task.cancel()
        await asyncio.gather(*self._reopening, return_exceptions=True)
        for connection in self._open:
            connection.abort()

    async def _reopen(self) -> None:
        while True:
            with contextlib.suppress(OSError):
                return await self.open()
            await asyncio.sleep(REOPEN_S)

    def _send(self) -> None:
        while self._due and self._free:
            self._free.popleft().ask(next(self._next), self._due.popleft())

    async def _settled(self) -> None:
        while len(self.took_ms) + self.broken < self.total:  # noqa: ASYNC110 - events cost more
            await asyncio.sleep(TICK_S)


class _Connection(asyncio.Protocol):
    """One connection, with at most one request under way."""

    def __init__(self, load: Paced) -> None:
        self.asking = False
        self._load = load
        self._due = 0.0
        self._data = b""
        self._transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # uvloop's is no subclass
        self._load.ready(self)

    def ask(self, request: bytes, due: float) -> None:
        """Send one request."""
        self.asking = True
        self._due = due
        self._transport.write(request)

    def data_received(self, data: bytes) -> None:
        now = time.perf_counter()
        data = self._data + data
        end = data.find(b"\r\n\r\n")
        length = _LENGTH.search(data, 0, end) if end > 0 else None
        if end < 0 or (length and len(data) < end + 4 + int(length[1])):
            self._data = data
            return
        self._data = b""
        self.asking = False
        self._load.took_ms.append((now - self._due) * 1000)
        self._load.answers[data[9:10]] += 1
        if _CLOSE.search(data, 0, end + 2):
            self._transport.close()
        else:
            self._load.ready(self)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        self._load.lost(self)

    def abort(self) -> None:
        """Close the connection."""
        self._transport.abort()


@contextlib.asynccontextmanager
async def paced(
    port: int, requests: list[bytes], connections: int = CONNECTIONS
) -> AsyncIterator[Paced]:
    """Open connections for a load, and close them when the block ends."""
    load = Paced(port, requests)
    try:
        for _ in range(connections):
            await load.open()
        yield load
    finally:
        await load.close()
