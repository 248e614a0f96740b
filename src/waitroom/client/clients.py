"""The two clients: the same calls, with `await` and without."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from typing import Self

from waitroom.client import calls
from waitroom.client.operator.clients import Operator, SyncOperator
from waitroom.client.sending import Asynchronous, Synchronous, at_once, awaited
from waitroom.client.steps import Target
from waitroom.client.views import Place, Ticket


class Client(Asynchronous):
    """A Waitroom server. With an API `key`, visitors may be named in `join`."""

    def __init__(
        self,
        base: str,
        *,
        key: str | None = None,
        patience_s: float = 30.0,
        timeout_s: float = 10.0,
    ) -> None:
        super().__init__(Target(base.rstrip("/"), key, patience_s, timeout_s))
        self.operator = Operator(self)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the connections; a later call opens them again."""
        if self._http is not None:
            await self._http.aclose()
            self._http = None

    join = awaited(calls.join)
    status = awaited(calls.status)
    enter = awaited(calls.enter)
    renew = awaited(calls.renew)
    defer = awaited(calls.defer)
    finish = awaited(calls.finish)
    leave = awaited(calls.leave)
    handoff = awaited(calls.handoff)
    room = awaited(calls.room)
    check = awaited(calls.check)

    async def follow(self, ticket: Place) -> AsyncIterator[Ticket]:
        """Yield the ticket's view, now and then at the poll interval that the server asks for.

        It goes on until the caller stops, and raises what `status` raises once the ticket is gone.
        """
        view = ticket if isinstance(ticket, Ticket) else await self.status(ticket)
        while True:
            yield view
            await asyncio.sleep(view.poll_after_ms / 1000)
            view = await self.status(view)


class SyncClient(Synchronous):
    """A Waitroom server, for code without `await`. Several threads may share one."""

    def __init__(
        self,
        base: str,
        *,
        key: str | None = None,
        patience_s: float = 30.0,
        timeout_s: float = 10.0,
    ) -> None:
        super().__init__(Target(base.rstrip("/"), key, patience_s, timeout_s))
        self.operator = SyncOperator(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections; a later call opens them again."""
        with self._opening:
            if self._http is not None:
                self._http.close()
                self._http = None

    join = at_once(calls.join)
    status = at_once(calls.status)
    enter = at_once(calls.enter)
    renew = at_once(calls.renew)
    defer = at_once(calls.defer)
    finish = at_once(calls.finish)
    leave = at_once(calls.leave)
    handoff = at_once(calls.handoff)
    room = at_once(calls.room)
    check = at_once(calls.check)

    def follow(self, ticket: Place) -> Iterator[Ticket]:
        """Yield the ticket's view, now and then at the poll interval that the server asks for.

        It goes on until the caller stops, and raises what `status` raises once the ticket is gone.
        """
        view = ticket if isinstance(ticket, Ticket) else self.status(ticket)
        while True:
            yield view
            time.sleep(view.poll_after_ms / 1000)
            view = self.status(view)
