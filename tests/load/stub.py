"""A waiting room of a hundred lines that can be told to be wrong, to see if it is noticed."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from waitroom.load.target import Target

Answer = tuple[int, dict[str, Any]]


@dataclass(slots=True)
class Stub:
    """The room: correct unless one of its faults is set."""

    capacity: int = 2
    newest_first: bool = False
    positions_rise: bool = False
    loses: bool = False
    fails_every: int = 0
    waiting: list[str] = field(default_factory=list)
    states: dict[str, str] = field(default_factory=dict)
    polls: dict[str, int] = field(default_factory=dict)
    requests: int = 0
    at_once: int = 0
    most_at_once: int = 0

    def answer(self, method: str, path: str, ticket: str, key: str) -> Answer:
        """Answer a request."""
        self.requests += 1
        if path == "/v1/rooms/x":
            return 200, {"now": datetime.now(UTC).isoformat()}
        if "/tickets" not in path:
            return 404, {"code": "not_found"}
        if self.fails_every and not self.requests % self.fails_every:
            return 503, {"code": "backend_unavailable"}
        if path.endswith("/tickets"):
            return 201, self._join(key)
        if ticket not in self.states:
            return 410, {"code": "turn_passed", "reason": "passed"}
        if method == "DELETE" or path.endswith("/finish"):
            del self.states[ticket]
            self.waiting = [other for other in self.waiting if other != ticket]
            self._advance()
            return 204, {}
        if path.endswith("/enter"):
            self.states[ticket] = "inside"
        elif self._drops(ticket):
            return 410, {"code": "turn_passed", "reason": "abandoned"}
        return 200, self._view(ticket)

    def _join(self, key: str) -> dict[str, Any]:
        if key not in self.states:
            self.states[key] = "waiting"
            self.waiting.append(key)
            self._advance()
        return self._view(key)

    def _drops(self, ticket: str) -> bool:
        self.polls[ticket] = self.polls.get(ticket, 0) + 1
        drops = self.loses and self.states[ticket] == "waiting" and self.polls[ticket] > 2
        if drops:
            self.waiting.remove(ticket)
            del self.states[ticket]
        return drops

    def _advance(self) -> None:
        while self.waiting and len(self.states) - len(self.waiting) < self.capacity:
            self.states[self.waiting.pop(-1 if self.newest_first else 0)] = "called"

    def _view(self, ticket: str) -> dict[str, Any]:
        place = self.waiting.index(ticket) + 1 if ticket in self.waiting else None
        if place is not None and self.positions_rise:
            place += 10 * self.polls.get(ticket, 0)
        return {"ticket": ticket, "state": self.states[ticket], "position": place,
                "poll_after_ms": 30}  # fmt: skip

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection."""
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                first, *lines = head.strip().split("\r\n")
                headers = dict(line.split(": ", 1) for line in lines)
                await reader.readexactly(int(headers.get("content-length", 0)))
                method, path, _ = first.split()
                bearer = headers.get("authorization", "").removeprefix("Bearer ")
                status, body = self.answer(method, path, bearer, headers.get("idempotency-key", ""))
                data = b"" if status == 204 else json.dumps(body).encode()
                length = f"content-length: {len(data)}\r\n"
                length += "retry-after: 1\r\n" if status == 503 else ""
                writer.write(f"HTTP/1.1 {status} x\r\n{length}\r\n".encode() + data)
        self.at_once -= 1
        writer.close()


@contextlib.asynccontextmanager
async def served(stub: Stub) -> AsyncIterator[Target]:
    """Run the stub on a free port."""
    listener = await asyncio.start_server(stub.serve, "127.0.0.1", 0)
    async with listener:
        port = listener.sockets[0].getsockname()[1]
        yield Target(f"http://127.0.0.1:{port}", "127.0.0.1", port, "127.0.0.1")


@contextlib.asynccontextmanager
async def replying(*replies: bytes) -> AsyncIterator[Target]:
    """Answer each request with the next bytes; empty ones close the connection instead."""
    left = list(replies)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while left and await reader.readuntil(b"\r\n\r\n"):
                data = left.pop(0)
                writer.write(data)
                if not data or b"content-length" not in data:
                    break
        writer.close()

    listener = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with listener:
        port = listener.sockets[0].getsockname()[1]
        yield Target(f"http://127.0.0.1:{port}", "127.0.0.1", port, "127.0.0.1")
