"""One HTTP/1.1 connection: reads requests, keeps them within bounds, and answers them in order.

httptools parses and bounds nothing, so the sizes and times below are counted here. A request is
first offered to the lane, which answers it without ASGI; whatever the lane does not know goes to
the app through the bridge. Each part of a request has a deadline; `connections.py` looks at them.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from http import HTTPStatus
from typing import cast

import httptools

from waitroom.errors import (
    BadRequest,
    BodyTooLarge,
    HeadTooLarge,
    RequestTooSlow,
    TooMany,
    WaitroomError,
)
from waitroom.server.http import bridge, problems, request_ids
from waitroom.server.http.answers import Answer, Headers
from waitroom.server.http.bodies import BODY_S, MOST_OPERATOR_BODY, TOO_LARGE, App
from waitroom.server.http.bridge import HttpRequest
from waitroom.server.http.connections import SWEEP_S, Connections

log = logging.getLogger("waitroom.connection")

MOST_HEAD = 65_536
MOST_HEADERS = 100
PART = 4_096
"""Bytes that are parsed at once. While a request waits for those before it, no more are: one read
may bring thousands, and parsed they take many times their size (2 MB for each slow reader of
tests/acceptance/test_slow_clients.py, before there was this bound)."""

TURN = 16
"""Requests of one connection that are begun in a row before all others get their turn."""

HEAD_S = 8.0
"""From the first byte of a request's head to its last."""

UNREAD_S = 30.0
"""The time for a client to read an answer: a client that does not read is cut off."""

LINGER_S = 2.0
"""How long we still read, and ignore, what a refused client sends."""

_WATCHED = frozenset({b"host", b"content-length", b"expect", request_ids.TRACE})
_VERSIONS = ("1.1", "1.0")  # the parser takes 0.9 and 2.0 too, which are read in other ways
_NEVER = float("inf")
_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
UNREADABLE = HttpRequest("GET", b"", [], b"", "1.1", False)
_REASONS = {status.value: status.phrase.encode() for status in HTTPStatus}


