"""A call as steps that either client takes: requests to send, and pauses between two tries.

A call that may be repeated is, for up to `patience_s` while the server is away. It never does
anything twice: it has an idempotency key, or repeating it changes nothing. What has neither is
sent once.
"""

from __future__ import annotations

import random
import time
import uuid
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from waitroom import errors
from waitroom.client.refusals import Refusal, no_answer, read_refusal

if TYPE_CHECKING:
    import httpx2

_PAUSE_S = 0.5
_LONGEST_PAUSE_S = 10.0
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Target:
    """The server that is asked, with which key, and for how long."""

    base: str
    key: str | None
    patience_s: float
    timeout_s: float


@dataclass(frozen=True, slots=True)
class Request:
    """What to send."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: Mapping[str, object] | None = None
    query: Mapping[str, str | int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Pause:
    """How long to wait before the next step."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Solve:
    """A challenge to solve before the next step."""

    challenge: Mapping[str, Any]


Step: TypeAlias = Request | Pause | Solve
Outcome: TypeAlias = "httpx2.Response | Exception | str | None"
"""What a step brought: an answer, why there is none, a solution, or nothing of a pause."""

Steps: TypeAlias = Generator[Step, Outcome, _T]


def call(
    target: Target,
    method: str,
    path: str,
    *,
    bearer: str | None = None,
    body: Mapping[str, object] | None = None,
    query: Mapping[str, str | int | None] | None = None,
    once: str | None = None,
    repeat: bool = True,
    done: tuple[type[errors.WaitroomError], ...] = (),
) -> Steps[dict[str, Any]]:
    """Send a request until it is answered; return the body.

    `once` is the idempotency key. Without one, `done` are the errors that say at a second try that
    the first one did it, and only the reply was lost.
    """
    request = Request(
        method,
        target.base + path,
        _headers(bearer, once),
        body,
        {name: value for name, value in (query or {}).items() if value is not None},
    )
    until = time.monotonic() + (target.patience_s if repeat else 0.0)
    pause_s = _PAUSE_S
    while True:
        answer = _read(target.base, (yield request))
        if not isinstance(answer, Refusal):
            return answer
        if pause_s > _PAUSE_S and isinstance(answer.error, done):
            return {}
        pause = next_pause(answer, until, pause_s)
        yield pause
        pause_s = min(_LONGEST_PAUSE_S, pause_s * 2)


def next_pause(refusal: Refusal, until: float, pause_s: float = _PAUSE_S) -> Pause:
    """Return how long to wait before the next try; raise if there must be none."""
    wait_s = refusal.retry_s
    if wait_s is None or time.monotonic() + max(wait_s, pause_s) > until:
        raise refusal.error
    return Pause(max(wait_s, pause_s * (0.5 + random.random())))  # noqa: S311


def new_id() -> str:
    """Return an idempotency key."""
    return uuid.uuid4().hex


def _headers(bearer: str | None, once: str | None) -> dict[str, str]:
    headers = {} if bearer is None else {"authorization": f"Bearer {bearer}"}
    return headers if once is None else headers | {"idempotency-key": once}


def _read(base: str, outcome: Outcome) -> dict[str, Any] | Refusal:
    if outcome is None or isinstance(outcome, Exception | str):
        error = outcome if isinstance(outcome, Exception) else RuntimeError("that is no answer")
        return no_answer(base, error)
    if not outcome.is_success:
        return read_refusal(outcome)
    try:
        document: dict[str, Any] = {} if outcome.status_code == 204 else outcome.json()
    except ValueError as error:
        return no_answer(base, error)
    return document
