"""The ASGI app: the lane in front of FastAPI, and everything opened and closed around them."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator

from fastapi import FastAPI

from waitroom.server.apidocs import routes as apidocs
from waitroom.server.context import Server
from waitroom.server.http import problems
from waitroom.server.http.bodies import bounded
from waitroom.server.http.openapi import document
from waitroom.server.lifecycle import drain, load_desk, open_server
from waitroom.server.metrics import routes as metrics
from waitroom.server.metrics.middleware import counted
from waitroom.server.operator import api, console
from waitroom.server.process import health
from waitroom.server.site import handover
from waitroom.server.site import routes as site
from waitroom.server.site.check import check
from waitroom.server.visitor import routes as visitor
from waitroom.server.visitor.lane import Lane
from waitroom.server.visitor.schemas import COMPONENTS
from waitroom.server.waiting import routes as pages
from waitroom.settings import Settings
from waitroom.version import __version__

ABOUT = """A virtual waiting room: people get in fairly, in order, at a pace you set.

Visitors hold a **ticket**, their place in a room; once inside they get a **pass**, which a gate
checks. Operators send an API key as `Authorization: Bearer wr_…`.
"""


class App(Lane):
    """The whole server as one ASGI app; `server` is there from start-up to the end."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.framework = _framework(self)
        self.opened: Server | None = None
        super().__init__(
            counted(bounded(self.framework), lambda: self.opened.counters if self.opened else None),
            check,
        )

    @contextlib.asynccontextmanager
    async def life(self) -> AsyncIterator[None]:
        """Open the server, and close it at the end."""
        async with open_server(self.settings) as server:
            self.opened = self.framework.state.server = server
            # Without the lane the framework answers all, which the tests compare.
            self.server = server if self.settings.lane else None
            yield

    async def drain(self) -> None:
        """Say that we are about to stop, and send the event streams elsewhere."""
        if self.opened is None or self.opened.draining:
            return
        await drain(self.opened, self.settings.drain_s * 0.8)


def _framework(app: App) -> FastAPI:
    @contextlib.asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with app.life():
            yield

    framework = FastAPI(
        title="Waitroom",
        version=__version__,
        description=ABOUT,
        lifespan=lifespan,
        docs_url=None,  # ours needs nothing from elsewhere
        redoc_url=None,
        redirect_slashes=False,  # they would be made of the Host header
    )
    framework.openapi = lambda: document(framework, COMPONENTS)  # type: ignore[method-assign]
    problems.install(framework)
    for part in (visitor, site, handover, api, console, pages, apidocs, health, metrics):
        framework.include_router(part.router)
    for router in load_desk().ROUTERS if app.settings.desk else ():
        framework.include_router(router)
    framework.include_router(pages.public)
    return framework


def create(settings: Settings) -> App:
    """Return the ASGI app for these settings."""
    return App(settings)
