"""`waitroom serve`: the parent process. It owns the port, the embedded backend and the workers.

Each worker has its own listening socket on the same port (`SO_REUSEPORT`), so that the kernel
spreads connections evenly; the parent holds all of them. A signal to stop comes here first. Workers
drain: they report it at `/readyz`, still answer, and send their streams elsewhere. Then the port
refuses new connections, and the workers accept what waits there, answer it and end (`worker.py`).
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import multiprocessing
import signal
import socket
import sys
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from dataclasses import dataclass
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection as Pipe
from multiprocessing.process import BaseProcess
from typing import Any

from waitroom.engine.connection.embedded import EmbeddedServer
from waitroom.errors import InvalidInput, WaitroomError
from waitroom.server.process import greeting, listening, logs, preparation
from waitroom.server.process.orders import Order
from waitroom.settings import Settings

log = logging.getLogger("waitroom.serve")

KILL_S = 15.0
"""Workers that still run this long after the drain are killed."""

KEYBOARD_S = 0.5
"""For Ctrl-C on a terminal: there is no proxy in front, and nobody wants to wait."""

START_S = 60.0
"""A successor that is not ready by then has failed, and the old worker stays."""

CALM_S = 30.0
"""A worker that ran this long has not failed to start."""

LONGEST_PAUSE_S = 10.0
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# A fork would copy the parent's connections to the backend, and what it has imported.
_spawning = multiprocessing.get_context("spawn")


@dataclass(slots=True, eq=False)
class Place:
    """The slot of one worker after the other: its socket, and how often it failed in a row."""

    listener: socket.socket | None = None
    worker: Running | None = None
    failures: int = 0


@dataclass(slots=True, eq=False)
class Running:
    """A worker process."""

    process: BaseProcess
    pipe: Pipe
    ready: asyncio.Event
    over: asyncio.Event
    began: float
    expected: bool = False
    """Whether we end it on purpose."""

    def tell(self, order: str) -> None:
        """Give an order."""
        with contextlib.suppress(OSError):  # it has already ended
            self.pipe.send(order)


def serve(
    settings: Settings,
    *,
    on_start: Callable[[], None] | None = None,
    greet: Callable[[Settings], None] | None = greeting.greet,
    reload: Callable[[], Settings] | None = None,
) -> None:
    """Run the server until a signal ends it.

    `on_start` is called before the workers start, `greet` once visitors are answered; `reload`
    returns the settings as they are now, for SIGHUP.
    """
    preparation.check(settings)
    address = listening.resolve(settings.host, settings.port)
    try:
        logs.configure(settings.log_level, settings.log_json)
    except ValueError as error:
        raise InvalidInput("log_level", str(error)) from None
    # Started here, because it unblocks signals where it starts, and `_signals_blocked` blocks them.
    resource_tracker.ensure_running()
    code = asyncio.run(Parent(settings, address, greet, reload).run(on_start))
    if code:
        sys.exit(code)


def run_worker(settings: Settings, listener: socket.socket, pipe: Pipe) -> None:
    """Be a worker: the target of its process."""
    # Not imported above: the parent does not serve, and would start half a second later.
    from waitroom.server.process import worker

    worker.main(settings, listener, pipe)


class Parent:
    """Starts workers, replaces those that die, and ends them in order."""

    def __init__(
        self,
        settings: Settings,
        address: str,
        greet: Callable[[Settings], None] | None,
        reload: Callable[[], Settings] | None = None,
    ) -> None:
        self._settings = settings
        self._address = address
        self._reload = reload
        self._places: list[Place] = []
        self._everybody: set[Running] = set()
        self._was_ready = False
        self._greet = greet
        self._reloading: asyncio.Task[None] | None = None
        self._signal: asyncio.Future[int] | None = None
        self._hurry = asyncio.Event()

    async def run(self, on_start: Callable[[], None] | None = None) -> int:
        """Serve; return the exit code."""
        loop = asyncio.get_running_loop()
        self._signal = loop.create_future()
        for caught in _SIGNALS:
            loop.add_signal_handler(caught, self._signalled, caught)
        async with _own_backend(self._settings):
            await preparation.prepare(self._settings)
            if on_start is not None:
                on_start()
            self._settings = preparation.with_files(self._settings)
            try:
                for _ in range(self._settings.workers):
                    self._places.append(Place())
                    self._start(self._places[-1])
                number = await self._signal
                await self._stop(number)
            finally:  # our own error must not leave workers that ignore signals
                for worker in self._everybody:
                    worker.process.kill()
        return 0 if number else 1

    def _signalled(self, number: int) -> None:
        """Stop on the first signal, at once on the second; reload on SIGHUP, if possible."""
        assert self._signal is not None  # noqa: S101 - `run` made it
        at_terminal = sys.stdin is not None and sys.stdin.isatty()  # SIGHUP then means it closed
        if number == signal.SIGHUP and self._reload is not None and not at_terminal:
            if not self._signal.done() and (self._reloading is None or self._reloading.done()):
                self._reloading = asyncio.create_task(self._renew())
        elif self._signal.done():
            self._hurry.set()
        else:
            self._signal.set_result(number)

    # Workers ---------------------------------------------------------------------------------

    def _listener(self) -> socket.socket:
        """Return a socket for a place. Only Linux spreads connections over several per port."""
        shared = next((place.listener for place in self._places if place.listener), None)
        if shared is not None and not sys.platform.startswith("linux"):
            return shared.dup()
        return listening.listen(self._address, self._settings.port)

    def _start(self, place: Place) -> Running:
        """Start a worker in a place; it takes over from the one before."""
        if place.listener is None:
            place.listener = self._listener()
        ours, theirs = _spawning.Pipe()
        arguments = (self._settings, place.listener, theirs)
        process = _spawning.Process(target=run_worker, args=arguments, daemon=True)
        with _signals_blocked():
            process.start()
        theirs.close()
        worker = Running(process, ours, asyncio.Event(), asyncio.Event(), time.monotonic())
        place.worker = worker
        self._everybody.add(worker)
        loop = asyncio.get_running_loop()
        loop.add_reader(ours.fileno(), self._heard, worker)
        loop.add_reader(process.sentinel, self._ended, place, worker)
        return worker

    def _heard(self, worker: Running) -> None:
        """Note that a worker is ready: workers say nothing else."""
        asyncio.get_running_loop().remove_reader(worker.pipe.fileno())
        with contextlib.suppress(EOFError, OSError):
            worker.pipe.recv()
            worker.ready.set()
            if self._greet is not None and not self._was_ready:
                self._greet(self._settings)
            self._was_ready = True

    def _ended(self, place: Place, worker: Running) -> None:
        """Replace a worker that has died; give up if none has ever started."""
        assert self._signal is not None  # noqa: S101 - `run` made it
        loop = asyncio.get_running_loop()
        loop.remove_reader(worker.process.sentinel)
        loop.remove_reader(worker.pipe.fileno())
        worker.pipe.close()
        worker.process.join()
        worker.over.set()
        self._everybody.discard(worker)
        if worker.expected or self._signal.done():
            return
        if not self._was_ready:
            self._signal.set_result(0)
            return
        place.failures = 1 if time.monotonic() - worker.began > CALM_S else place.failures + 1
        pause_s = min(LONGEST_PAUSE_S, 0.1 * 2**place.failures) if place.failures > 1 else 0.0
        log.error("a worker died and is started again", extra={"after_s": pause_s})
        if place.failures > 1 and self._everybody and place.listener is not None:
            # Visitors at this socket wait for the successor, but not every time: without the socket
            # the kernel sends them to the others.
            place.listener.close()
            place.listener = None
        loop.call_later(pause_s, self._start_again, place)

    def _start_again(self, place: Place) -> None:
        assert self._signal is not None  # noqa: S101 - `run` made it
        if place in self._places and not self._signal.done():
            self._start(place)

    async def _renew(self) -> None:
        """Read the settings again, and replace one worker after the other."""
        assert self._reload is not None  # noqa: S101 - checked before
        try:
            settings = self._reload()
            preparation.check(settings)
            for name in ("host", "port", "data_dir", "redis_url"):
                if getattr(settings, name) != getattr(self._settings, name):
                    raise InvalidInput(name, "cannot change while the server runs; restart it")
            await preparation.prepare(settings)
        except WaitroomError as error:
            log.error("the settings stay as they were: %s", error)
            return
        self._settings = preparation.with_files(settings)
        while len(self._places) < settings.workers:
            self._places.append(Place())
        for place in self._places[: settings.workers]:
            await self._succeed(place)
        for place in self._places[settings.workers :]:
            await self._close(place)
        del self._places[settings.workers :]
        log.info("reloaded")

    async def _succeed(self, place: Place) -> None:
        """Start a successor, and end the old worker once it is ready."""
        old, new = place.worker, self._start(place)
        if old is not None:
            old.expected = True
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(START_S):
                await new.ready.wait()
        if old is not None:
            old.tell(Order.RETIRE)

    async def _close(self, place: Place) -> None:
        """End the worker of a place that is no longer needed."""
        if place.worker is not None and place.listener is not None:
            place.worker.expected = True
            listening.refuse(place.listener)
            place.worker.tell(Order.STOP)
            place.listener.close()

    async def _stop(self, number: int) -> None:
        """End all workers: drain, refuse, and wait; a second signal kills them."""
        wait_s = self._settings.drain_s
        if number in (0, signal.SIGINT):
            wait_s = min(KEYBOARD_S, wait_s)
        log.info("draining for %.1f s", wait_s)
        self._tell_all(Order.DRAIN)
        await self._calmly(asyncio.sleep(wait_s))
        for place in self._places:
            if place.listener is not None and not listening.refuse(place.listener):
                log.info("this system cannot refuse connections: those made just now may be reset")
        self._tell_all(Order.STOP)
        for place in self._places:
            if place.listener is not None:
                place.listener.close()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(KILL_S):
                await self._calmly(self._all_ended())
        for worker in self._everybody:
            worker.process.kill()
        await self._all_ended()

    async def _calmly(self, work: Coroutine[Any, Any, None]) -> None:
        """Wait for some work, unless a second signal interrupts it."""
        waits = [asyncio.ensure_future(work), asyncio.ensure_future(self._hurry.wait())]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()

    async def _all_ended(self) -> None:
        for worker in [*self._everybody]:
            await worker.over.wait()

    def _tell_all(self, order: Order) -> None:
        for worker in self._everybody:
            worker.tell(order)


@contextlib.contextmanager
def _signals_blocked() -> Iterator[None]:
    """Let a process that starts meanwhile begin with signals blocked, until it ignores them."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.asynccontextmanager
async def _own_backend(settings: Settings) -> AsyncIterator[None]:
    """Run the embedded backend, if it is wanted."""
    if settings.redis_url is not None:
        yield
        return
    backend = EmbeddedServer(settings.data_dir)
    await backend.start()
    try:
        yield
    finally:
        await backend.stop()
