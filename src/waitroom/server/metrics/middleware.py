"""Counts the framework's answers: pages, operators' requests, and everything outside the lane.

The lane counts its own requests. The label is the template of the route that answered, never the
path: a path holds names and tickets, and a stranger can invent as many as they like.
"""

from __future__ import annotations

import time
from collections.abc import Callable, MutableMapping
from typing import Any

from waitroom.server.counters.worker import OTHER, Counters
from waitroom.server.http.bodies import App, Message, Receive, Send
from waitroom.server.process.logs import AccessLog

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


def counted(
    app: App, counters: Callable[[], Counters | None], access: AccessLog | None = None
) -> App:
    """Wrap the framework; `counters` answers None before start-up: nothing is counted then."""
    access = access or AccessLog()

    async def wrapped(scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        began, status, media = time.perf_counter(), 500, b""

        async def noted(message: Message) -> None:
            nonlocal status, media
            if message["type"] == "http.response.start":
                status = message["status"]
                media = dict(message.get("headers", ())).get(b"content-type", b"")
            await send(message)

        try:
            await app(scope, receive, noted)
        finally:
            name, seconds = route_of(scope), time.perf_counter() - began
            into = counters()
            # The duration of an open stream means nothing.
            if into is not None and not media.startswith(b"text/event-stream"):
                into.request(name, status, seconds)
            access.note(name, status, seconds, request_id=scope.get("request_id"))

    return wrapped


def route_of(scope: MutableMapping[str, Any]) -> str:
    """Return the method and the template of the route that answered; `other` if none did."""
    method: str = scope["method"] if scope["method"] in _METHODS else OTHER
    template = getattr(scope.get("route"), "path", None)
    return f"{method} {template}" if isinstance(template, str) else f"{method} {OTHER}"
