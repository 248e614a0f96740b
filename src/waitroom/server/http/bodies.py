"""Bodies: read whole before anything else runs, within a few seconds and a few kilobytes.

Our own connections do that themselves; `bounded` does the same under another ASGI server.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from waitroom.errors import BadRequest, BodyTooLarge, RequestTooSlow
from waitroom.server.http import problems
from waitroom.server.http.answers import Answer, Headers

Message = MutableMapping[str, Any]
Send = Callable[[Message], Awaitable[None]]
Receive = Callable[[], Awaitable[Message]]
App = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]

BODY_S = 5.0
MOST_OPERATOR_BODY = 512 * 1024
TOO_LARGE = "the body takes at most {} bytes"


def expected(headers: Headers) -> bool:
    """Return whether a request has a body; most joins have none, and need not wait for one."""
    for name, value in headers:
        if name == b"content-length":
            return value != b"0"
        if name == b"transfer-encoding":
            return True
    return False


async def read(receive: Receive, most: int) -> bytes:
    """Return the whole body, or say what is wrong with it."""
    message = await _next(receive)
    body: bytes = message.get("body", b"")
    if not message.get("more_body", False):
        return _bounded(body, most)
    try:
        async with asyncio.timeout(BODY_S):
            while message.get("more_body", False):
                message = await _next(receive)
                body = _bounded(body + message.get("body", b""), most)
    except TimeoutError:
        raise RequestTooSlow(f"the body did not arrive within {BODY_S:.0f} s") from None
    return body


async def _next(receive: Receive) -> Message:
    try:
        async with asyncio.timeout(BODY_S):
            message = await receive()
    except TimeoutError:
        raise RequestTooSlow(f"the body did not arrive within {BODY_S:.0f} s") from None
    if message["type"] == "http.disconnect":
        # Or its chunks are malformed: then the caller is there to read this.
        raise BadRequest("the body broke off before it was whole")
    return message


def _bounded(body: bytes, most: int) -> bytes:
    if len(body) > most:
        raise BodyTooLarge(TOO_LARGE.format(most))
    return body


async def send_answer(send: Send, answer: Answer, *, last: bool = False) -> None:
    """Send a whole answer; after the `last` one the connection is closed."""
    headers = [*answer.headers, (b"connection", b"close")] if last else answer.headers
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": answer.body})


def bounded(app: App) -> App:
    """Wrap the framework: it gets the whole body at once, or is not called at all."""

    async def wrapped(scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] in ("GET", "HEAD", "OPTIONS"):
            await app(scope, receive, send)
            return
        try:
            body = await read(receive, MOST_OPERATOR_BODY)
        except BadRequest as error:
            await send_answer(send, problems.answer(error))
            return
        messages = [{"type": "http.request", "body": body, "more_body": False}]

        async def replay() -> Message:
            return messages.pop() if messages else await receive()

        await app(scope, replay, send)

    return wrapped
