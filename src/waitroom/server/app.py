"""The ASGI app: FastAPI with all routes, the lane beside it, and the resources that they need."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, MutableMapping
from typing import Any

from fastapi import FastAPI

from waitroom.server.apidocs import routes as apidocs
from waitroom.server.context import Server
from waitroom.server.http import problems
from waitroom.server.http.bodies import Receive, Send, bounded
from waitroom.server.http.cors import cross_origin
from waitroom.server.http.openapi import TAGS, document
from waitroom.server.http.request_ids import identified
from waitroom.server.lifecycle import load_desk, open_server
from waitroom.server.metrics import routes as metrics
from waitroom.server.metrics.middleware import counted
from waitroom.server.operator.routers import ROUTERS as OPERATOR_ROUTERS
from waitroom.server.preview import routes as preview
from waitroom.server.process import health
from waitroom.server.process.logs import AccessLog
from waitroom.server.push import routes as push
from waitroom.server.site import check, handover
from waitroom.server.site import routes as site
from waitroom.server.visitor import routes as visitor
from waitroom.server.visitor.lane import Lane, Route
from waitroom.server.visitor.schemas import COMPONENTS
from waitroom.server.waiting import routes as pages
from waitroom.settings import Settings
from waitroom.version import __version__

ABOUT = """A virtual waiting room: people get in fairly, in order, at a pace you set.

Visitors hold a **ticket**, their place in a room; once inside they get a **pass**, which a gate
checks. Operators send an API key as `Authorization: Bearer wr_…`.
"""


class App:
    """The whole server as one ASGI app; `server` exists from start-up to the end."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.framework = _framework(self)
        self._opened: Server | None = None
        inner = counted(
            cross_origin(
                bounded(self.framework), lambda: self._opened.cors if self._opened else None
            ),
            lambda: self._opened.counters if self._opened else None,
            AccessLog(everything=settings.access_log),
        )
        self._app = identified(inner)

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Answer a request."""
        await self._app(scope, receive, send)

    @property
    def server(self) -> Server:
        """What this process holds."""
        if self._opened is None:
            raise RuntimeError("the server is not open")
        return self._opened

    @property
    def lane(self) -> Lane | None:
        """The short way of visitors, for connections that have one; tests compare both ways."""
        checks = Route(check.check, "GET /v1/check", check.CHECK, check.refuse, pages=False)
        return Lane(self.server, checks) if self.settings.lane else None

    @contextlib.asynccontextmanager
    async def life(self) -> AsyncIterator[None]:
        """Open the server, and close it at the end."""
        async with open_server(self.settings) as server:
            self._opened = self.framework.state.server = server
            yield


def _framework(app: App) -> FastAPI:
    @contextlib.asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with app.life():
            yield

    public = app.settings.public_url
    framework = FastAPI(
        title="Waitroom",
        version=__version__,
        description=ABOUT,
        servers=[{"url": public.rstrip("/")}] if public else None,
        lifespan=lifespan,
        openapi_tags=[{"name": name, "description": about} for name, about in TAGS.items()],
        docs_url=None,  # our own page needs nothing from other hosts
        redoc_url=None,
        redirect_slashes=False,  # a redirect would be built from the Host header
    )
    framework.openapi = lambda: document(framework, COMPONENTS)  # type: ignore[method-assign]
    problems.install(framework)
    for part in (visitor, site, handover, push):
        framework.include_router(part.router)
    for router in OPERATOR_ROUTERS:
        framework.include_router(router)
    for part in (preview, pages, apidocs, health, metrics):
        framework.include_router(part.router)
    for router in load_desk().ROUTERS if app.settings.desk else ():
        framework.include_router(router)
    framework.include_router(pages.public)
    return framework


def create(settings: Settings) -> App:
    """Return the ASGI app for these settings."""
    return App(settings)
