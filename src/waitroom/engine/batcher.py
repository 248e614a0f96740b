"""Turns many concurrent calls of one process into few script calls, without a timer.

What arrives while a call is under way goes out together when that call is back. An idle batcher
sends at once, so a lone caller waits for nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

from waitroom.models import MEMBERS_PER_SCRIPT

Item = TypeVar("Item")
Answer = TypeVar("Answer")

IN_FLIGHT = 2


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
    ) -> None:
        self._send = send
        self._in_flight = in_flight
        self._most = most
        self._pending: list[tuple[Item, asyncio.Future[Answer]]] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._starting = False

    def submit(self, item: Item) -> asyncio.Future[Answer]:
        """Queue an item and return the future of its answer."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Answer] = loop.create_future()
        self._pending.append((item, future))
        if not self._starting and len(self._tasks) < self._in_flight:
            # One turn of the loop later, so that callers which are ready now share the call.
            self._starting = True
            loop.call_soon(self._start)
        return future

    @property
    def idle(self) -> bool:
        """Whether nothing is queued or under way, so that the batcher may be forgotten."""
        return not self._pending and not self._tasks

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
            self._tasks.add(task)
            task.add_done_callback(self._finished)

    def _finished(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._start()

    async def _call(self, batch: list[tuple[Item, asyncio.Future[Answer]]]) -> None:
        live = [(item, future) for item, future in batch if not future.done()]
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
