"""A small HTTP server that holds its answers until it is told to release them."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.support.clients import HOST

PROBE = "/healthz"


@dataclass(slots=True)
class Held:
    """Answers requests once `answers` is set, and probes once `is_well` is set; counts both."""

    port: int = 0
    status: int = 200
    document: dict[str, Any] = field(default_factory=dict)
    answers: threading.Event = field(default_factory=threading.Event)
    is_well: threading.Event = field(default_factory=threading.Event)
    asked: int = 0
    probed: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def base(self) -> str:
        """Its address."""
        return f"http://{HOST}:{self.port}"

    def hold(self, path: str) -> None:
        """Count a request, and hold it."""
        with self._lock:
            self.asked += path != PROBE
            self.probed += path == PROBE
        (self.is_well if path == PROBE else self.answers).wait()


@contextlib.contextmanager
def holding(port: int = 0) -> Iterator[Held]:
    """Run a held server, on a free port unless one is given."""
    held = Held()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            self.rfile.read(int(self.headers.get("content-length") or 0))
            held.hold(self.path)
            body = json.dumps(held.document).encode()
            with contextlib.suppress(OSError):  # the client has given up
                self.send_response(held.status)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        do_GET = do_POST = answer  # noqa: N815 - the names of the standard library

        def log_message(self, *_: Any) -> None:
            """Log nothing."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 256

        def handle_error(self, *_: Any) -> None:
            """Log nothing: clients that give up close the connection midway."""

    with Server((HOST, port), Handler) as server:
        held.port = server.server_port
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield held
        finally:
            held.answers.set()
            held.is_well.set()
            server.shutdown()
            thread.join(10)
