"""`waitroom serve`: the parent process. It owns the embedded store and the Granian workers.

Granian stops listening as soon as it is told to end, while a proxy still sends requests and open
event streams keep it alive. So the parent takes the signal first: workers drain (they say so at
`/readyz`, still answer, and send their streams elsewhere), and only then Granian ends them.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import multiprocessing
import os
import signal
import threading
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Any

from granian.constants import HTTPModes, Interfaces, Loops
from granian.http import HTTP1Settings
from granian.server import Server as Granian

from waitroom.engine import Engine
from waitroom.engine.declared import apply_declared
from waitroom.engine.embedded import EmbeddedServer
from waitroom.engine.secret import load_pass_keys, load_secret
from waitroom.errors import InvalidInput, WaitroomError
from waitroom.server import logs
from waitroom.server.app import App
from waitroom.server.limits import Proxies
from waitroom.settings import Settings, declared_rooms

log = logging.getLogger("waitroom.serve")

HEADER_S = 8
"""A request's head must be whole by then."""

KILL_S = 8
"""Workers that have not ended so long after the drain are killed."""

ORPHAN_LOOK_S = 1.0
ORPHAN_S = 2.0
DRAIN = signal.SIGUSR1


class Worker(App):
    """The app as a worker of Granian runs it: it hears the parent, and notices its death."""

    @contextlib.asynccontextmanager
    async def life(self) -> AsyncIterator[None]:
        """Open the server, with the signals of a worker."""
        loop, tasks = asyncio.get_running_loop(), set[asyncio.Task[None]]()

        def drain() -> None:
            tasks.add(loop.create_task(self.drain()))

        loop.add_signal_handler(DRAIN, drain)
        # A Ctrl-C in a terminal reaches the whole group; the parent alone decides what follows.
        loop.remove_signal_handler(signal.SIGINT)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        tasks.add(loop.create_task(self._watch_parent(os.getppid())))
        try:
            async with super().life():
                yield
        except WaitroomError as error:
            log.error("cannot start: %s", error)
            raise
        except Exception:  # Granian's own words for it are "lifespan errored"
            log.exception("cannot start")
            raise
        finally:
            for task in tasks:
                task.cancel()

    async def _watch_parent(self, parent: int) -> None:
        """End soon after the parent was killed: nobody else would tell us to."""
        while os.getppid() == parent:  # noqa: ASYNC110 - no event tells of it
            await asyncio.sleep(ORPHAN_LOOK_S)
        log.error("the parent process is gone; stopping")
        threading.Timer(ORPHAN_S, os._exit, (1,)).start()
        if self.opened is not None:
            self.opened.draining = True
            await self.opened.hub.drain(0)
        os.kill(os.getpid(), signal.SIGTERM)


class Parent(Granian):
    """Granian, with a drain before its end."""

    drain_s: float = 0.0

    def signal_handler_interrupt(self, *args: Any, **kwargs: Any) -> None:
        """Drain on the first signal, end on the second."""
        del kwargs
        if getattr(self, "_draining", False):
            super().signal_handler_interrupt()
            return
        self._draining = True
        # Somebody at a keyboard has no proxy in front, and does not want to wait.
        wait_s = min(0.5, self.drain_s) if args[:1] == (signal.SIGINT,) else self.drain_s
        log.info("draining for %.1f s", wait_s)
        for worker in self.wrks:
            with contextlib.suppress(ProcessLookupError):
                os.kill(worker.inner.pid, DRAIN)
        # A timer, for a signal handler must not wait.
        timer = threading.Timer(wait_s, super().signal_handler_interrupt)
        timer.daemon = True
        timer.start()


def load_worker(settings: Settings, _target: str) -> Worker:
    """Make the app, in a worker process."""
    logs.configure(settings.log_level, settings.log_json)
    return Worker(settings)


def serve(settings: Settings, *, on_ready: Callable[[], None] | None = None) -> None:
    """Run the server until a signal ends it. `on_ready` is called before the workers start."""
    check(settings)
    logs.configure(settings.log_level, settings.log_json)
    # The embedded store runs in a thread, and a forked copy of that would be half a thread.
    multiprocessing.set_start_method("spawn", force=True)
    with _own_store(settings):
        asyncio.run(prepare(settings))
        parent = Parent(
            "waitroom",
            address=settings.host,
            port=settings.port,
            interface=Interfaces.ASGI,
            workers=settings.workers,
            runtime_threads=1,
            loop=Loops.uvloop,
            http=HTTPModes.http1,
            websockets=False,
            backlog=4096,
            backpressure=settings.connections,
            http1_settings=HTTP1Settings(
                header_read_timeout=HEADER_S * 1000, keep_alive=True, max_buffer_size=65_536
            ),
            log_enabled=False,
            ssl_cert=settings.tls_cert,
            ssl_key=settings.tls_key,
            workers_kill_timeout=KILL_S,
            respawn_failed_workers=True,
        )
        parent.drain_s = settings.drain_s
        if on_ready is not None:
            parent.on_startup(on_ready)
        parent.serve(target_loader=partial(load_worker, settings))


def check(settings: Settings) -> None:
    """Refuse settings that cannot work before anything is started."""
    load_secret(settings)
    load_pass_keys(settings)
    Proxies(settings.proxies)
    if (settings.tls_cert is None) != (settings.tls_key is None):
        missing = "tls_key" if settings.tls_key is None else "tls_cert"
        raise InvalidInput(missing, "must be given together with the other one")
    for name in ("tls_cert", "tls_key"):
        path = getattr(settings, name)
        if path is not None and not path.is_file():
            raise InvalidInput(name, f"{path} is no file that can be read")


async def prepare(settings: Settings) -> None:
    """Check the store, and make the rooms that the file declares."""
    ring = load_secret(settings)
    engine = await Engine.connect(
        settings.redis_url, settings.data_dir, ring, timeout_s=settings.timeout_s
    )
    async with engine:
        if settings.config is None:
            return
        for name, changes in (
            await apply_declared(engine, declared_rooms(settings.config))
        ).items():
            log.info("room %s was made as %s declares it", name, settings.config, extra=changes)


@contextlib.contextmanager
def _own_store(settings: Settings) -> Any:
    """Run the embedded store in a thread of this process, if it is wanted."""
    if settings.redis_url is not None:
        yield
        return
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="store", daemon=True)
    thread.start()
    store = EmbeddedServer(settings.data_dir)
    try:
        asyncio.run_coroutine_threadsafe(store.start(), loop).result()
        yield
    finally:
        asyncio.run_coroutine_threadsafe(store.stop(), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(5)
