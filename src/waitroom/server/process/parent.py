"""`waitroom serve`: the parent process. It owns the embedded backend and the Granian workers.

Granian stops listening as soon as it is told to end, while a proxy still sends requests and open
event streams keep it alive. So the parent takes the signal first. Workers drain: they say so at
`/readyz`, still answer, and send their streams elsewhere. Then they hush (`worker.py`): no more
connections, no more streams. Only then Granian ends them.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import multiprocessing
import os
import signal
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from granian.constants import HTTPModes, Interfaces, Loops, SSLProtocols
from granian.http import HTTP1Settings
from granian.log import LogLevels
from granian.server.mp import MPServer as Granian

from waitroom.credentials.pass_keys import load_pass_keys
from waitroom.credentials.secret import load_secret
from waitroom.engine import Engine
from waitroom.engine.connection.embedded import EmbeddedServer
from waitroom.errors import InvalidInput
from waitroom.models import Policy
from waitroom.operations.declared import apply_declared
from waitroom.operations.trail import CONFIG, Trail
from waitroom.server.http import bodies
from waitroom.server.http.proxies import TrustedProxies
from waitroom.server.lifecycle import check_desk
from waitroom.server.process import listening, logs
from waitroom.server.process.signals import DRAIN, HUSH, signals_blocked
from waitroom.settings import Settings, declared_rooms

log = logging.getLogger("waitroom.serve")

HEADER_S = 8
"""A request's head must be whole by then. Granian counts from the answer before, so a connection
on which nothing comes is closed then as well: a proxy must drop its idle ones earlier."""

KILL_S = 8
"""Workers that still run this long after the drain are killed."""

KEYBOARD_S = 0.5
"""At a keyboard there is no proxy in front, and nobody wants to wait."""


class Parent(Granian):
    """Granian, with a drain before its end."""

    drain_s: float = 0.0
    signals: int = 0

    def signal_handler_interrupt(self, *args: Any, **kwargs: Any) -> None:
        """Drain on the first signal, end at once on the second."""
        del kwargs
        self.signals += 1
        if self.signals > 1:
            for worker in self.wrks:
                worker.kill()  # type: ignore[no-untyped-call]
            super().signal_handler_interrupt()  # type: ignore[no-untyped-call]
            return
        at_keyboard = args[:1] == (signal.SIGINT,)
        wait_s = min(KEYBOARD_S, self.drain_s) if at_keyboard else self.drain_s
        log.info("draining for %.1f s", wait_s)
        self._tell(DRAIN)
        # A timer, because a signal handler must not wait.
        timer = threading.Timer(wait_s, super().signal_handler_interrupt)
        timer.daemon = True
        timer.start()

    # Granian would start new workers, which do not read settings again. For us: a closed terminal.
    signal_handler_reload = signal_handler_interrupt

    def _tell(self, what: signal.Signals) -> None:
        for worker in self.wrks:
            if worker.is_alive():  # type: ignore[no-untyped-call]
                with contextlib.suppress(ProcessLookupError):
                    os.kill(worker.inner.pid, what)

    def _spawn_workers(self, *args: Any) -> None:
        with signals_blocked():
            super()._spawn_workers(*args)  # type: ignore[no-untyped-call]

    def _respawn_workers(self, *args: Any, **kwargs: Any) -> None:
        if self.signals:  # a worker that dies while draining is not replaced
            return
        log.error("a worker died and is started again")
        with signals_blocked():
            super()._respawn_workers(*args, **kwargs)

    def _stop_workers(self) -> None:
        self._tell(HUSH)
        super()._stop_workers()  # type: ignore[no-untyped-call]


def serve(settings: Settings, *, on_ready: Callable[[], None] | None = None) -> None:
    """Run the server until a signal ends it. `on_ready` is called before the workers start."""
    address = check(settings)
    rooms = {} if settings.config is None else declared_rooms(settings.config)
    try:
        logs.configure(settings.log_level, settings.log_json)
    except ValueError as error:
        raise InvalidInput("log_level", str(error)) from None
    # The embedded backend runs in a thread, and a fork does not copy threads.
    multiprocessing.set_start_method("spawn", force=True)
    # Started by hand: it unblocks signals where it is started, and `signals_blocked` blocks them.
    resource_tracker.ensure_running()
    with _own_backend(settings):
        asyncio.run(prepare(settings, rooms))
        parent = _parent(settings, address)
        if on_ready is not None:
            parent.on_startup(on_ready)
        parent.serve(target_loader=partial(load_worker, settings, os.getpid()))


def load_worker(settings: Settings, parent: int, _target: str) -> bodies.App:
    """Make the app, in a worker process."""
    # Not above: the parent does not serve, and would start half a second later.
    from waitroom.server.process.worker import Worker

    logs.configure(settings.log_level, settings.log_json)
    return Worker(settings, parent)


def _parent(settings: Settings, address: str) -> Parent:
    connections = listening.allow_files(settings.connections)
    if connections < settings.connections:
        why = "the limit of open files (`ulimit -n`) allows %d connections per worker, not %d"
        log.warning(why, connections, settings.connections)
    parent = Parent(
        "waitroom",
        address=address,
        port=settings.port,
        interface=Interfaces.ASGI,
        workers=settings.workers,
        runtime_threads=1,
        loop=Loops.uvloop,
        http=HTTPModes.http1,
        websockets=False,
        backlog=4096,
        backpressure=connections,
        http1_settings=HTTP1Settings(
            header_read_timeout=HEADER_S * 1000, keep_alive=True, max_buffer_size=65_536
        ),
        log_level=LogLevels.error,
        log_dictconfig=logs.granian_config(),
        ssl_cert=settings.tls_cert,
        ssl_key=settings.tls_key,
        ssl_protocol_min=SSLProtocols.tls12,
        workers_kill_timeout=KILL_S,
        respawn_failed_workers=True,
    )
    parent.log_enabled = False  # in the workers: the app has already logged it, and better
    parent.drain_s = settings.drain_s
    return parent


def check(settings: Settings) -> str:
    """Refuse settings that cannot work before anything is started; return where to listen."""
    load_secret(settings)
    load_pass_keys(settings)
    TrustedProxies(settings.proxies)
    if settings.desk:
        check_desk()
    public = urlsplit(settings.public_url or "http://unset")
    if public.scheme not in ("http", "https") or not public.netloc:
        raise InvalidInput("public_url", "must be like https://wait.example")
    _check_tls(settings.tls_cert, settings.tls_key)
    return listening.resolve(settings.host, settings.port)


def _check_tls(cert: Path | None, key: Path | None) -> None:
    if cert is None and key is None:
        return
    if cert is None or key is None:
        missing = "tls_key" if key is None else "tls_cert"
        raise InvalidInput(missing, "must be given together with the other one")
    for name, path in (("tls_cert", cert), ("tls_key", key)):
        try:
            path.read_bytes()
        except OSError as error:
            raise InvalidInput(name, f"{path} cannot be read: {error.strerror}") from None
    try:
        # An empty password, or OpenSSL would ask for one on the terminal.
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(cert, key, password="")
    except (ssl.SSLError, ValueError) as error:
        why = getattr(error, "reason", None) or error
        raise InvalidInput(
            "tls_cert", f"{cert} and {key} are not a certificate with its key, in PEM ({why})"
        ) from None


async def prepare(settings: Settings, rooms: Mapping[str, Policy]) -> None:
    """Check the backend and the desk's database, and make the rooms that the file declares."""
    if settings.desk:
        await _prepare_desk(settings)
    ring = load_secret(settings)
    engine = await Engine.connect(
        settings.redis_url,
        settings.data_dir,
        ring,
        timeout_s=settings.timeout_s,
        admin_key=settings.admin_key,
    )
    async with engine:
        trail = Trail(engine.audit, CONFIG)
        for name, changes in (await apply_declared(engine, trail, rooms)).items():
            log.info("room %s is now as the file declares it", name, extra={"changes": changes})


async def _prepare_desk(settings: Settings) -> None:
    """Bring the desk's database up to date once, before any worker needs it."""
    logging.getLogger("alembic").setLevel(logging.WARNING)  # it prints a greeting when imported
    from waitroom.desk.record.database import open_database

    async with open_database(settings.desk_database, settings.data_dir):
        pass


@contextlib.contextmanager
def _own_backend(settings: Settings) -> Iterator[None]:
    """Run the embedded backend in a thread of this process, if it is wanted."""
    if settings.redis_url is not None:
        yield
        return
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="backend", daemon=True)
    thread.start()
    backend = EmbeddedServer(settings.data_dir)
    try:
        asyncio.run_coroutine_threadsafe(backend.start(), loop).result()
        yield
    finally:
        asyncio.run_coroutine_threadsafe(backend.stop(), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(5)
