"""A real server inside the test's own process, for tests that set its limits or its clocks."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from tests.support.clients import HOST
from tests.support.serving import ADMIN_KEY, SECRET
from waitroom.server.app import App
from waitroom.server.context import Server
from waitroom.server.http.connection import Connection
from waitroom.server.http.connections import Connections
from waitroom.settings import Settings


@contextlib.asynccontextmanager
async def serving_here(
    redis_url: str, data_dir: Path, **more: Any
) -> AsyncIterator[tuple[Server, str]]:
    """Serve on a free port, with extra settings; yield the server and its address."""
    # A busy machine may starve the backend for seconds, which is not under test.
    patient = {"poll_within_s": 30, "answer_within_s": 30, "away_after_s": 30}
    given: dict[str, Any] = {"secret": SECRET, "admin_key": ADMIN_KEY, **patient, **more}
    app = App(Settings(redis_url=redis_url, data_dir=data_dir, **given))
    async with app.life():
        cors = app.server.cors
        shared_headers = cors.shared_headers if cors else ()
        connections = Connections(app, app.lane, most=40, shared_headers=shared_headers)
        loop = asyncio.get_running_loop()
        listener = await loop.create_server(lambda: Connection(connections), HOST, 0)
        try:
            yield app.server, f"http://{HOST}:{listener.sockets[0].getsockname()[1]}"
        finally:
            listener.close()
            await connections.finish(0, 5)
