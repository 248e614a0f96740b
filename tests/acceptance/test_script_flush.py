"""The server keeps forgetting its scripts: nobody notices."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import Awaitable
from pathlib import Path
from typing import TypeVar

import pytest

from tests.support.clock import open_engine
from tests.support.counts import count
from tests.support.figures import say
from tests.support.servers import Kind, start_server
from waitroom.engine import Engine
from waitroom.errors import Refused
from waitroom.models import Policy, State

T = TypeVar("T")
FLUSH_EVERY_S = 0.1
VISITORS = 16


class Load:
    """Visitors without a pause, and how many of their requests are under way."""

    def __init__(self, engine: Engine, room: str) -> None:
        self.engine, self.room = engine, room
        self.over = False
        self.calls = 0
        self.in_flight = 0

    async def visitor(self, seed: int) -> None:
        """Join, poll, enter, finish or leave, repeatedly; an error ends the test."""
        engine, room, draw = self.engine, self.room, random.Random(seed)
        while not self.over:
            view = await self._counted(engine.join(room))
            for _ in range(draw.randrange(8)):
                view = await self._counted(engine.poll(room, view.ticket))
            with contextlib.suppress(Refused):
                if view.state is State.CALLED:
                    await self._counted(engine.enter(room, view.ticket))
                    await self._counted(engine.finish(room, view.ticket))
            await self._counted(engine.leave(room, view.ticket))
            await self._counted(engine.advance(room))
            await self._counted(engine.stats(room))

    async def _counted(self, call: Awaitable[T]) -> T:
        self.in_flight += 1
        try:
            return await call
        finally:
            self.calls += 1
            self.in_flight -= 1


@pytest.mark.parametrize("kind", ["valkey", "redis"])
async def test_script_flush_under_load(kind: Kind, tmp_path: Path) -> None:
    """SCRIPT FLUSH every 100 ms under load: 0 visible errors."""
    # A number, not a time: a busy machine needs longer for as many.
    hit, flushes = 0, round(count("flush_script_seconds") / FLUSH_EVERY_S)
    with start_server(kind, tmp_path) as server:
        async with open_engine(server.url) as engine, open_engine(server.url) as other:
            client = other.backend.client
            await engine.create("flushed", Policy(capacity=8))
            load = Load(engine, "flushed")
            visitors = asyncio.gather(*(load.visitor(seed) for seed in range(VISITORS)))
            for _ in range(flushes):
                hit += load.in_flight
                await client.script_flush()
                await asyncio.sleep(FLUSH_EVERY_S)
                if visitors.done():  # an error has ended it
                    break
            load.over = True
            await visitors
            missed = int((await client.info("errorstats"))["errorstat_NOSCRIPT"]["count"])
    say(f"{flushes} flushes hit {hit} of {load.calls} calls in flight; {missed} scripts were gone")
    assert hit > 0
    assert missed > 0
