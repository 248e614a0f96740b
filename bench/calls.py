"""The throughput of one Python process: many concurrent callers, against one call after another."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from statistics import median

from bench.fill import Advance, Crowd
from bench.report import Figures
from bench.rig import Rig
from waitroom.engine import Join
from waitroom.models import Policy

AT_ONCE = 2_000
GATHERS = 2
ONE_BY_ONE = 200

Work = Callable[[], Awaitable[None]]


async def measure_calls(
    rig: Rig, crowd: Crowd, rounds: int, figures: Figures, advance: Advance
) -> None:
    """Alternate between both ways; each includes reading and signing tickets."""
    engine, room = rig.engine, "calls"
    await engine.create(room, Policy(capacity=1, presence_s=3_600))

    async def join_together() -> None:
        for _ in range(GATHERS):
            await asyncio.gather(*(engine.join(room) for _ in range(AT_ONCE)))

    async def join_singly() -> None:
        for _ in range(ONE_BY_ONE):
            await engine.join_many(room, [Join()])

    async def poll_together() -> None:
        for _ in range(GATHERS):
            tickets = crowd.some(AT_ONCE)
            await asyncio.gather(*(engine.poll(crowd.room, ticket) for ticket in tickets))

    async def poll_singly() -> None:
        for ticket in crowd.some(ONE_BY_ONE):
            await engine.poll_many(crowd.room, [ticket])

    pairs = {"join": (join_together, join_singly), "poll": (poll_together, poll_singly)}
    measured: dict[str, list[tuple[float, float]]] = {name: [] for name in pairs}
    for _ in range(rounds):
        for name, (together, singly) in pairs.items():
            many = await _rate(together, GATHERS * AT_ONCE)
            alone = await _rate(singly, ONE_BY_ONE)
            measured[name].append((many, alone))
        advance(1)
    for name, rates in measured.items():
        figures[f"{name}s_per_s"] = median(many for many, _ in rates)
        figures[f"single_{name}s_per_s"] = median(alone for _, alone in rates)
        figures[f"{name}_batch_ratio"] = median(many / alone for many, alone in rates)


async def _rate(work: Work, count: int) -> float:
    began = time.perf_counter()
    await work()
    return count / (time.perf_counter() - began)
