"""Turns many concurrent calls of one process into few script calls, without a timer.

Items that arrive while a call is under way are sent together when it returns. An idle batcher sends
at once, so a single caller never waits.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from functools import partial
from typing import Any, Generic, Protocol, TypeVar

from waitroom.errors import Busy
from waitroom.models import MEMBERS_PER_SCRIPT

Item = TypeVar("Item")
Answer = TypeVar("Answer")
Batch = list[tuple[Item, "Waiter", float]]
"""Each item with the waiter for its answer, and since when it waits."""

IN_FLIGHT = 2
MOST_PENDING = 20_000
"""Most items that wait for a call: while the server is away, they must not fill our memory."""

MOST_BATCHERS = 4_096


class Waiter(Protocol):
    """Gets the answer to an item. A future can do this, but costs too much where thousands wait."""

    def done(self) -> bool:
        """Return whether it no longer needs an answer."""

    def set_result(self, result: Any, /) -> None:
        """Take the answer. Must not raise, because others wait behind it."""

    def set_exception(self, exception: Exception, /) -> None:
        """Take the reason why there is no answer. Must not raise either."""

    def cancel(self) -> object:
        """Give up, because the whole process is stopping."""


class Batcher(Generic[Item, Answer]):
    """Collects items for `send`, which returns a sequence of answers of the same length.

    An answer that is an exception is raised to its own waiter. If `send` raises, every waiter of
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
        self._pending: Batch[Item] = []
        self._tasks: dict[asyncio.Task[None], Batch[Item]] = {}
        self._calls = 0
        self._starting = False

    def submit(self, item: Item) -> asyncio.Future[Answer]:
        """Queue an item and return the future of its answer; if too many wait, a failed future."""
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self.add(item, future)
        return future

    def add(self, item: Item, waiter: Waiter) -> None:
        """Queue an item, whose waiter gets the answer; if too many wait, it fails at once."""
        if len(self._pending) >= self._most_pending:
            waiter.set_exception(Busy())
            return
        self._pending.append((item, waiter, time.monotonic()))
        if not self._starting and self._calls < self._in_flight:
            # One turn of the event loop later, so that callers that are ready now share the call.
            self._starting = True
            asyncio.get_running_loop().call_soon(self._start)

    @property
    def idle(self) -> bool:
        """Whether nothing is queued or under way, so that the batcher can be discarded."""
        return not self._pending and not self._tasks

    def waiting(self, longer_than_s: float) -> Iterator[tuple[Item, Waiter]]:
        """Yield the items that have waited this long, queued or under way, with their waiters."""
        if not self._tasks:
            return
        since = time.monotonic() - longer_than_s
        for batch in (*self._tasks.values(), self._pending):
            for item, waiter, began in batch:
                if began > since:
                    break  # the ones behind it came later
                if not waiter.done():
                    yield item, waiter

    def fail(self, error: Exception, longer_than_s: float = 0.0) -> None:
        """Give the error to all who have waited this long. Calls under way go on, unheard."""
        for _, waiter in self.waiting(longer_than_s):
            waiter.set_exception(error)

    async def drain(self) -> None:
        """Wait until everything submitted so far has been answered."""
        while self._pending or self._tasks:
            self._start()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            await asyncio.sleep(0)

    def _start(self) -> None:
        self._starting = False
        while self._pending and self._calls < self._in_flight:
            batch, self._pending = self._pending[: self._most], self._pending[self._most :]
            self._calls += 1
            task = asyncio.get_running_loop().create_task(self._call(batch))
            self._tasks[task] = batch
            task.add_done_callback(self._tasks.pop)

    async def _call(self, batch: Batch[Item]) -> None:
        live = [(item, waiter) for item, waiter, _ in batch if not waiter.done()]
        answers: Sequence[Answer | Exception] = ()
        try:
            if live:
                answers = await self._send([item for item, _ in live])
                if len(answers) != len(live):
                    raise RuntimeError(f"{len(answers)} answers for {len(live)} items")
        except Exception as error:
            answers = [error] * len(live)
        except asyncio.CancelledError:
            for _, waiter in live:
                waiter.cancel()
            raise
        finally:
            self._calls -= 1
        if self._in_flight == 1 and self._pending:
            # Send the next call first, so that the server works while we answer. With more calls in
            # flight it is busy anyway, and a call made later carries more items.
            self._start()
            await asyncio.sleep(0)
        for (_, waiter), answer in zip(live, answers, strict=True):
            if waiter.done():
                continue  # its waiter gave up while the call was under way
            if isinstance(answer, Exception):
                waiter.set_exception(answer)
            else:
                waiter.set_result(answer)
        self._start()


class Batches(dict[str, Batcher[Item, Answer]]):
    """The batchers of one verb, one for each room, made on first use."""

    def __init__(
        self,
        send: Callable[[str, list[Item]], Awaitable[Sequence[Answer | Exception]]],
        *,
        most: int = MEMBERS_PER_SCRIPT,
        in_flight: int = IN_FLIGHT,
    ) -> None:
        super().__init__()
        self._send = send
        self._most = most
        self._in_flight = in_flight

    def __missing__(self, room: str) -> Batcher[Item, Answer]:
        if len(self) >= MOST_BATCHERS:  # room names that visitors invent must not fill the memory
            for name in [name for name, old in self.items() if old.idle]:
                del self[name]
        batcher = Batcher[Item, Answer](
            partial(self._send, room), most=self._most, in_flight=self._in_flight
        )
        self[room] = batcher
        return batcher
