"""Thousands of idle rooms and four processes cost next to nothing."""

from __future__ import annotations

import asyncio
import resource
import time
from pathlib import Path
from typing import Any

from tests.acceptance.tools import Notes, finished, read_notes, workers
from tests.support.clock import open_engine
from tests.support.counts import count
from tests.support.figures import say
from tests.support.servers import LONGEST_S, start_server
from waitroom.engine import Engine
from waitroom.models import preset
from waitroom.ticker import Ticker

PROCESSES = 4
MOST_IN_SERVER = 0.02
MOST_IN_PROCESS = 0.05
START_S = 2.0
"""How long a process may take to connect and to learn the names of all rooms."""


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


async def idle(url: str, seconds: float, notes: Path) -> None:
    """Act as a process with a ticker and nothing to do; record what that costs."""
    async with open_engine(url) as engine:
        began, wall = _cpu(), time.monotonic()
        async with Ticker(engine):
            await asyncio.sleep(START_S)
            start = (_cpu() - began) / (time.monotonic() - wall)
            noted = Notes(notes)
            noted.add(op="started")
            began, wall = _cpu(), time.monotonic()
            await asyncio.sleep(seconds)
            share = (_cpu() - began) / (time.monotonic() - wall)
        noted.add(op="cost", start=start, share=share)


def _percent(shares: list[float]) -> str:
    return ", ".join(f"{share:.2%}" for share in shares)


async def _server_cpu(engine: Engine) -> float:
    client: Any = engine.backend.client
    usage = await client.info("cpu")
    return float(usage["used_cpu_user"]) + float(usage["used_cpu_sys"])


async def test_idle_rooms_cost_next_to_nothing(tmp_path: Path) -> None:
    """5,000 idle rooms, 4 processes: <= 2 % of a core in the server, <= 5 % in each process.

    Measuring starts when a process knows the rooms, and falls into the first minute, in which the
    ticker also checks every room once. After that it costs less.
    """
    rooms, seconds = count("idle_rooms"), count("idle_seconds")
    with start_server("valkey", tmp_path / "s") as server:
        async with open_engine(server.url) as engine:
            for start in range(0, rooms, 100):
                names = [f"idle-{number}" for number in range(start, min(rooms, start + 100))]
                await asyncio.gather(*(engine.create(name, preset("slots")) for name in names))
            plans = [
                (server.url, float(seconds), tmp_path / f"{number}.notes")
                for number in range(PROCESSES)
            ]
            with workers(idle, *plans) as running:
                async with asyncio.timeout(LONGEST_S):  # a busy machine starts processes slowly
                    while len(read_notes(tmp_path)) < PROCESSES:  # noqa: ASYNC110
                        await asyncio.sleep(0.05)
                before, wall = await _server_cpu(engine), time.monotonic()
                await asyncio.sleep(seconds - START_S)
                in_server = (await _server_cpu(engine) - before) / (time.monotonic() - wall)
                await finished(running, LONGEST_S)
    costs = [note for note in read_notes(tmp_path) if note["op"] == "cost"]
    each, starts = ([cost[name] for cost in costs] for name in ("share", "start"))
    say(
        f"{rooms} idle rooms, {PROCESSES} processes: server {in_server:.2%} of a core, processes "
        f"{_percent(each)}; in their first {START_S} s "
        f"{_percent(starts)}"
    )
    assert PROCESSES == len(each)
    assert in_server <= MOST_IN_SERVER
    assert max(each) <= MOST_IN_PROCESS
