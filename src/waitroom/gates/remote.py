"""Calls to Waitroom: each runs on a thread of a small pool, within a deadline, and never raises.

Async and sync frameworks share it: `ask` returns a `Future`, which either can wait for. While
Waitroom cannot be reached, calls return None at once, and one a second tries again.
The HTTP client is the standard library's, loaded with the first call.
"""

from __future__ import annotations

import json
import logging
import os
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor
    from http.client import HTTPConnection

log = logging.getLogger("waitroom.gates")
PAUSE_S = 1.0
"""How long no call is made after one has failed."""

_THREADS = 8
_MOST_READ = 1_000_000
_NOT_THERE = (502, 504)
"""Statuses of a proxy whose Waitroom is away; a 503 comes from Waitroom itself."""


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer of Waitroom; header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> dict[str, Any]:
        """Return the JSON object in the body; empty if there is none."""
        try:
            document = json.loads(self.body)
        except (ValueError, RecursionError):
            return {}
        return document if isinstance(document, dict) else {}


class Remote:
    """Waitroom, as a gate reaches it."""

    def __init__(self, base: str, deadline_s: float) -> None:
        parts = urlsplit(base)
        self._host, self._prefix = parts.netloc, parts.path
        self._tls = parts.scheme == "https"
        self.deadline_s = deadline_s
        self.calls = 0
        self.heard_at = 0.0
        self.down = False
        self._late = 0
        self._retry_at = 0.0
        self._idle: deque[HTTPConnection] = deque(maxlen=_THREADS)
        self._pool: ThreadPoolExecutor | None = None
        self._pid = 0

    @property
    def resting(self) -> bool:
        """Whether no calls are made now, because one has just failed."""
        return self.down and time.monotonic() < self._retry_at

    def ask(
        self,
        method: str,
        path: str,
        *,
        headers: Mapping[str, str] | None = None,
        body: object = None,
        deadline_s: float | None = None,
        once: bool = False,
        then: Callable[[Reply | None], None] = lambda _: None,
    ) -> Future[Reply | None]:
        """Send a request; the result is None if Waitroom is away. `once` forbids a second try.

        `then` gets the reply first, on the thread that received it.
        """
        if self.resting:
            then(None)
            return _nothing()
        self._retry_at = time.monotonic() + PAUSE_S  # while it is down, one call at a time
        self.calls += 1
        data = None if body is None else json.dumps(body).encode()
        sent = {"connection": "keep-alive", "cache-control": "no-cache", **(headers or {})}
        if data is not None:
            sent["content-type"] = "application/json"
        until = time.monotonic() + (deadline_s or self.deadline_s)

        def run() -> Reply | None:
            reply = self._call(method, path, sent, data, until, once)
            try:
                then(reply)
            except Exception:
                log.exception("an answer of Waitroom could not be used: %s %s", method, path)
            return reply

        return self._threads().submit(run)

    def close(self) -> None:
        """Close the connections and end the threads; a later call opens them again."""
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
            self._pool = None
        self._drop()

    def late(self) -> None:
        """Note that a call did not come back in time: a second in a row is an outage."""
        self._late += 1
        if self._late > 1:
            self._failed()

    def _failed(self) -> None:
        self.down, self._retry_at = True, time.monotonic() + PAUSE_S

    def _drop(self) -> None:
        while self._idle:
            self._idle.pop().close()

    def _threads(self) -> ThreadPoolExecutor:
        from concurrent.futures import ThreadPoolExecutor

        if self._pool is None or self._pid != os.getpid():  # a server may fork after we were made
            self._drop()
            self._pid = os.getpid()
            self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="waitroom-gate")
        return self._pool

    def _call(
        self,
        method: str,
        path: str,
        headers: Mapping[str, str],
        body: bytes | None,
        until: float,
        once: bool,
    ) -> Reply | None:
        from http.client import HTTPException

        try:
            try:
                kept = None if once else self._idle.pop()
            except IndexError:
                kept = None
            try:
                reply = self._exchange(kept, method, path, headers, body, until)
            except (OSError, HTTPException):
                if kept is None:
                    raise
                # The server closes connections that were idle for long: that is not an outage.
                reply = self._exchange(None, method, path, headers, body, until)
        except TimeoutError:
            self.late()
            return None
        except (OSError, HTTPException, ValueError):
            self._failed()
            return None
        if reply.status in _NOT_THERE:
            self._failed()
            return None
        self.down, self._late, self.heard_at = False, 0, time.monotonic()
        return reply

    def _exchange(
        self,
        kept: HTTPConnection | None,
        method: str,
        path: str,
        headers: Mapping[str, str],
        body: bytes | None,
        until: float,
    ) -> Reply:
        connection = kept or self._connection(_left(until))
        try:
            connection.timeout = _left(until)
            if connection.sock is None:
                connection.connect()
            connection.sock.settimeout(_left(until))
            connection.request(method, self._prefix + path, body, dict(headers))
            connection.sock.settimeout(_left(until))
            answer = connection.getresponse()
            data = answer.read(_MOST_READ)
            if answer.length:
                raise OSError("the answer broke off, or is longer than any that we ask for")
            reply = Reply(answer.status, {k.lower(): v for k, v in answer.getheaders()}, data)
        except BaseException:
            connection.close()
            raise
        if answer.will_close or not answer.isclosed() or len(self._idle) >= _THREADS:
            connection.close()
        else:
            self._idle.append(connection)
        return reply

    def _connection(self, timeout_s: float) -> HTTPConnection:
        from http.client import HTTPConnection, HTTPSConnection

        return (HTTPSConnection if self._tls else HTTPConnection)(self._host, timeout=timeout_s)


def _nothing() -> Future[Reply | None]:
    from concurrent.futures import Future

    future: Future[Reply | None] = Future()
    future.set_result(None)
    return future


def _left(until: float) -> float:
    """Return how long a call may still take."""
    left = until - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left
