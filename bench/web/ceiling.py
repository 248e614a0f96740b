"""The most that an ASGI server can do here: one constant body, the size of a ticket's view."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from typing import Any

BODY = os.environ.get("CEILING_BODY", "{}").encode()
HEADERS = [
    (b"content-type", b"application/json"),
    (b"content-length", str(len(BODY)).encode()),
]
START = {"type": "http.response.start", "status": 200, "headers": HEADERS}
REST = {"type": "http.response.body", "body": BODY}


async def app(
    scope: dict[str, Any],
    receive: Callable[[], Awaitable[dict[str, Any]]],
    send: Callable[[dict[str, Any]], Awaitable[None]],
) -> None:
    """Answer anything."""
    if scope["type"] == "http":
        await send(START)
        await send(REST)
        return
    while (await receive())["type"] != "lifespan.shutdown":  # pragma: no branch
        await send({"type": "lifespan.startup.complete"})
    await send({"type": "lifespan.shutdown.complete"})
