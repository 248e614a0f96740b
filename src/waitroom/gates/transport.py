"""HTTP to Waitroom: kept connections, one deadline per call, and what an error says about Waitroom.

The HTTP client is the standard library's, loaded with the first call.
"""

from __future__ import annotations

import errno
import json
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from http.client import HTTPConnection, HTTPResponse

_MOST_IDLE = 16
_MOST_READ = 1_000_000
_OUT_OF_SOCKETS = {
    errno.EMFILE,
    errno.ENFILE,
    errno.EADDRNOTAVAIL,
    errno.ENOBUFS,
    errno.ENOMEM,
}


class NoAnswer(Enum):
    """Why a call has no answer."""

    SHED = "shed"
    """It was not made: too many calls wait in this process, or it is out of sockets."""

    SLOW = "slow"
    """The answer did not come in time, or broke off. A probe tells whether Waitroom is there."""

    DOWN = "down"
    """Nobody is there."""


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


Outcome: TypeAlias = Reply | NoAnswer


@dataclass(frozen=True, slots=True)
class Request:
    """What is sent; `once` forbids a second try, which a closed idle connection else gets."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes | None = None
    once: bool = False


class Transport:
    """The connections to Waitroom."""

    def __init__(self, base: str) -> None:
        parts = urlsplit(base)
        self._host, self._prefix = parts.netloc, parts.path
        self._tls = parts.scheme == "https"
        self._idle: deque[HTTPConnection] = deque(maxlen=_MOST_IDLE)

    def close(self) -> None:
        """Close the idle connections."""
        while self._idle:
            self._idle.pop().close()

    def send(self, request: Request, deadline_s: float) -> Outcome:
        """Send a request; its deadline starts now. Never raises."""
        from http.client import HTTPException

        try:
            return self._send(request, time.monotonic() + deadline_s)
        except (OSError, HTTPException, ValueError) as error:
            return failure_of(error)

    def _send(self, request: Request, until: float) -> Reply:
        from http.client import HTTPException

        try:
            kept = None if request.once else self._idle.pop()
        except IndexError:
            kept = None
        try:
            return self._exchange(kept, request, until)
        except (OSError, HTTPException):
            if kept is None:
                raise
            # The server closes connections that were idle for long: that is not an outage.
            return self._exchange(None, request, until)

    def _exchange(self, kept: HTTPConnection | None, request: Request, until: float) -> Reply:
        connection = kept or self._connection(_left_s(until))
        try:
            connection.timeout = _left_s(until)
            if connection.sock is None:
                connection.connect()
            connection.sock.settimeout(_left_s(until))
            path = self._prefix + request.path
            connection.request(request.method, path, request.body, dict(request.headers))
            connection.sock.settimeout(_left_s(until))
            answer = connection.getresponse()
            reply = Reply(answer.status, _headers(answer), _body(answer))
        except BaseException:
            connection.close()
            raise
        if answer.will_close or not answer.isclosed() or len(self._idle) >= _MOST_IDLE:
            connection.close()
        else:
            self._idle.append(connection)
        return reply

    def _connection(self, timeout_s: float) -> HTTPConnection:
        from http.client import HTTPConnection, HTTPSConnection

        return (HTTPSConnection if self._tls else HTTPConnection)(self._host, timeout=timeout_s)


def is_verdict(outcome: Outcome) -> TypeGuard[Reply]:
    """Tell whether an answer is about what was asked, not a Waitroom that cannot answer now."""
    return isinstance(outcome, Reply) and outcome.status < 500 and outcome.status != 429


def failure_of(error: Exception) -> NoAnswer:
    """Say what an error of a call means.

    Refused, unreachable, no such name, TLS failed, or closed before any byte of an answer: nobody
    is there. Everything else may be congestion, here or there.
    """
    if isinstance(error, TimeoutError) or not isinstance(error, OSError):
        return NoAnswer.SLOW
    return NoAnswer.SHED if error.errno in _OUT_OF_SOCKETS else NoAnswer.DOWN


def _headers(answer: HTTPResponse) -> dict[str, str]:
    return {name.lower(): value for name, value in answer.getheaders()}


def _body(answer: HTTPResponse) -> bytes:
    """Read the body. An answer has begun, so whoever breaks it off is there."""
    try:
        data = answer.read(_MOST_READ)
    except OSError as error:
        raise ValueError("the answer broke off") from error
    if answer.length:
        raise ValueError("the answer broke off, or is longer than any that we ask for")
    return data


def _left_s(until: float) -> float:
    """Return how long a call may still take."""
    left_s = until - time.monotonic()
    if left_s <= 0:
        raise TimeoutError
    return left_s
