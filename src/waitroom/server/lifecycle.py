"""Opens what one process of the server holds, wires it together, drains it and closes it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator
from importlib.util import find_spec
from types import ModuleType

from waitroom.credentials.named_users import NamedUsers
from waitroom.credentials.pass_keys import fingerprint, load_pass_keys
from waitroom.credentials.secret import load_secret
from waitroom.engine import Engine
from waitroom.errors import InvalidInput
from waitroom.operations.undo import LastChanges
from waitroom.server.challenges.holder import Challenges
from waitroom.server.context import Server
from waitroom.server.counters.shared import SharedCounters, folder_of
from waitroom.server.counters.worker import Counters
from waitroom.server.http.cors import Cors
from waitroom.server.http.event_stream import OpenStreams
from waitroom.server.http.proxies import TrustedProxies
from waitroom.server.http.rate_limits import Buckets
from waitroom.server.http.under_way import UnderWay
from waitroom.server.pages.locales import load_locales
from waitroom.server.process.logs import AccessLog
from waitroom.server.rooms.backend_health import BackendHealth
from waitroom.server.rooms.board import Boards
from waitroom.server.rooms.event_loops import EventLoops
from waitroom.server.rooms.late_answers import LateAnswers
from waitroom.server.rooms.live_streams import LiveStreams, Sources
from waitroom.server.rooms.passes import Passes
from waitroom.settings import Settings, declared_rooms
from waitroom.ticker import Ticker
from waitroom.tickets import KeyRing
from waitroom.web.origins import Origins

log = logging.getLogger("waitroom.lifecycle")

CONNECT_S = 5.0
KEYS_EVERY_S = 1.0
BAD_KEYS_PER_MINUTE = 10
"""How many wrong API keys an address may show before it is told to wait."""

ANNOUNCES_PER_MINUTE, ANNOUNCES_AT_ONCE = 1_200, 200
"""How often an address may announce passes: 10,000 sessions at once, then 1,000 a second."""

PUSH_NEEDS = ("httpx2", "http_ece")
DESK_NEEDS = (
    "sqlalchemy",
    "aiosqlite",
    "alembic",
    "httpx2",
    "phonenumbers",
    "segno",
    "standardwebhooks",
)


@contextlib.asynccontextmanager
async def open_server(settings: Settings) -> AsyncIterator[Server]:
    """Connect, and keep the rooms moving until the end."""
    ring = load_secret(settings)
    load_locales(settings.locales)  # here, so that a wrong file is refused at the start
    engine = await Engine.connect(
        settings.redis_url,
        settings.data_dir,
        ring,
        timeout_s=settings.timeout_s,
        patience_s=settings.answer_within_s,
        connect_timeout_s=max(CONNECT_S, settings.timeout_s),
        admin_key=settings.admin_key,
        audit_days=settings.audit_days,
        joins_per_minute=settings.joins_per_minute,
    )
    async with engine:
        if settings.config is not None:
            for name, policy in declared_rooms(settings.config).items():
                engine.declare(name, policy)  # so that they come back after a loss
        server = _wired(settings, engine, ring)
        engine.on_script(server.counters.backend_call)
        async with (
            _background(server),
            Ticker(engine, newcomer_wait=server.boards.told_s),
            server.shared_counters,
            EventLoops(engine, server.counters, server.backend_health, settings.archive).running(),
            _following_keys(settings, server.passes),
            _desk(server),
            _push(server),
        ):
            yield server


def _wired(settings: Settings, engine: Engine, ring: KeyRing) -> Server:
    counters = Counters()
    boards = Boards(engine)
    passes = Passes(load_pass_keys(settings), settings.public_url or "waitroom")
    health = BackendHealth(engine, counters, settings.away_after_s)
    proxies = TrustedProxies(settings.proxies, settings.public_url, settings.ipv6_prefix)
    streams = OpenStreams(settings.streams, settings.streams_per_address, counters)
    return Server(
        settings=settings,
        engine=engine,
        ring=ring,
        passes=passes,
        keys=engine.api_keys,
        audit=engine.audit,
        last_changes=LastChanges(engine.audit),
        handoffs=engine.handoffs,
        sign_outs=engine.sign_outs,
        boards=boards,
        backend_health=health,
        counters=counters,
        shared_counters=SharedCounters(folder_of(settings.data_dir, settings.port), counters),
        proxies=proxies,
        origins=Origins.of_settings(settings.public_url, settings.origins),
        cors=Cors.of_settings(settings.cors_origins, settings.origins),
        joins=Buckets(settings.joins_per_minute),
        challenges=Challenges.of_settings(settings, ring),
        bad_keys=Buckets(BAD_KEYS_PER_MINUTE),
        under_way=UnderWay(settings.under_way, proxies),
        announces=Buckets(ANNOUNCES_PER_MINUTE, ANNOUNCES_AT_ONCE),
        open_streams=streams,
        live_streams=LiveStreams(Sources(engine, boards, passes, health), streams),
        named_users=NamedUsers.of_settings(settings),
        access_log=AccessLog(everything=True) if settings.access_log else None,
    )


@contextlib.asynccontextmanager
async def _background(server: Server) -> AsyncIterator[None]:
    """Renew boards, watch the backend, answer late requests; at the end stop all of it."""
    settings = server.settings
    late_answers = LateAnswers(
        server.engine,
        server.boards,
        server.counters,
        poll_within_s=settings.poll_within_s,
        answer_within_s=settings.answer_within_s,
    )
    server.boards.start()
    server.backend_health.start()
    late_answers.start()
    try:
        yield
    finally:
        await server.live_streams.stop()
        await late_answers.stop()
        await server.boards.stop()
        await server.backend_health.stop()
        await server.challenges.aclose()


async def drain(server: Server, seconds: float) -> None:
    """Announce that this process is about to stop, and send every event stream elsewhere."""
    server.draining = True
    await server.open_streams.drain(seconds)


def check_desk() -> None:
    """Say which package is missing, if this server cannot have a desk."""
    for name in DESK_NEEDS:
        if find_spec(name) is None:
            raise InvalidInput("desk", f"needs the package {name}: pip install 'waitroom[desk]'")


def load_desk() -> ModuleType:
    """Import the routes of the desk, which need more packages than the rest of the server."""
    check_desk()
    logging.getLogger("alembic").setLevel(logging.WARNING)  # it logs a greeting when imported
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


def load_push() -> ModuleType:
    """Import what sends push messages, which needs more packages than the rest of the server."""
    for name in PUSH_NEEDS:
        if find_spec(name) is None:
            raise InvalidInput("push", f"needs the package {name}: pip install 'waitroom[push]'")
    from waitroom.server.push import opening

    return opening


@contextlib.asynccontextmanager
async def _push(server: Server) -> AsyncIterator[None]:
    """Send push messages, if the settings ask for it."""
    if server.settings.push is None:
        yield
        return
    async with load_push().opened(server):
        yield


@contextlib.asynccontextmanager
async def _following_keys(settings: Settings, passes: Passes) -> AsyncIterator[None]:
    """Reload the keys of passes whenever their folder changes."""

    async def follow() -> None:
        known = await asyncio.to_thread(fingerprint, settings)
        while True:
            await asyncio.sleep(KEYS_EVERY_S)
            try:
                latest = await asyncio.to_thread(fingerprint, settings)
                if latest != known:
                    passes.replace_keys(await asyncio.to_thread(load_pass_keys, settings))
                    known = latest
            except (InvalidInput, OSError) as error:  # somebody is changing it: keep the old keys
                log.warning("the keys of passes were not loaded again: %s", error)

    task = asyncio.create_task(follow())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task], timeout=1)
