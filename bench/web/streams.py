"""Event streams by the thousand: cheap clients that only record when they learn of their turn."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import cast

AT_ONCE = 1_000
PATIENCE_S = 15.0
_CALLED = b'"state":"called"'


class _Stream(asyncio.Protocol):
    """One stream: open once it got its ticket's first event, then told, or failed."""

    def __init__(self, request: bytes) -> None:
        self._request = request
        self._tail = b""
        self.opened: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self.told_at: float | None = None
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)  # uvloop's is no subclass
        self.transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        now = time.perf_counter()
        data = self._tail + data
        # Keep the tail: an HTTP chunk may split an event.
        self._tail = data[-len(_CALLED) :] if self.opened.done() else data
        if self.told_at is None and _CALLED in data:
            self.told_at = now
        if not self.opened.done() and (b"event: ticket" in data or not _good(data)):
            self.opened.set_result(_good(data))

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        if not self.opened.done():
            self.opened.set_result(False)
        self.transport = None

    def close(self) -> None:
        """Close the connection."""
        if self.transport is not None:
            self.transport.abort()


def _good(data: bytes) -> bool:
    return data.startswith(b"HTTP/1.1 200"[: len(data)])


@dataclass(slots=True)
class Streams:
    """Open streams in the order of their tickets, and how many could not be opened."""

    open: list[_Stream] = field(default_factory=list)
    failed: int = 0

    async def add(self, port: int, paths: Sequence[str]) -> None:
        """Open a stream for each path, some at a time, and wait until each got an event."""
        loop = asyncio.get_running_loop()
        for start in range(0, len(paths), AT_ONCE):
            made: list[_Stream] = []
            for path in paths[start : start + AT_ONCE]:
                request = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()
                protocol = partial(_Stream, request)
                made.append((await loop.create_connection(protocol, "127.0.0.1", port))[1])
            self.open += made
            await asyncio.wait([stream.opened for stream in made], timeout=PATIENCE_S)
            bad = sum(not (stream.opened.done() and stream.opened.result()) for stream in made)
            self.failed += bad
            if bad == len(made):  # the others would fail too, and each try takes long
                return

    async def wait_until_told(self, count: int) -> None:
        """Wait until the first `count` were told, at most `PATIENCE_S`."""
        give_up = time.perf_counter() + PATIENCE_S
        while time.perf_counter() < give_up:
            if all(stream.told_at is not None for stream in self.open[:count]):
                return
            await asyncio.sleep(0.05)

    def close(self) -> None:
        """Close all connections."""
        for stream in self.open:
            stream.close()
