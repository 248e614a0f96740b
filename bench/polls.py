"""What a poll costs the server: ours, as in seed 004, and as two plain commands.

Each way sends the same number of polls in one pipeline, so that the server is equally warm for all.
Our calls are those of `engine.poll_many`, recorded beforehand.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from redis.asyncio.client import Pipeline

from bench.fill import Advance, Crowd, SeedLine
from bench.report import Figures
from bench.rig import Rig, lua

PER_BATCH = 128
BATCHES = 20
POLLS = PER_BATCH * BATCHES


class Recorder:
    """Replaces the engine's client, and records its script calls."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self.calls: list[tuple[Any, ...]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    async def evalsha(self, *args: Any) -> Any:
        """Record the arguments, and make the call."""
        self.calls.append(args)
        return await self._client.evalsha(*args)


@dataclass(slots=True)
class Side:
    """One way to poll: the commands that the server counts it under, and the cost of each round."""

    fill: Callable[[Pipeline], None]
    commands: tuple[str, ...]
    us: list[float] = field(default_factory=list)

    async def round(self, rig: Rig) -> None:
        """Send one pipeline, and record the server's microseconds per poll."""
        pipe = rig.admin.pipeline(transaction=False)
        self.fill(pipe)
        before = await rig.usec(*self.commands)
        await pipe.execute()
        self.us.append((await rig.usec(*self.commands) - before) / POLLS)


async def measure_polls(
    rig: Rig,
    big: Crowd,
    small: Crowd,
    seed: SeedLine,
    rounds: int,
    figures: Figures,
    advance: Advance,
) -> None:
    """Alternate between all ways, so that a busy machine is busy for all of them."""
    sha = await rig.admin.script_load(lua("seed004"))
    sides = {
        "poll_us": Side(_replay(await _record(rig, big, rounds)), ("evalsha",)),
        "front_poll_us": Side(_replay(await _record(rig, big.front, rounds)), ("evalsha",)),
        "poll_us_10k": Side(_replay(await _record(rig, small, rounds)), ("evalsha",)),
        "seed_poll_us": Side(lambda pipe: _seed(pipe, seed, sha), ("evalsha",)),
        "raw_poll_us": Side(lambda pipe: _raw(pipe, seed), ("zrank", "zadd")),
    }
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


async def _record(rig: Rig, crowd: Crowd, rounds: int) -> list[tuple[Any, ...]]:
    """Poll once through the engine, and return its script calls in another order."""
    runner = rig.engine._runner
    client, recorder = runner.visitors, Recorder(runner.visitors)
    await rig.engine.poll_many(crowd.room, crowd.some(1))  # the server knows the script now
    runner.visitors = recorder
    try:
        for _ in range(rounds * BATCHES):
            await rig.engine.poll_many(crowd.room, crowd.some(PER_BATCH))
    finally:
        runner.visitors = client
    random.shuffle(recorder.calls)
    return recorder.calls


def _replay(calls: list[tuple[Any, ...]]) -> Callable[[Pipeline], None]:
    left = iter(calls)

    def fill(pipe: Pipeline) -> None:
        for _ in range(BATCHES):
            pipe.evalsha(*next(left))

    return fill


def _seed(pipe: Pipeline, seed: SeedLine, sha: str) -> None:
    for token in random.sample(seed.tokens, POLLS):
        pipe.evalsha(sha, 2, seed.line, seed.last_polls, token)


def _raw(pipe: Pipeline, seed: SeedLine) -> None:
    now_ms = int(time.time() * 1000)
    for token in random.sample(seed.tokens, POLLS):
        pipe.zrank(seed.line, token)
        pipe.zadd(seed.last_polls, {token: now_ms})


def _ratio(over: list[float], under: list[float]) -> float:
    return median(a / b for a, b in zip(over, under, strict=True))
