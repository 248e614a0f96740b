"""The health of the backend: noticed when it goes and when it is back, without asking for long."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import pytest

from tests.support.clock import open_engine
from tests.support.servers import start_server
from waitroom.errors import BackendUnavailable
from waitroom.server.counters.worker import Counters
from waitroom.server.rooms.backend_health import BackendHealth

ANSWER_S = 5.0
"""So long that a busy machine is not taken for a backend that hangs."""


async def until(health: BackendHealth, away: bool) -> None:
    """Wait until it is known."""
    async with asyncio.timeout(60):
        while health.away is not away:  # noqa: ASYNC110 - it has no event: requests just read it
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("how", ["killed", "hangs"])
async def test_away_and_back(tmp_path: Path, how: str) -> None:
    """Killed or hanging, it is away and calls are refused at once; then it is back by itself."""
    counters = Counters()
    with start_server("valkey", tmp_path) as backend:
        async with open_engine(backend.url) as engine:
            health = BackendHealth(engine, counters, ANSWER_S)
            health.start()
            try:
                await until(health, away=False)
                health.check()
                if how == "killed":
                    backend.kill()
                else:
                    os.kill(backend.pid, signal.SIGSTOP)
                health.suspect()
                await until(health, away=True)
                with pytest.raises(BackendUnavailable):
                    health.check()
                assert 1 == counters.backend_errors
                if how == "killed":
                    await asyncio.to_thread(backend.restart)
                else:
                    os.kill(backend.pid, signal.SIGCONT)
                await until(health, away=False)
                health.check()
                assert 1 == counters.backend_errors
            finally:
                await health.stop()
