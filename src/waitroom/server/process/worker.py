"""The app in a Granian worker: it obeys the parent's signals, and notices the parent's death.

A worker starts with the signals of `BLOCKED` (`signals.py`) and takes each when it can:
`DRAIN` and `HUSH` once it has a loop, `SIGTERM` (which makes Granian stop) not before it has
hushed, and `SIGINT` never. So a Ctrl-C, or a supervisor that signals the whole group, leaves it to
the parent.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import os
import signal
import threading
import time
from collections.abc import AsyncIterator, Callable, Coroutine, MutableMapping
from typing import Any

from waitroom.errors import WaitroomError
from waitroom.server.app import App
from waitroom.server.http import bodies
from waitroom.server.http.bodies import Message, Receive, Send
from waitroom.server.lifecycle import drain
from waitroom.server.process import listening
from waitroom.server.process.signals import DRAIN, HUSH
from waitroom.settings import Settings

log = logging.getLogger("waitroom.worker")

SETTLE_S = 0.3
"""Between refusing connections and closing the port: those already made are taken and answered."""

ORPHAN_LOOK_S = 1.0
ORPHAN_S = 1.0


class Worker(App):
    """The app, with a drain."""

    def __init__(self, settings: Settings, parent: int) -> None:
        super().__init__(settings)
        self._parent = parent
        self._tasks: set[asyncio.Task[None]] = set()

    @contextlib.asynccontextmanager
    async def life(self) -> AsyncIterator[None]:
        """Open the server, with the signals of a worker."""
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(DRAIN, self._begin, self.drain)
        loop.add_signal_handler(HUSH, self._begin, self.hush)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {DRAIN, HUSH})
        threading.Thread(target=self._watch_parent, args=(loop,), daemon=True).start()
        try:
            async with super().life():
                _settle_memory()
                yield
        except WaitroomError as error:
            log.error("cannot start: %s", error)
            raise
        except Exception:  # Granian's own words for it are "lifespan errored"
            log.exception("cannot start")
            raise
        finally:
            for task in self._tasks:
                task.cancel()

    def _begin(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        task = asyncio.get_running_loop().create_task(work())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def drain(self) -> None:
        """Say that we are about to stop: no connection is kept, and streams go elsewhere."""
        if self.opened is not None and not self.opened.draining:
            self._app = closing(self._app)
        await super().drain()

    async def hush(self) -> None:
        """Take no more connections and end the streams; then let Granian stop."""
        listening.refuse(self.settings.port)
        if self.opened is not None:
            await drain(self.opened, 0)
        await asyncio.sleep(SETTLE_S)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})

    def _watch_parent(self, loop: asyncio.AbstractEventLoop) -> None:
        """End soon after the parent was killed: nobody else would tell us to. Runs in a thread."""
        while os.getppid() == self._parent:  # no event tells of it
            time.sleep(ORPHAN_LOOK_S)
        log.error("the parent process is gone; stopping")
        with contextlib.suppress(RuntimeError):  # the loop may have ended
            loop.call_soon_threadsafe(self._begin, self.hush)
        time.sleep(ORPHAN_S)
        os._exit(1)


def _settle_memory() -> None:
    """Keep the garbage collector from scanning long-lived objects again and again.

    Polls make and drop hundreds of objects that hold no cycles; a full collection in the midst of
    them costs every visitor who waits for an answer.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


def closing(app: bodies.App) -> bodies.App:
    """Wrap the framework so that no connection is kept after an answer."""

    async def wrapped(scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        async def last(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = [*message.get("headers", ()), (b"connection", b"close")]
                message = {**message, "headers": headers}
            await send(message)

        await app(scope, receive, last)

    return wrapped
