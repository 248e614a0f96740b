"""Turns many concurrent calls of one process into few script calls, without a timer.

Items that arrive while a call is under way are sent together when it returns. An idle batcher sends
at once, so a single caller never waits.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any, Generic, TypeVar

from waitroom.errors import Busy
from waitroom.models import MEMBERS_PER_SCRIPT

Item = TypeVar("Item")
Answer = TypeVar("Answer")
Batch = list[tuple[Item, "asyncio.Future[Answer]", float]]
"""Each item with the future of its answer, and since when it waits."""

IN_FLIGHT = 2
MOST_PENDING = 20_000
"""Most items that wait for a call: a server that is away must not fill our memory."""


class Batcher(Generic[Item, Answer]):
    """Collects items for `send`, which answers a sequence of the same length.

    An answer that is an exception is raised to its own waiter; if `send` raises, every waiter of
    that call gets the error, and the next call is tried afresh.
    """

    def __init__(
        self,
        send: Callable[[list[Item]], Awaitable[Sequence[Answer | Exception]]],
        *,
        most: int = MEMBERS_PER_SCRIPT,
        in_flight: int = IN_FLIGHT,
        most_pending: int = MOST_PENDING,
    ) -> None:
        self._send = send
        self._in_flight = in_flight
        self._most = most
        self._most_pending = most_pending
        self._pending: Batch[Item, Answer] = []
        self._tasks: dict[asyncio.Task[None], Batch[Item, Answer]] = {}
        self._starting = False

    def submit(self, item: Item) -> asyncio.Future[Answer]:
        """Queue an item and return the future of its answer; where too many wait, a failed one."""
        loop = asyncio.get_running_loop()
        if len(self._pending) >= self._most_pending:
            return failed(Busy())
        future: asyncio.Future[Answer] = loop.create_future()
        self._pending.append((item, future, time.monotonic()))
        if not self._starting and len(self._tasks) < self._in_flight:
            # One turn of the event loop later, so that callers that are ready now share the call.
            self._starting = True
            loop.call_soon(self._start)
        return future

    @property
    def idle(self) -> bool:
        """Whether nothing is queued or under way, so that the batcher may be forgotten."""
        return not self._pending and not self._tasks

    def waiting(self, longer_than_s: float) -> Iterator[tuple[Item, asyncio.Future[Answer]]]:
        """Yield the items that have waited for so long, queued or under way, with their futures."""
        if not self._tasks:
            return
        since = time.monotonic() - longer_than_s
        for batch in (*self._tasks.values(), self._pending):
            for item, future, began in batch:
                if began > since:
                    break  # those behind came later
                if not future.done():
                    yield item, future

    def fail(self, error: Exception, longer_than_s: float = 0.0) -> None:
        """Give the error to all who have waited for so long. Calls under way go on, unobserved."""
        for _, future in self.waiting(longer_than_s):
            future.set_exception(error)

    async def drain(self) -> None:
        """Wait until everything submitted so far is answered."""
        while self._pending or self._tasks:
            await asyncio.gather(*self._tasks, return_exceptions=True)
            await asyncio.sleep(0)

    def _start(self) -> None:
        self._starting = False
        while self._pending and len(self._tasks) < self._in_flight:
            batch, self._pending = self._pending[: self._most], self._pending[self._most :]
            task = asyncio.get_running_loop().create_task(self._call(batch))
            self._tasks[task] = batch
            task.add_done_callback(self._finished)

    def _finished(self, task: asyncio.Task[None]) -> None:
        del self._tasks[task]
        self._start()

    async def _call(self, batch: Batch[Item, Answer]) -> None:
        live = [(item, future) for item, future, _ in batch if not future.done()]
        if not live:
            return
        try:
            answers = await self._send([item for item, _ in live])
            if len(answers) != len(live):
                raise RuntimeError(f"{len(answers)} answers for {len(live)} items")
        except Exception as error:
            answers = [error] * len(live)
        except asyncio.CancelledError:
            for _, future in live:
                future.cancel()
            raise
        for (_, future), answer in zip(live, answers, strict=True):
            if future.done():
                continue  # the waiter gave up while the call was under way
            if isinstance(answer, Exception):
                future.set_exception(answer)
            else:
                future.set_result(answer)


def failed(error: Exception) -> asyncio.Future[Any]:
    """Return a future that raises when it is awaited, as a coroutine would."""
    future = asyncio.get_running_loop().create_future()
    future.set_exception(error)
    return future
