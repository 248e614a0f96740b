"""The backend's health: away after several failed probes over a while, back at the first answer."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.support.clock import open_engine
from tests.support.servers import Server, start_server
from waitroom.engine import Engine
from waitroom.errors import BackendUnavailable
from waitroom.models import Mode, Policy
from waitroom.server.counters.worker import Counters
from waitroom.server.rooms.backend_health import FEWEST_PROBES, BackendHealth, NodeHealth

SOON_S = 0.3
NEVER_S = 3600.0


@asynccontextmanager
async def watched(
    engine: Engine, counters: Counters, away_after_s: float
) -> AsyncIterator[BackendHealth]:
    """Watch a backend."""
    health = BackendHealth(engine, counters, away_after_s)
    health.start()
    try:
        yield health
    finally:
        await health.stop()


async def until(health: BackendHealth, away: bool) -> None:
    """Wait until the state is known."""
    async with asyncio.timeout(60):
        while health.away is not away:  # noqa: ASYNC110 - it has no event: requests just read it
            await asyncio.sleep(0.01)


def stop(backend: Server, how: str) -> None:
    """Kill the backend, or make it hang."""
    if how == "killed":
        backend.kill()
    else:
        os.kill(backend.pid, signal.SIGSTOP)


def heal(backend: Server, how: str) -> None:
    """Undo that."""
    if how == "killed":
        backend.restart()
    else:
        os.kill(backend.pid, signal.SIGCONT)


@pytest.mark.parametrize("how", ["killed", "hangs"])
async def test_away_and_back(tmp_path: Path, how: str) -> None:
    """Killed or hanging, it is away and calls are refused at once; then it is back by itself."""
    counters = Counters()
    with start_server("valkey", tmp_path) as backend:
        async with open_engine(backend.url) as engine, watched(engine, counters, SOON_S) as health:
            await until(health, away=False)
            health.check("room")
            stop(backend, how)
            await until(health, away=True)
            for room in (None, "room"):
                with pytest.raises(BackendUnavailable):
                    health.check(room)
            assert health.is_away("room")
            assert 1 == counters.backend_errors
            await asyncio.to_thread(heal, backend, how)
            await until(health, away=False)
            health.check()
            assert 1 == counters.backend_errors


async def test_who_waits_is_answered_when_it_goes_away(tmp_path: Path) -> None:
    """A visitor who waits for an answer gets one as soon as the backend counts as away."""
    with start_server("valkey", tmp_path) as backend:
        async with (
            open_engine(backend.url) as engine,
            watched(engine, Counters(), SOON_S) as health,
        ):
            await engine.create("room", Policy(mode=Mode.PAUSED))
            stop(backend, "hangs")
            try:
                join = asyncio.ensure_future(engine.join("room"))
                await until(health, away=True)
                with pytest.raises(BackendUnavailable):
                    await join
            finally:
                heal(backend, "hangs")


async def test_calls_that_fail_are_no_outage(tmp_path: Path) -> None:
    """However often a call fails, only probes count; and they must fail for long enough."""
    with start_server("valkey", tmp_path) as backend:
        async with (
            open_engine(backend.url) as engine,
            watched(engine, Counters(), NEVER_S) as health,
        ):
            await until(health, away=False)
            stop(backend, "killed")
            for _ in range(50):
                health.suspect()
                await asyncio.sleep(0.02)
            assert not health.away
            health.check("room")


def test_several_probes_over_a_while() -> None:
    """Few failures, or many within a moment, are not enough; one answer resets them."""
    long_ago = time.monotonic() - 10
    node = NodeHealth()
    for _ in range(FEWEST_PROBES - 1):
        node.failed(long_ago, away_after_s=5)
        assert not node.away
    node.failed(time.monotonic(), away_after_s=5)
    assert node.away
    node.answered()
    assert not node.away
    for _ in range(100):
        node.failed(time.monotonic(), away_after_s=60)
    assert not node.away
