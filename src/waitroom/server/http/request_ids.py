"""The id of a request: what its `traceparent` (W3C Trace Context) says, or else one of ours.

It is in the answer's `X-Request-Id`, in problems as `request_id`, and in the log. A poll of the
crowd has neither a problem nor a line in the log, so none is made for it: the lane shows an id
where something went wrong, and to whoever sent one.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, MutableMapping
from typing import Any

from waitroom.server.http.answers import Answer
from waitroom.server.http.bodies import App, Message, Receive, Send

HEADER = b"x-request-id"
TRACE = b"traceparent"
PROBLEM = b"application/problem+json"
_IDS = rb"-((?!0{32})[0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}"
# Versions to come may have more parts; `ff` is none.
_TRACE = re.compile(rb"00" + _IDS + rb"|(?!00|ff)[0-9a-f]{2}" + _IDS + rb"(?:-[!-~]*)?")


def of_trace(traceparent: bytes | None) -> str:
    """Return the trace id of a header; a new id if there is none or it is not valid."""
    match = _TRACE.fullmatch(traceparent) if traceparent else None
    # Nobody gains by guessing one, so it need not cost a call to the system.
    return (match[1] or match[2]).decode() if match else f"{random.getrandbits(128):032x}"


def of_headers(headers: Iterable[tuple[bytes, bytes]]) -> str:
    """Return the id of a request; a header that is there twice says nothing."""
    traces = [value for name, value in headers if name == TRACE]
    return of_trace(traces[0] if len(traces) == 1 else None)


def tagged(answer: Answer, request_id: str) -> Answer:
    """Return an answer with its id, which a problem has in its document too."""
    status, headers, body = answer
    if is_problem(headers):
        body = _with_id(body, request_id)
    return Answer(status, [*headers, (HEADER, request_id.encode())], body)


def is_problem(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """Tell whether an answer is a problem document."""
    return (b"content-type", PROBLEM) in headers


def identified(app: App) -> App:
    """Wrap an ASGI app: the scope has the `request_id`, and so has each answer."""

    async def wrapped(scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        request_id = scope["request_id"] = of_headers(scope["headers"])
        kept: Message | None = None

        async def send_with_id(message: Message) -> None:
            nonlocal kept
            if message["type"] == "http.response.start":
                kept = message
                if not is_problem(message.get("headers", ())):
                    await send(_started(message, request_id))
            elif kept is not None and is_problem(kept.get("headers", ())):
                # A problem is one part, so its length is known only now.
                body = _with_id(message.get("body", b""), request_id)
                await send(_started(kept, request_id, len(body)))
                await send({**message, "body": body})
                kept = None
            else:
                await send(message)

        await app(scope, receive, send_with_id)

    return wrapped


def _started(start: Message, request_id: str, length: int | None = None) -> Message:
    headers = [*start.get("headers", ()), (HEADER, request_id.encode())]
    if length is not None:
        headers = [header for header in headers if header[0] != b"content-length"]
        headers.append((b"content-length", b"%d" % length))
    return {**start, "headers": headers}


def _with_id(body: bytes, request_id: str) -> bytes:
    if not body.endswith(b"}"):  # of a HEAD, which has none
        return body
    return b'%b,"request_id":"%b"}' % (body[:-1], request_id.encode())
