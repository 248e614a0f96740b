"""What a poll costs the server: ours, as seed 004 does it, and as two plain commands."""

from __future__ import annotations

import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from statistics import median

from bench.fill import Advance, Crowd, SeedLine
from bench.report import Figures
from bench.rig import Rig, lua

PER_BATCH = 128
BATCHES = 10


@dataclass(slots=True)
class Side:
    """One way to poll: which commands the server books it under, and the cost of each round."""

    poll: Callable[[], Awaitable[None]]
    commands: tuple[str, ...]
    us: list[float] = field(default_factory=list)

    async def round(self, rig: Rig) -> None:
        """Poll in batches, and note the server's microseconds per poll."""
        before = await rig.usec(*self.commands)
        for _ in range(BATCHES):
            await self.poll()
        spent = await rig.usec(*self.commands) - before
        self.us.append(spent / (BATCHES * PER_BATCH))


async def measure_polls(
    rig: Rig,
    big: Crowd,
    small: Crowd,
    seed: SeedLine,
    rounds: int,
    figures: Figures,
    advance: Advance,
) -> None:
    """Take turns between all ways, so that a busy machine is busy for all of them."""
    sha = await rig.admin.script_load(lua("seed004"))
    sides = {
        "poll_us": Side(lambda: _ours(rig, big), ("evalsha",)),
        "poll_us_10k": Side(lambda: _ours(rig, small), ("evalsha",)),
        "seed_poll_us": Side(lambda: _seed(rig, seed, sha), ("evalsha",)),
        "raw_poll_us": Side(lambda: _raw(rig, seed), ("zrank", "zadd")),
    }
    for side in sides.values():
        await side.poll()  # the first call of a script is an EVAL
    for _ in range(rounds):
        for side in random.sample([*sides.values()], len(sides)):
            await side.round(rig)
        advance(1)
    for name, side in sides.items():
        figures[name] = median(side.us)
    ours = sides["poll_us"].us
    figures["poll_speedup"] = _ratio(sides["seed_poll_us"].us, ours)
    figures["poll_vs_raw"] = _ratio(ours, sides["raw_poll_us"].us)
    figures["poll_growth"] = _ratio(ours, sides["poll_us_10k"].us)


def _ratio(over: list[float], under: list[float]) -> float:
    return median(a / b for a, b in zip(over, under, strict=True))


async def _ours(rig: Rig, crowd: Crowd) -> None:
    await rig.engine.poll_many(crowd.room, crowd.some(PER_BATCH))


async def _seed(rig: Rig, seed: SeedLine, sha: str) -> None:
    pipe = rig.admin.pipeline(transaction=False)
    for token in random.sample(seed.tokens, PER_BATCH):
        pipe.evalsha(sha, 2, seed.line, seed.last_polls, token)
    await pipe.execute()


async def _raw(rig: Rig, seed: SeedLine) -> None:
    now_ms = int(time.time() * 1000)
    pipe = rig.admin.pipeline(transaction=False)
    for token in random.sample(seed.tokens, PER_BATCH):
        pipe.zrank(seed.line, token)
        pipe.zadd(seed.last_polls, {token: now_ms})
    await pipe.execute()
