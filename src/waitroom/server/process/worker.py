"""A worker process: it accepts connections, serves them, and ends in order when the parent says so.

The parent sends orders over a pipe (`Order`). A thread reads it, so that even a worker whose loop
hangs notices that the parent is gone. Only the parent handles signals: a Ctrl-C, or a supervisor
that signals the whole group, reaches the workers too, and they ignore it.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import gc
import logging
import os
import signal
import socket
import ssl
import sys
import threading
import time
from multiprocessing.connection import Connection as Pipe

import uvloop

from waitroom.errors import WaitroomError
from waitroom.server.app import App
from waitroom.server.http.connection import HEAD_S, Connection
from waitroom.server.http.connections import SWEEP_S, Connections
from waitroom.server.lifecycle import drain
from waitroom.server.process import listening, logs
from waitroom.server.process.orders import READY, Order
from waitroom.settings import Settings

log = logging.getLogger("waitroom.worker")

SETTLE_S = 0.3
"""From refusing new connections to closing the port, and from there to closing idle connections:
whatever is on its way is accepted and answered."""

FINISH_S = 12.0
"""How long the last running answers may take, also on a busy machine. Those who stop us wait 30 s:
systemd, Compose and Kubernetes by our files."""

ORPHAN_S = 1.0
NO_FILES_S = 0.5
ACCEPTS_AT_ONCE = 64
_IGNORED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def main(settings: Settings, listener: socket.socket, pipe: Pipe) -> None:
    """Run a worker: the target of its process."""
    for number in _IGNORED:
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _IGNORED)
    logs.configure(settings.log_level, settings.log_json)
    sys.exit(uvloop.run(Worker(settings, listener, pipe).run()))


class Worker:
    """One worker: the app, its connections, and the orders of the parent."""

    def __init__(self, settings: Settings, listener: socket.socket, pipe: Pipe) -> None:
        self._settings = settings
        self._listener = listener
        self._pipe = pipe
        self._app = App(settings)
        self._tls = tls_context(settings)
        self._orders: asyncio.Queue[Order] = asyncio.Queue()
        self._connections: Connections | None = None
        self._opening: set[asyncio.Task[None]] = set()
        self._accepting = False

    async def run(self) -> int:
        """Serve until the parent says otherwise; return the exit code."""
        threading.Thread(
            target=self._listen_to_parent, args=(asyncio.get_running_loop(),), daemon=True
        ).start()
        try:
            async with self._app.life():
                await self._serve()
        except WaitroomError as error:
            log.error("cannot start: %s", error)
            return 1
        except Exception:
            log.exception("cannot start, or could not end in order")
            return 1
        return 0

    def _listen_to_parent(self, loop: asyncio.AbstractEventLoop) -> None:
        """Pass orders on; end soon after the parent was killed. Runs in a thread."""
        order = Order.DRAIN
        while order is not Order.ORPHANED:
            try:
                order = Order(self._pipe.recv())
            except (EOFError, OSError):
                order = Order.ORPHANED
                log.error("the parent process is gone; stopping")
            with contextlib.suppress(RuntimeError):  # the loop may have ended
                loop.call_soon_threadsafe(self._orders.put_nowait, order)
        time.sleep(ORPHAN_S)
        os._exit(1)

    async def _serve(self) -> None:
        settings, server = self._settings, self._app.server
        self._connections = connections = Connections(
            self._app,
            self._app.lane,
            most=settings.connections,
            most_per_address=settings.connections_per_address,
            idle_s=settings.idle_s,
            is_proxy=server.proxies.is_listed,
            network_of=server.proxies.network,
            shared_headers=server.cors.shared_headers if server.cors else (),
        )
        connections.on_room = self._accept_again
        _settle_memory()
        self._listener.listen(listening.BACKLOG)
        self._accept_again()
        self._pipe.send(READY)
        sweeping = asyncio.create_task(self._sweep())
        try:
            order, draining = Order.DRAIN, None
            while order is Order.DRAIN:
                order = await self._orders.get()
                connections.closing = True  # no connection is kept from now on
                if order is Order.DRAIN and draining is None:
                    draining = asyncio.create_task(drain(server, settings.drain_s * 0.8))
            await self._end(order)
            if draining is not None:
                draining.cancel()
        finally:
            sweeping.cancel()

    async def _end(self, order: Order) -> None:
        assert self._connections is not None  # noqa: S101 - `_serve` made it
        if order is Order.RETIRE:
            self._pause()
            await drain(self._app.server, self._settings.drain_s * 0.8)
        else:
            await drain(self._app.server, 0)
            await asyncio.sleep(SETTLE_S)  # the parent has refused new ones; accept the rest
            self._pause()
            while self._accept_one():
                pass
            self._listener.close()
        await asyncio.gather(*self._opening)
        await self._connections.finish(SETTLE_S, FINISH_S)

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(SWEEP_S)
            if self._connections is not None:
                self._connections.sweep(time.monotonic())

    # Accepting -------------------------------------------------------------------------------

    def _accept_again(self) -> None:
        """Accept connections, as long as there may be more."""
        if not self._accepting and not self._is_full() and self._listener.fileno() >= 0:
            self._accepting = True
            loop = asyncio.get_running_loop()
            loop.add_reader(self._listener.fileno(), self._accept)

    def _pause(self) -> None:
        """Leave connections to the kernel, which keeps them until we accept them."""
        self._accepting = False
        asyncio.get_running_loop().remove_reader(self._listener.fileno())

    def _is_full(self) -> bool:
        connections = self._connections
        return connections is None or connections.room <= len(self._opening)

    def _accept(self) -> None:
        for _ in range(ACCEPTS_AT_ONCE):
            if self._is_full():
                self._pause()
                return
            if not self._accept_one():
                return

    def _accept_one(self) -> bool:
        """Accept a connection; return whether there was one."""
        loop = asyncio.get_running_loop()
        try:
            client, _ = self._listener.accept()
        except (BlockingIOError, InterruptedError):
            return False
        except ConnectionAbortedError:
            return True
        except OSError as error:
            if error.errno not in (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM):
                raise
            log.warning("no connection can be taken: %s", error.strerror)
            self._pause()
            loop.call_later(NO_FILES_S, self._accept_again)
            return False
        client.setblocking(False)
        task = loop.create_task(self._open(client))
        self._opening.add(task)
        task.add_done_callback(self._opening.discard)
        return True

    async def _open(self, client: socket.socket) -> None:
        """Begin to serve a connection; ignore one whose handshake fails."""
        try:
            await asyncio.get_running_loop().connect_accepted_socket(
                self._connection,
                client,
                ssl=self._tls,
                ssl_handshake_timeout=HEAD_S if self._tls else None,
            )
        except (OSError, TimeoutError):
            client.close()

    def _connection(self) -> Connection:
        assert self._connections is not None  # noqa: S101 - `_serve` made it
        return Connection(self._connections, "https" if self._tls else "http")


def tls_context(settings: Settings) -> ssl.SSLContext | None:
    """Return what https needs, from TLS 1.2 on; None if we use http."""
    if settings.tls_cert is None:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    # An empty password, otherwise OpenSSL would ask for one on the terminal.
    context.load_cert_chain(settings.tls_cert, settings.tls_key, password="")
    return context


def _settle_memory() -> None:
    """Keep the garbage collector from scanning long-lived objects repeatedly.

    Polls make and drop hundreds of objects without cycles; a full collection meanwhile delays every
    visitor who waits for an answer.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
