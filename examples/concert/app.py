"""The site as an ASGI app: booking, pages and, in front of both, the Waitroom gate.

    CONCERT_WAITROOM_URL=http://127.0.0.1:8080 uvicorn --factory concert.app:create

Anybody who wants to book needs a pass for the room: `/book` and `/api` are protected. The first
page, the receipts and the style sheet are not. Opening the receipt, or leaving, ends the visit, and
the place goes to the next person in line.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from waitroom.gates import Options
from waitroom.gates.asgi import WaitroomGate

from . import api, pages
from .booking import HOLD_S, PAY_S, Booking, now_ms
from .problems import BookingError
from .programme import announce
from .store import Store

HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """Where things are. Without `waitroom_url` there is no gate, and everybody walks in."""

    database: Path = Path("concert.db")
    waitroom_url: str | None = None
    waitroom_public_url: str | None = None
    hosts: tuple[str, ...] = ()
    room: str = "concert"
    hold_s: float = HOLD_S
    pay_s: float = PAY_S

    @classmethod
    def of(cls, env: Mapping[str, str]) -> Site:
        """Read them from the environment: `CONCERT_DATABASE`, `CONCERT_WAITROOM_URL` and so on."""
        given = {
            name: env[f"CONCERT_{name.upper()}"]
            for name in ("waitroom_url", "waitroom_public_url", "room")
            if env.get(f"CONCERT_{name.upper()}")
        }
        return cls(
            database=Path(env.get("CONCERT_DATABASE", "concert.db")),
            hosts=tuple(env.get("CONCERT_HOSTS", "").split()),
            hold_s=float(env.get("CONCERT_HOLD_S", HOLD_S)),
            pay_s=float(env.get("CONCERT_PAY_S", PAY_S)),
            **given,
        )

    @property
    def page(self) -> str | None:
        """Where browsers find the waiting page."""
        return self.waitroom_public_url or self.waitroom_url


def gate_options(site: Site, url: str) -> Options:
    """Say what is protected, and what ends a visit."""
    return Options(
        url=url,
        public_url=site.page,
        rules={"/book": site.room, "/api": site.room},
        hosts=site.hosts,
        finish=["/orders", "/goodbye"],
        deadline_s=2,  # a laptop that runs the crowd too may be late
    )


def create(site: Site | None = None) -> ASGIApp:
    """Make the site with the gate in front; settings come from the environment if not given."""
    site = site or Site.of(os.environ)
    app = ungated(site)
    if site.waitroom_url is None:
        return app
    return WaitroomGate(app, gate_options(site, site.waitroom_url))


def ungated(site: Site, clock: Callable[[], int] = now_ms) -> FastAPI:
    """Make the site without the gate."""
    store = Store(site.database)
    announce(store)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        store.close()

    app = FastAPI(title="Concert", lifespan=lifespan, docs_url=None, redoc_url=None)
    app.state.booking = Booking(store, clock, site.hold_s, site.pay_s)
    app.state.site = site
    app.include_router(api.router)
    app.include_router(pages.router)
    app.mount("/static", StaticFiles(directory=HERE / "static"), name="static")
    app.add_exception_handler(BookingError, _problem)
    app.add_exception_handler(pages.Elsewhere, pages.led_back)
    return app


async def _problem(request: Request, error: Exception) -> Response:
    """Answer a program with problem+json, and a person with a page."""
    assert isinstance(error, BookingError)  # noqa: S101 - for mypy; the handler is for these
    if not request.url.path.startswith("/api/"):
        return pages.sorry(request, error)
    problem = {"type": "about:blank", "title": error.code, "status": error.status}
    problem |= {"detail": error.detail, "code": error.code}
    return JSONResponse(problem, error.status, media_type="application/problem+json")
