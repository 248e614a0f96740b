"""All connections of a process: how many are allowed, and the sweep that ends slow ones.

One sweep a second for all: a timer for each connection would cost more than the connection.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Callable, Iterable
from email.utils import formatdate
from typing import Any, Protocol

from waitroom.server.http import answers
from waitroom.server.http.answers import Headers
from waitroom.server.http.bodies import App

log = logging.getLogger("waitroom.connections")

SWEEP_S = 1.0
IDLE_WHEN_FULL_S = 2.0
FULL = 0.8
"""Above this share of all connections, idle ones are closed after `IDLE_WHEN_FULL_S`."""


class Client(Protocol):
    """A connection, as far as the sweep needs it."""

    peer: str
    deadline: float

    @property
    def idle(self) -> bool:
        """Whether no request is being received or answered."""

    def send(self) -> None:
        """Send what waits."""

    def expire(self) -> None:
        """End what took too long."""

    def close(self) -> None:
        """Close when what was written is sent."""

    def abort(self) -> None:
        """Close at once."""


class Connections:
    """All connections of a process: what answers them, how many are allowed, and the sweep."""

    def __init__(
        self,
        app: App,
        lane: Any = None,
        *,
        most: int = 25_000,
        most_per_address: int = 0,
        idle_s: float = 75.0,
        is_proxy: Callable[[str], bool] = lambda _: False,
        network_of: Callable[[str], str] = lambda peer: peer,
        shared_headers: Iterable[Headers] = (),
    ) -> None:
        self.app = app
        self.lane = lane
        self.now = self._swept_at = time.monotonic()
        self.date = b""
        self.heads: dict[tuple[int, int], bytes] = {}
        self.idle_s = idle_s
        self.closing = False
        self.open: set[Client] = set()
        self.on_room: Callable[[], None] = lambda: None
        self._most = most
        self._most_per_address = most_per_address or most // 2
        self._is_proxy = is_proxy
        self._network_of = network_of
        self._per_address: Counter[str] = Counter()
        self._to_send: list[Client] = []
        # Kept here for as long as `heads` knows them by their ids.
        self._shared_headers = (answers.JSON, answers.EMPTY, *shared_headers)
        self.sweep(self._swept_at)

    @property
    def room(self) -> int:
        """How many more connections may be made."""
        return self._most - len(self.open)

    def add(self, connection: Client) -> bool:
        """Count a connection in; return whether its address has too many."""
        self.open.add(connection)
        network = self._network_of(connection.peer)
        self._per_address[network] += 1
        many = self._per_address[network] > self._most_per_address
        return many and not self._is_proxy(connection.peer)

    def remove(self, connection: Client) -> None:
        """Count a connection out."""
        self.open.discard(connection)
        network = self._network_of(connection.peer)
        self._per_address[network] -= 1
        if not self._per_address[network]:
            del self._per_address[network]
        self.on_room()

    def send_soon(self, connection: Client) -> None:
        """Let a connection send together with others that have an answer now.

        If the answers of a batch are written one by one, while the next is made, each wakes a
        reader that is asleep again: that cost a third of our time. Written in a row they do not.
        """
        if not self._to_send:
            asyncio.get_running_loop().call_soon(self._send_all)
        self._to_send.append(connection)

    def _send_all(self) -> None:
        connections, self._to_send = self._to_send, []
        for connection in connections:
            try:
                connection.send()
            except Exception:  # others wait behind this one
                log.exception("an answer could not be sent")
                connection.abort()

    def sweep(self, clock_s: float) -> None:
        """Read the clock, and end what is too slow. Called once a second.

        If this process itself was late, data from a client may be here, unread. So a late sweep
        counts as two seconds, however long it took.
        """
        self.now = now = self.now + min(clock_s - self._swept_at, 2 * SWEEP_S)
        self._swept_at = clock_s
        self.date = formatdate(usegmt=True).encode()
        self._prepare_heads()
        # Many idle connections must not keep others out.
        full = len(self.open) > FULL * self._most
        haste_s = max(0.0, self.idle_s - IDLE_WHEN_FULL_S) if full else 0.0
        for connection in [*self.open]:
            if connection.deadline <= now:
                connection.expire()
            elif haste_s and connection.idle and connection.deadline - haste_s <= now:
                connection.close()

    def _prepare_heads(self) -> None:
        """Write the heads of nearly all answers, but for the length of what follows.

        They are found by the list of headers itself, which such answers share, and their status.
        """
        for headers in self._shared_headers:
            lines = b"".join(b"%b: %b\r\n" % header for header in headers)
            lines += b"date: %b\r\n" % self.date
            key = id(headers)
            self.heads[key, 200] = b"HTTP/1.1 200 OK\r\n%bcontent-length: " % lines
            self.heads[key, 201] = b"HTTP/1.1 201 Created\r\n%bcontent-length: " % lines
            self.heads[key, 204] = b"HTTP/1.1 204 No Content\r\n%b\r\n" % lines

    async def finish(self, grace_s: float, longest_s: float) -> None:
        """Answer requests that come within the grace, then close; give up after `longest_s`."""
        self.closing = True
        ends = time.monotonic() + longest_s
        await asyncio.sleep(grace_s)
        while self.open and time.monotonic() < ends:
            for connection in [*self.open]:
                if connection.idle:
                    connection.close()
            await asyncio.sleep(0.01)
        for connection in [*self.open]:
            connection.abort()
