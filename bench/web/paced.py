"""A load at a fixed rate, whatever the server does: wrk always keeps its connections full.

Each request has a due time. If no connection is free it waits here, and its latency counts from the
due time, so that a stalled server is charged for everybody it kept waiting.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import random
import re
import time
from collections import deque
from dataclasses import dataclass, field
from typing import cast

CONNECTIONS = 64
TICK_S = 0.001
PATIENCE_S = 5.0
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)


@dataclass(slots=True)
class Paced:
    """One load: the requests, the free connections, and the latencies."""

    requests: list[bytes]
    free: deque[_Connection] = field(default_factory=deque)
    due: deque[float] = field(default_factory=deque)
    took_ms: list[float] = field(default_factory=list)
    errors: int = 0

    def send(self) -> None:
        """Send due requests while a connection is free."""
        while self.due and self.free:
            self.free.popleft().ask(random.choice(self.requests), self.due.popleft())

    async def settled(self, total: int) -> None:
        """Wait until `total` requests were answered."""
        while len(self.took_ms) < total:  # noqa: ASYNC110 - an event would cost each answer
            await asyncio.sleep(TICK_S)


class _Connection(asyncio.Protocol):
    """One connection, with at most one request under way."""

    def __init__(self, load: Paced) -> None:
        self._load = load
        self._due = 0.0
        self._data = b""
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # uvloop's is no subclass
        self._load.free.append(self)

    def ask(self, request: bytes, due: float) -> None:
        """Send one request."""
        self._due = due
        if self._transport is not None:
            self._transport.write(request)

    def data_received(self, data: bytes) -> None:
        now = time.perf_counter()
        data = self._data + data
        head = data.find(b"\r\n\r\n")
        length = _LENGTH.search(data, 0, head) if head > 0 else None
        if head < 0 or (length and len(data) < head + 4 + int(length[1])):
            self._data = data
            return
        self._data = b""
        self._load.took_ms.append((now - self._due) * 1000)
        self._load.errors += data[9:10] != b"2"
        self._load.free.append(self)
        self._load.send()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        self._load.errors += self not in self._load.free
        self._transport = None

    def close(self) -> None:
        """Hang up."""
        if self._transport is not None:
            self._transport.abort()


async def run_paced(port: int, requests: list[bytes], per_s: float, seconds: float) -> Paced:
    """Send requests at a fixed rate, and return how long each took from when it was due."""
    load = Paced(requests)
    loop = asyncio.get_running_loop()
    made = [
        await loop.create_connection(lambda: _Connection(load), "127.0.0.1", port)
        for _ in range(CONNECTIONS)
    ]
    total = max(1, int(per_s * seconds))
    gc.collect()
    gc.disable()  # a collection here would be charged to the server
    try:
        await _send_all(load, total, per_s)
    finally:
        gc.enable()
    load.errors += total - len(load.took_ms)
    for _, connection in made:
        connection.close()
    return load


async def _send_all(load: Paced, total: int, per_s: float) -> None:
    began, asked = time.perf_counter(), 0
    while asked < total:
        now = time.perf_counter()
        while asked < total and began + asked / per_s <= now:
            load.due.append(began + asked / per_s)
            asked += 1
        load.send()
        await asyncio.sleep(TICK_S)
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(load.settled(total), PATIENCE_S)
