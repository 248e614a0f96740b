"""Very many sessions end at once while very many people wait: every step stays small."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path
from typing import Any

from tests.acceptance.tools import fill, members
from tests.support.clock import Clock, open_engine
from tests.support.counts import count
from tests.support.figures import say
from tests.support.servers import start_server
from waitroom.engine import Engine
from waitroom.engine.keys import room_key
from waitroom.models import Policy
from waitroom.tickets import Ticket

ROOM = "mass"


async def test_a_mass_of_sessions_ends_at_once(tmp_path: Path) -> None:
    """Every advance moves <= 500, polls continue meanwhile, and every freed place is reused."""
    sessions, crowd = count("mass_sessions"), count("mass_waiting")
    clock = Clock()
    with start_server("valkey", tmp_path, latency_tracking="yes") as server:
        async with open_engine(server.url, clock) as engine:
            client: Any = engine.backend.client
            await engine.create(ROOM, Policy(capacity=sessions, session_s=600, enter_within_s=600))
            now_s = clock.now_us // 1_000_000
            ids = await fill(client, ROOM, "waiting", crowd, clock.now_us - crowd * 8, 8, now_s)
            line = list(ids)
            assert await _most_moved(engine, clock, line, sessions) <= 500
            assert set(line[:sessions]) == set(await members(client, ROOM, "called"))


async def _most_moved(engine: Engine, clock: Clock, line: list[str], sessions: int) -> int:
    """End all sessions in the same millisecond, and advance until their places are reused."""
    client: Any = engine.backend.client
    await client.delete(room_key(ROOM, "called"))
    await fill(client, ROOM, "inside", sessions, clock.now_ms + 1_000, 0)
    places = {
        "last": clock.now_us,
        "alive_at": clock.now_ms + 1_000,
        "last_sid": clock.now_us + sessions,
    }
    await client.hset(room_key(ROOM, "meta"), mapping=places)
    assert sessions == (await engine.stats(ROOM)).inside
    clock.step(1)
    await client.config_resetstat()
    polls = Polls(engine, line, clock)
    polling = asyncio.create_task(polls.run())
    most, steps, moved = 0, 0, 0
    for _ in range(2 * sessions // 500 + 20):
        done = await engine.advance(ROOM)
        step = done.called + done.expired + done.no_shows + done.abandoned
        most, steps, moved = max(most, step), steps + 1, moved + step
        if not done.more:
            break
    polls.stop = True
    await polling
    mean = (await client.info("commandstats"))["cmdstat_evalsha"]["usec_per_call"] / 1000
    p99_ms = float((await client.info("latencystats"))["latency_percentiles_usec_evalsha"]["p99"])
    p99_ms /= 1000
    say(
        f"{sessions} sessions ended with {len(line)} waiting: {steps} advances moved {moved}, at "
        f"most {most}; evalsha p99 {p99_ms:.2f} ms, mean {mean:.2f} ms, {polls.calls} poll calls"
    )
    assert not done.more
    assert polls.calls > 0, "nobody polled meanwhile"
    assert 2 * sessions == moved
    assert 0 == (await engine.stats(ROOM)).inside
    return most


class Polls:
    """Polls by people anywhere in the line, 128 at a time, as long as it takes."""

    def __init__(self, engine: Engine, ids: list[str], clock: Clock) -> None:
        self.engine, self.ids, self.clock = engine, ids, clock
        self.calls, self.stop = 0, False

    async def run(self) -> None:
        """Poll until told to stop."""
        draw, ring = random.Random(2), self.engine.ring
        epoch, now_s = (await self.engine.room(ROOM)).epoch, self.clock.now_us // 1_000_000
        while not self.stop:
            some = [
                ring.sign(Ticket(ROOM, ticket_id, self.clock.now_us, epoch, now_s))
                for ticket_id in draw.sample(self.ids, 128)
            ]
            await self.engine.poll_many(ROOM, some)
            self.calls += 1
