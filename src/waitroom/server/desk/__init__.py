"""The restaurant desk over HTTP: guests, hosts, admins, and their pages.

`api`, `console` and `pages` must not import each other; what they share is beside them. Only a
server whose settings have `desk` imports this: it needs the extra `waitroom[desk]`.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator

from waitroom.desk.desk import open_desk
from waitroom.server.context import Server
from waitroom.server.desk.api import guests, hosts, stores
from waitroom.server.desk.console import routes as console
from waitroom.server.desk.hub import DeskHub
from waitroom.server.desk.pages import poster
from waitroom.server.desk.pages import routes as pages

ROUTERS = tuple(part.router for part in (guests, hosts, stores, console, poster, pages))


@contextlib.asynccontextmanager
async def opened(server: Server) -> AsyncIterator[None]:
    """Open the desk of a server, and close it at the end."""
    async with open_desk(server.settings, server.engine, server.ring) as desk:
        server.desk = desk
        server.desk_streams = streams = DeskHub(desk, server.backend_health, server.open_streams)
        try:
            yield
        finally:
            await streams.stop()
