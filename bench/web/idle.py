"""Connections that asked once and then only stay open: most of a crowd, at any moment."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import cast

AT_ONCE = 500
PATIENCE_S = 15.0
_REQUEST = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"


class Idle(asyncio.Protocol):
    """One connection: answered once, then silent."""

    def __init__(self) -> None:
        self.answered: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Ask."""
        self.transport = cast("asyncio.Transport", transport)  # uvloop's is no subclass
        self.transport.write(_REQUEST)

    def data_received(self, data: bytes) -> None:
        """Record the answer; a refusal comes with the end of the connection."""
        if data.startswith(b"HTTP/1.1 200") and not self.answered.done():
            self.answered.set_result(None)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        """Record the end."""
        self.transport = None
        self.answered.cancel()

    @property
    def kept(self) -> bool:
        """Whether it was answered and is still open."""
        return self.transport is not None and self.answered.done()


@asynccontextmanager
async def idle_connections(port: int, most: int) -> AsyncIterator[list[Idle]]:
    """Open connections, wait until each is answered, and keep them while the block runs."""
    connections: list[Idle] = []
    try:
        while len(connections) < most:
            batch = await _open(port, min(AT_ONCE, most - len(connections)))
            connections += batch
            if not any(connection.kept for connection in batch):
                break  # the server accepts no more, or the system has no more files
        yield connections
    finally:
        for connection in connections:
            if connection.transport is not None:
                connection.transport.abort()


async def _open(port: int, count: int) -> list[Idle]:
    loop = asyncio.get_running_loop()
    batch: list[Idle] = []
    try:
        for _ in range(count):
            batch.append((await loop.create_connection(Idle, "127.0.0.1", port))[1])
    except OSError:
        pass  # the caller counts the open ones
    if batch:
        await asyncio.wait([connection.answered for connection in batch], timeout=PATIENCE_S)
    return batch
