"""Everything that one process of the server holds, opened and closed in one place."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import Depends, Request

from waitroom.credentials.pass_keys import fingerprint, load_pass_keys
from waitroom.credentials.secret import load_secret
from waitroom.engine import Engine
from waitroom.engine.api_keys import ApiKeys
from waitroom.engine.audit import Audit
from waitroom.engine.handoffs import Handoffs
from waitroom.errors import InvalidInput
from waitroom.passes import Pass, PassKeys
from waitroom.server.http.proxies import TrustedProxies
from waitroom.server.http.rate_limits import Buckets
from waitroom.server.metrics.counters import Tally
from waitroom.server.metrics.workers import Shares, folder_of
from waitroom.server.rooms.backend_health import Pulse
from waitroom.server.rooms.board import Boards
from waitroom.settings import Settings, declared_rooms
from waitroom.ticker import Ticker
from waitroom.tickets import KeyRing

if TYPE_CHECKING:
    from waitroom.desk.desk import Desk
    from waitroom.server.desk.hub import DeskHub
    from waitroom.server.rooms.live_streams import Hub

log = logging.getLogger("waitroom.state")

BACKEND_SHARE = 2 / 3
"""Share of `answer_within_s` that one call to the backend may take."""

CONNECT_S = 5.0
KEYS_EVERY_S = 1.0
BAD_KEYS_PER_MINUTE = 10
"""How many wrong API keys an address may show before it is told to wait."""

DESK_NEEDS = ("sqlalchemy", "aiosqlite", "alembic", "httpx", "segno")


@dataclass(slots=True)
class Server:
    """One process: its engine, its ticker, and what the routes need."""

    settings: Settings
    engine: Engine
    ring: KeyRing
    passes: PassKeys
    keys: ApiKeys
    audit: Audit
    handoffs: Handoffs
    boards: Boards
    pulse: Pulse
    tally: Tally
    proxies: TrustedProxies
    joins: Buckets
    hub: Hub
    shares: Shares
    bad_keys: Buckets = field(default_factory=lambda: Buckets(BAD_KEYS_PER_MINUTE))
    desk: Desk | None = None
    """The restaurants' waitlists, if this server has them (`settings.desk`)."""

    desk_hub: DeskHub | None = None
    draining: bool = False
    made_passes: dict[tuple[Any, ...], str] = field(default_factory=dict)
    read_passes: dict[str, Pass] = field(default_factory=dict)
    started_at_ms: int = field(default_factory=lambda: int(time.time() * 1000))


@contextlib.asynccontextmanager
async def open_server(settings: Settings) -> AsyncIterator[Server]:
    """Connect, and keep the rooms moving until the end."""
    from waitroom.server.rooms.live_streams import Hub  # it needs the class above

    ring = load_secret(settings)
    timeout_s = min(settings.timeout_s, BACKEND_SHARE * settings.answer_within_s)
    engine = await Engine.connect(
        settings.redis_url,
        settings.data_dir,
        ring,
        timeout_s=timeout_s,
        patience_s=timeout_s,
        connect_timeout_s=CONNECT_S,
        admin_key=settings.admin_key,
    )
    async with engine:
        if settings.config is not None:
            for name, policy in declared_rooms(settings.config).items():
                engine.declare(name, policy)  # so that they come back after a loss
        tally = Tally()
        engine.on_script(tally.backend_call)
        server = Server(
            settings=settings,
            engine=engine,
            ring=ring,
            passes=load_pass_keys(settings),
            keys=engine.api_keys,
            audit=engine.audit,
            handoffs=engine.handoffs,
            boards=Boards(engine),
            pulse=Pulse(engine, tally, settings.answer_within_s),
            tally=tally,
            proxies=TrustedProxies(settings.proxies, settings.public_url),
            joins=Buckets(settings.joins_per_minute),
            hub=Hub(),
            shares=Shares(folder_of(settings.data_dir, settings.port), tally),
        )
        server.hub.start(server)
        server.boards.start()
        server.pulse.start()
        try:
            async with Ticker(engine), server.shares, _following_keys(server), _desk(server):
                yield server
        finally:
            await server.hub.stop()
            await server.boards.stop()
            await server.pulse.stop()


def check_desk() -> None:
    """Say which package is missing, if this server cannot have a desk."""
    for name in DESK_NEEDS:
        if find_spec(name) is None:
            raise InvalidInput("desk", f"needs the package {name}: pip install 'waitroom[desk]'")


def load_desk() -> ModuleType:
    """Import the routes of the desk, which need more packages than the rest of the server."""
    check_desk()
    logging.getLogger("alembic").setLevel(logging.WARNING)  # it greets whoever imports it
    from waitroom.server import desk

    return desk


@contextlib.asynccontextmanager
async def _desk(server: Server) -> AsyncIterator[None]:
    """Open the desk, if this server has one."""
    if not server.settings.desk:
        yield
        return
    async with load_desk().opened(server):
        yield


@contextlib.asynccontextmanager
async def _following_keys(server: Server) -> AsyncIterator[None]:
    """Load the keys of passes again whenever their folder changes."""

    async def follow() -> None:
        known = await asyncio.to_thread(fingerprint, server.settings)
        while True:
            await asyncio.sleep(KEYS_EVERY_S)
            try:
                found = await asyncio.to_thread(fingerprint, server.settings)
                if found != known:
                    server.passes = await asyncio.to_thread(load_pass_keys, server.settings)
                    server.made_passes.clear()
                    server.read_passes.clear()  # a removed key must be refused soon
                    known = found
            except (InvalidInput, OSError) as error:  # somebody is at it: the old keys go on
                log.warning("the keys of passes were not loaded again: %s", error)

    task = asyncio.create_task(follow())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task], timeout=1)


def server_of(request: Request) -> Server:
    """Return the server that a request came to."""
    found: Server = request.app.state.server
    return found


Here = Annotated[Server, Depends(server_of)]