class Connection(asyncio.Protocol):
    """A client: at most one of its requests is being answered, the others wait their turn."""

    def __init__(self, shared: Connections, scheme: str = "http") -> None:
        self.scheme = scheme
        self.peer = ""
        self.client: tuple[str, int] | None = None
        self.deadline = _NEVER
        self.request: HttpRequest | None = None
        self.writable = True
        self.on_lost: Callable[[], None] | None = None
        self.on_writable: Callable[[], None] | None = None
        self.transport: asyncio.Transport
        self._shared = shared
        self._parser: httptools.HttpRequestParser | None = httptools.HttpRequestParser(self)
        self._queue: deque[HttpRequest] = deque()
        self._fault: WaitroomError | None = None
        self._deaf = False
        self._over = False
        self._in_next = False
        self._begun = 0
        self._resting = False
        self._unparsed = self._unsent = b""
        self._in_message = self._in_head = False
        self._target = b""
        self._headers: Headers = []
        self._watched: dict[bytes, bytes] = {}
        self._trace: bytes | None = None
        self._chunks: list[bytes] = []
        self._size = 0

    @property
    def idle(self) -> bool:
        """Whether no request is being received or answered."""
        return self.request is None and not self._in_message

    # The transport ---------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin; the first request has as much time as a head."""
        self.transport = cast(asyncio.Transport, transport)  # of a stream; uvloop has its own class
        address = transport.get_extra_info("peername")
        if isinstance(address, tuple):
            self.peer, self.client = address[0], (address[0], address[1])
        self.deadline = self._shared.now + HEAD_S + SWEEP_S
        if self._shared.add(self):
            self._refuse(TooMany("this address has too many connections open; close some", 30))

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget it; a running answer may continue, for nobody."""
        del exc
        self._deaf = self._over = True
        self._parser = None  # it holds our methods: a cycle
        self._queue.clear()
        self._unparsed = self._unsent = b""
        self._shared.remove(self)
        self._tell_bridge()

    def _tell_bridge(self) -> None:
        for tell in (self.on_lost, self.on_writable):
            if tell is not None:
                tell()

    def pause_writing(self) -> None:
        """Wait for the client to read."""
        self.writable = False
        self.deadline = self._shared.now + UNREAD_S

    def resume_writing(self) -> None:
        """Go on."""
        self.writable = True
        if self.request is None:
            self._await_request()
        else:
            self.deadline = _NEVER
        if self.on_writable is not None:
            self.on_writable()
        self._next()

    def eof_received(self) -> bool:
        """Finish what was asked: a client may end its side, and still read the answers.

        A client that follows a stream is gone.
        """
        self._deaf = True
        self.send()
        if self.on_lost is not None:
            return False
        return self.request is not None or bool(self._queue)

    def data_received(self, data: bytes) -> None:
        """Read requests; no more are read while one has to wait."""
        if self._deaf:
            return
        if len(data) > PART:
            data, self._unparsed = data[:PART], data[PART:]
        self._begun = 0
        self._in_next = True  # what is answered meanwhile must not parse the next part
        self._parse(data)
        self._in_next = False
        if self._queue or self._unparsed:
            self._next()
        if self._queue:
            self.transport.pause_reading()

    def _parse(self, data: bytes) -> None:
        """Parse a part of what came."""
        parser = self._parser
        if parser is None:
            return
        try:
            parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self._deaf = True  # upgrades are ignored: the request is answered, the rest is not read
        except httptools.HttpParserCallbackError:  # our own error, which no client should wait for
            log.exception("a connection was closed, because its request could not be begun")
            self.abort()
        except httptools.HttpParserError:
            self._refuse(BadRequest("this is not a request of HTTP/1.1"))
        if self._in_head:
            self._size += len(data)
            if self._size > MOST_HEAD:
                self._refuse(HeadTooLarge(f"the head takes at most {MOST_HEAD} bytes"))
        if self._deaf:
            self._unparsed = b""

    # The parser ------------------------------------------------------------------------------

    def on_message_begin(self) -> None:
        """Begin a request."""
        self._in_message = self._in_head = True
        self._target = b""
        self._headers = []
        self._size = 0
        if self.request is None and self.writable:
            self.deadline = self._shared.now + HEAD_S + SWEEP_S

    def on_url(self, url: bytes) -> None:
        """Take the target, or a part of it."""
        self._target += url

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header."""
        name = name.lower()
        self._headers.append((name, value))
        if name in _WATCHED:
            self._watched[name] = b"" if name in self._watched else value

    def on_headers_complete(self) -> None:
        """Check what the head says before anything of the body is taken."""
        before, self._size = self._size, 0
        self._in_head = False
        watched, self._watched = self._watched, {}
        self._trace = watched.get(request_ids.TRACE)
        parser = self._parser
        if self._deaf or parser is None:
            return
        # A head of one part cannot be too long.
        if (before and self._head_size() > MOST_HEAD) or len(self._headers) > MOST_HEADERS:
            most = f"the head takes at most {MOST_HEADERS} headers and {MOST_HEAD} bytes"
            self._refuse(HeadTooLarge(most))
        elif not watched.get(b"host") and parser.get_http_version() != "1.0":
            self._refuse(BadRequest("the header Host is missing, empty, or there twice"))
        elif int(watched.get(b"content-length") or 0) > MOST_OPERATOR_BODY:
            self._refuse(BodyTooLarge(TOO_LARGE.format(MOST_OPERATOR_BODY)))
        elif self.request is None:
            if self.writable:
                self.deadline = self._shared.now + BODY_S + SWEEP_S
            if b"expect" in watched:
                self.write(_CONTINUE)

    def _head_size(self) -> int:
        lines = sum(len(name) + len(value) + 4 for name, value in self._headers)
        return len(self._target) + lines

    def on_body(self, body: bytes) -> None:
        """Take a part of the body."""
        self._chunks.append(body)
        self._size += len(body)
        if self._size > MOST_OPERATOR_BODY and not self._deaf:
            self._refuse(BodyTooLarge(TOO_LARGE.format(MOST_OPERATOR_BODY)))

    def on_message_complete(self) -> None:
        """Answer the request, or let it wait for those before it."""
        chunks, self._chunks = self._chunks, []
        self._in_message = False
        parser = self._parser
        if self._deaf or parser is None:
            return
        version = parser.get_http_version()
        if version not in _VERSIONS:
            self._refuse(BadRequest(f"HTTP/{version} is not spoken here; use HTTP/1.1"))
            return
        request = HttpRequest(
            parser.get_method().decode("ascii"),
            self._target,
            self._headers,
            b"".join(chunks),
            version,
            parser.should_keep_alive() and not parser.should_upgrade(),
            self._trace,
        )
        ready = self.request is None and not self._queue and self.writable
        if ready and self._begun < TURN:
            self._begin(request)
        else:
            self._queue.append(request)

    # Answers ---------------------------------------------------------------------------------

    def _begin(self, request: HttpRequest) -> None:
        self.request = request
        self._begun += 1
        self.deadline = _NEVER
        lane = self._shared.lane
        if lane is None or not lane(self, request):
            self.run(self._shared.app)

    def run(self, app: App) -> None:
        """Let an ASGI app answer the request that is being answered."""
        if self.request is not None:
            bridge.start(self, self.request, app)

    def answer(self, answer: Answer, request_id: str | None = None) -> None:
        """Send a whole answer to the request that is being answered."""
        request = self.request
        if request is None or self.transport.is_closing():
            return
        if request_id is None and (request.trace is not None or answer.status >= 400):
            request_id = request_ids.of_trace(request.trace)
        if request_id is not None:
            answer = request_ids.tagged(answer, request_id)
        data = self._prepared(request, answer) or self._whole(request, answer)
        if self._unsent or len(data) > PART:
            self.write(data)
        else:
            self._unsent = data
            self._shared.send_soon(self)
        self.done()

    def write(self, data: bytes) -> None:
        """Send bytes, after those that wait."""
        self._unsent += data
        self.send()

    def send(self) -> None:
        """Send what waits."""
        data, self._unsent = self._unsent, b""
        if data and not self.transport.is_closing():
            self.transport.write(data)

    def _prepared(self, request: HttpRequest, answer: Answer) -> bytes | None:
        """Return an answer whose head is prepared, as for nearly every answer."""
        status, headers, body = answer
        shared = self._shared
        if not request.keep_alive or request.version != "1.1" or shared.closing:
            return None
        head = shared.heads.get((id(headers), status))
        if head is None or status == 204:
            return head
        return b"%b%d\r\n\r\n%b" % (head, len(body), body)

    def _whole(self, request: HttpRequest, answer: Answer) -> bytes:
        status, headers, body = answer
        if status != 204:
            headers = [*headers, (b"content-length", b"%d" % len(body))]
        head = self.head(status, headers)
        return head if request.method == "HEAD" else head + body

    def head(self, status: int, headers: Headers) -> bytes:
        """Return the head of an answer; with `connection: close` the connection is not kept."""
        request = self.request
        keep = request is not None and request.keep_alive and not self._shared.closing
        lines = [b"HTTP/1.1 %d %b" % (status, _REASONS.get(status, b""))]
        for name, value in headers:
            if name == b"connection":
                keep = keep and value != b"close"
            else:
                lines.append(b"%b: %b" % (name, value))
        lines.append(b"date: " + self._shared.date)
        if request is not None and not keep:
            lines.append(b"connection: close")
            self.request = request._replace(keep_alive=False)
        elif request is not None and request.version == "1.0":
            lines.append(b"connection: keep-alive")
        return b"\r\n".join((*lines, b"", b""))

    def done(self) -> None:
        """End the request that was answered, and go on with the next."""
        request, self.request = self.request, None
        if request is None:
            return
        if not request.keep_alive:
            self.close()
            return
        if self.writable:  # else it has until `UNREAD_S` to read
            self._await_request()
        if self._queue or self._deaf:
            self._next()

    def _await_request(self) -> None:
        """A head that has begun has its time, and so has a connection on which nothing comes."""
        self.deadline = self._shared.now + (HEAD_S if self._in_message else self._shared.idle_s)

    def _next(self) -> None:
        """Begin the requests that wait; not by recursion, because there may be thousands."""
        if self._in_next:
            return
        self._in_next = True
        while True:
            if self._queue:
                if self.request is not None or not self.writable:
                    break
                if self._begun >= TURN:
                    self._rest()
                    break
                self._begin(self._queue.popleft())
            elif self._unparsed and not self._deaf:
                part, self._unparsed = self._unparsed[:PART], self._unparsed[PART:]
                self._parse(part)
            else:
                break
        self._in_next = False
        if self._queue or self._over:
            return
        if not self._deaf:
            self.transport.resume_reading()
        elif self.request is None and self._fault is not None:
            self._refuse(self._fault)
        elif self.request is None:
            self.close()

    def _rest(self) -> None:
        """Go on after all other connections had their turn."""
        if not self._resting:
            self._resting = True
            asyncio.get_running_loop().call_soon(self._go_on)

    def _go_on(self) -> None:
        self._resting, self._begun = False, 0
        self._next()

    def _refuse(self, error: WaitroomError) -> None:
        """Stop reading, and say why, after the answers to earlier requests."""
        self._deaf = True
        self._fault = self._fault or error
        if self.request is None and not self._queue and not self._over:
            self.request = UNREADABLE
            self.answer(problems.answer(self._fault))

    def expire(self) -> None:
        """End what took too long."""
        if not self.writable or self.transport.is_closing() or self._fault is not None:
            self.abort()
        elif self.request is not None:
            self.deadline = _NEVER
        elif self._in_message:
            part, seconds = ("head", HEAD_S) if self._in_head else ("body", BODY_S)
            self._refuse(RequestTooSlow(f"the {part} did not arrive within {seconds:.0f} s"))
        else:
            self.close()

    def close(self) -> None:
        """Close when everything written is sent; a client that does not read it is cut off."""
        self._deaf = self._over = True
        self.send()
        if self._fault is not None and self.transport.can_write_eof():
            # More may be on its way; if we closed at once, the kernel would reset our last answer.
            self.deadline = self._shared.now + LINGER_S
            self.transport.write_eof()
        else:
            self.deadline = self._shared.now + UNREAD_S
            self.transport.close()

    def abort(self) -> None:
        """Close at once."""
        self._deaf = self._over = True
        self.transport.abort()
