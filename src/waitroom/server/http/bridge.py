"""From a connection to an ASGI app and back: scope, `receive` and `send` of one request.

The body is complete before the app is called, so `receive` never waits for it; an incomplete answer
goes out in chunks, no faster than its client reads.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol
from urllib.parse import unquote

import httptools

from waitroom.errors import WaitroomError
from waitroom.server.http import problems
from waitroom.server.http.answers import Answer, Headers
from waitroom.server.http.bodies import App, Message

log = logging.getLogger("waitroom.bridge")
_NO_BODY = frozenset({204, 304})
_LAST_CHUNK = b"0\r\n\r\n"
_running: set[asyncio.Task[None]] = set()
"""Running tasks: the loop itself holds only weak references."""


class HttpRequest(NamedTuple):
    """A complete request as it came; header names are in lower case."""

    method: str
    target: bytes
    headers: Headers
    body: bytes
    version: str
    keep_alive: bool
    trace: bytes | None = None
    """Its `traceparent`, empty if that came twice."""

    def path_and_query(self) -> tuple[str, bytes, bytes]:
        """Return the path as text and as it came, and the query."""
        target = self.target
        if not target.startswith(b"/") and target != b"*":  # as to a proxy: http://host/path
            try:
                url = httptools.parse_url(target)
                target = (url.path or b"/") + (b"?" + url.query if url.query else b"")
            except httptools.HttpParserInvalidURLError:
                pass
        raw, _, query = target.partition(b"?")
        text = raw.decode("utf-8", "replace")
        return unquote(text) if "%" in text else text, raw, query


class Client(Protocol):
    """The connection, as far as the bridge needs it."""

    client: tuple[str, int] | None
    scheme: str
    transport: asyncio.Transport
    request: HttpRequest | None
    writable: bool
    on_lost: Callable[[], None] | None
    on_writable: Callable[[], None] | None

    def answer(self, answer: Answer, request_id: str | None = None, /) -> None:
        """Send a whole answer."""

    def write(self, data: bytes, /) -> None:
        """Send a part of an answer."""

    def head(self, status: int, headers: Headers, /) -> bytes:
        """Return the head of an answer."""

    def done(self) -> None:
        """End the request."""

    def abort(self) -> None:
        """Close at once."""


def start(client: Client, request: HttpRequest, app: App) -> None:
    """Let an app answer a request."""
    exchange = Exchange(client, request)
    task = asyncio.get_running_loop().create_task(exchange.run(app))
    _running.add(task)
    task.add_done_callback(_running.discard)


def scope_of(client: Client, request: HttpRequest) -> dict[str, Any]:
    """Return the ASGI scope of a request."""
    path, raw_path, query = request.path_and_query()
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": request.version,
        "method": request.method,
        "scheme": client.scheme,
        "path": path,
        "raw_path": raw_path,
        "query_string": query,
        "root_path": "",
        "headers": request.headers,
        "client": client.client,
        "server": client.transport.get_extra_info("sockname")[:2],
    }


class Exchange:
    """One request and its answer."""

    __slots__ = (
        "_begun",
        "_body",
        "_changed",
        "_chunked",
        "_client",
        "_mute",
        "_over",
        "_request",
        "_start",
    )

    def __init__(self, client: Client, request: HttpRequest) -> None:
        self._client = client
        self._request = request
        self._body: bytes | None = request.body
        self._start: Message = {}
        self._begun = self._over = False
        self._chunked = self._mute = False
        self._changed = asyncio.Event()

    async def run(self, app: App) -> None:
        """Run the app; whatever it does, the client gets an answer or a closed connection."""
        client = self._client
        scope = scope_of(client, self._request)
        try:
            await app(scope, self.receive, self.send)
        except Exception:
            known = {"request_id": scope["request_id"]} if "request_id" in scope else None
            log.exception("a request failed: %s", self._request.method, extra=known)
        if self._over or client.transport.is_closing():
            return
        if self._begun:  # the client must not take a part for the whole answer
            client.abort()
        else:
            self._finish()
            error = WaitroomError("internal error; details are in the log")
            client.answer(problems.answer(error), scope.get("request_id"))

    async def receive(self) -> Message:
        """Return the body, then wait until the client or the answer is gone."""
        if self._body is not None:
            body, self._body = self._body, None
            return {"type": "http.request", "body": body, "more_body": False}
        self._client.on_lost = self._changed.set
        while not (self._over or self._client.transport.is_closing()):
            self._changed.clear()
            await self._changed.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        """Send a part of the answer."""
        client = self._client
        if self._over or client.transport.is_closing():
            return
        if message["type"] == "http.response.start":
            self._start = message
            return
        body, more = message.get("body", b""), message.get("more_body", False)
        data = b""
        if not self._begun:
            self._begun = True
            data = self._head(None if more else len(body))
        if not self._mute:
            data += self._framed(body, more)
        if data:
            client.write(data)
        if not more:
            self._finish()
            client.done()
        elif not client.writable:
            await self._drained()

    def _head(self, length: int | None) -> bytes:
        """Return the head, with a length if it is known."""
        status, headers = self._start["status"], [*self._start.get("headers", ())]
        self._mute = status in _NO_BODY or self._request.method == "HEAD"
        if status == 204:  # has no length, not even 0
            headers = [header for header in headers if header[0] != b"content-length"]
        elif status != 304 and all(name != b"content-length" for name, _ in headers):
            if length is not None:
                headers.append((b"content-length", b"%d" % length))
            elif self._request.version == "1.0":
                headers.append((b"connection", b"close"))  # the end of the body is the end
            else:
                self._chunked = True
                headers.append((b"transfer-encoding", b"chunked"))
        return self._client.head(status, headers)

    def _framed(self, body: bytes, more: bool) -> bytes:
        if not self._chunked:
            return body
        chunk = b"%x\r\n%b\r\n" % (len(body), body) if body else b""
        return chunk if more else chunk + _LAST_CHUNK

    async def _drained(self) -> None:
        """Wait until the client has read enough, or is gone."""
        client = self._client
        client.on_writable = self._changed.set
        while not (client.writable or client.transport.is_closing()):
            self._changed.clear()
            await self._changed.wait()

    def _finish(self) -> None:
        self._over = True
        self._client.on_lost = self._client.on_writable = None
        self._changed.set()
