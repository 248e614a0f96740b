"""How the steps of a call are taken: with httpx2's asynchronous client, or its synchronous one."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from waitroom.client.steps import Outcome, Pause, Request, Solve, Step, Steps, Target
from waitroom.work import solve

if TYPE_CHECKING:
    import httpx2

_P = ParamSpec("_P")
_T = TypeVar("_T")
_Call = Callable[Concatenate[Target, _P], Steps[_T]]


class Asynchronous:
    """Whose steps are awaited."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self._http: httpx2.AsyncClient | None = None

    def http_client(self) -> httpx2.AsyncClient:
        """Return the client, opened when it is first needed."""
        import httpx2

        if self._http is None:
            self._http = httpx2.AsyncClient(timeout=self.target.timeout_s)
        return self._http

    async def _take(self, step: Step) -> Outcome:
        import httpx2

        if isinstance(step, Pause):
            await asyncio.sleep(step.seconds)
            return None
        if isinstance(step, Solve):
            return await asyncio.to_thread(solve, step.challenge)
        try:
            return await self.http_client().request(**_as_sent(step))
        except httpx2.TransportError as error:
            return error

    async def run(self, steps: Steps[_T]) -> _T:
        """Take the steps of a call, and return its result."""
        outcome: Outcome = None
        while True:
            try:
                step = steps.send(outcome)
            except StopIteration as end:
                result: _T = end.value
                return result
            outcome = await self._take(step)


class Synchronous:
    """Whose steps are taken at once; several threads may share one."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self._http: httpx2.Client | None = None
        self._opening = threading.Lock()

    def http_client(self) -> httpx2.Client:
        """Return the client, opened when it is first needed."""
        import httpx2

        with self._opening:
            if self._http is None:
                self._http = httpx2.Client(timeout=self.target.timeout_s)
            return self._http

    def _take(self, step: Step) -> Outcome:
        import httpx2

        if isinstance(step, Pause):
            time.sleep(step.seconds)
            return None
        if isinstance(step, Solve):
            return solve(step.challenge)
        try:
            return self.http_client().request(**_as_sent(step))
        except httpx2.TransportError as error:
            return error

    def run(self, steps: Steps[_T]) -> _T:
        """Take the steps of a call, and return its result."""
        outcome: Outcome = None
        while True:
            try:
                step = steps.send(outcome)
            except StopIteration as end:
                result: _T = end.value
                return result
            outcome = self._take(step)


def awaited(
    call: _Call[_P, _T],
) -> Callable[Concatenate[Any, _P], Coroutine[Any, Any, _T]]:
    """Make a call a method of the asynchronous client."""

    @wraps(call)
    async def method(self: Any, /, *args: _P.args, **kwargs: _P.kwargs) -> _T:
        connection: Asynchronous = getattr(self, "_connection", self)
        return await connection.run(call(connection.target, *args, **kwargs))

    return method


def at_once(call: _Call[_P, _T]) -> Callable[Concatenate[Any, _P], _T]:
    """Make a call a method of the synchronous client."""

    @wraps(call)
    def method(self: Any, /, *args: _P.args, **kwargs: _P.kwargs) -> _T:
        connection: Synchronous = getattr(self, "_connection", self)
        return connection.run(call(connection.target, *args, **kwargs))

    return method


def _as_sent(request: Request) -> dict[str, Any]:
    return {
        "method": request.method,
        "url": request.url,
        "headers": request.headers,
        "params": request.query or None,
        "json": request.body,
    }
