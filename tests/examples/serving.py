"""The concert site over HTTP, in a thread of the test: real sockets, with access to the app."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import uvicorn
from examples.concert.app import Site, gate_options, ungated

from tests.support.servers import HOST, free_port
from waitroom.gates.asgi import WaitroomGate


@contextlib.contextmanager
def running(app: Any, port: int = 0, lifespan: Literal["on", "off"] = "on") -> Iterator[int]:
    """Run an ASGI app; return its port, which is free unless given."""
    quiet = uvicorn.Config(
        app,
        HOST,
        port,
        log_level="critical",
        lifespan=lifespan,
        ws="none",
        loop="asyncio",
        # Clients keep idle connections for 5 s, as uvicorn does: it might close one just when they
        # send the next request.
        timeout_keep_alive=60,
    )
    server = uvicorn.Server(quiet)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive(), "the site did not start"
            thread.join(0.01)
        yield server.servers[0].sockets[0].getsockname()[1]
    finally:
        server.should_exit = True
        thread.join(20)


@contextlib.contextmanager
def concert(folder: Path, waitroom_url: str, room: str, watch: Any = None) -> Iterator[str]:
    """Run the site behind its gate; `watch` wraps the site and sees only what the gate passes."""
    port = free_port()
    site = Site(
        database=folder / "concert.db",
        waitroom_url=waitroom_url,
        hosts=(f"127.0.0.1:{port}",),
        room=room,
    )
    inner = ungated(site)
    gated = WaitroomGate(inner if watch is None else watch(inner), gate_options(site, waitroom_url))
    with running(gated, port):
        yield f"http://{HOST}:{port}"
