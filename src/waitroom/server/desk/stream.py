"""Event streams of the desk as connections: who listens, and the answer that feeds them.

`hub` decides what they are sent.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from fastapi import Response
from starlette.types import Receive, Scope, Send

from waitroom.errors import WaitroomError
from waitroom.server.context import Server
from waitroom.server.http import bodies, problems
from waitroom.server.http.event_stream import EventStream


@dataclass(slots=True, eq=False, kw_only=True)
class Listener(EventStream):
    """A stream about one store."""

    address: str = ""
    store: str


@dataclass(slots=True, eq=False, kw_only=True)
class Guest(Listener):
    """The stream of a guest."""

    token: str
    due_at: float = 0.0
    asked_at: float = 0.0
    ended_at: float | None = None


@dataclass(slots=True, eq=False, kw_only=True)
class Host(Listener):
    """The stream of a host; `check` raises once their key is no longer valid."""

    check: Callable[[], Awaitable[object]]
    checked_at: float = field(default_factory=time.monotonic)


class StreamResponse(Response):
    """The answer to a request for events: it takes over the connection."""

    media_type = "text/event-stream"

    def __init__(self, server: Server, listener: Listener) -> None:
        super().__init__()
        self._server, self._listener = server, listener

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve events until either side ends them."""
        server, listener = self._server, self._listener
        client = scope.get("client")
        address = server.proxies.visitor(client[0] if client else "", scope["headers"])
        listener.address = server.proxies.network(address)
        streams = server.desk_streams
        assert streams is not None  # noqa: S101 - its routes exist only then
        try:
            streams.open(listener)
        except WaitroomError as error:
            await bodies.send_answer(send, problems.answer(error), last=server.draining)
            return
        try:
            await server.open_streams.feed(listener, receive, send)
        finally:
            streams.close(listener)


def described(kinds: str) -> dict[int | str, dict[str, Any]]:
    """Return the documentation of a stream."""
    content = {"text/event-stream": {"schema": {"type": "string"}}}
    return {200: {"description": f"Server-Sent Events: {kinds}", "content": content}}
