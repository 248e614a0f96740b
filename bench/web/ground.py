"""What all peers share: one backend on its own socket, a secret, and people in rooms."""

from __future__ import annotations

import random
import secrets
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from redis.asyncio import Redis

from bench.fill import Advance, fill_room, let_join
from bench.rig import Rig
from bench.web.handrolled import line_of, lua
from waitroom.engine import Engine
from waitroom.engine.connection.embedded import EmbeddedServer
from waitroom.models import MEMBERS_PER_SCRIPT, Eta
from waitroom.tickets import KeyRing

BIG, JOINS, INSIDE, LIVE = "big", "joins", "inside", "live"


@dataclass(frozen=True, slots=True)
class Ground:
    """The backend, the settings with which servers reach it, and a folder for files."""

    rig: Rig
    url: str
    secret: str
    folder: Path

    def write(self, name: str, lines: Sequence[str]) -> Path:
        """Write a file of lines for wrk."""
        file = self.folder / name
        file.write_text("\n".join(lines) + "\n", "utf-8")
        return file


@asynccontextmanager
async def ground() -> AsyncIterator[Ground]:
    """Run a backend with its append-only file in a temporary folder, and connect an engine."""
    secret = secrets.token_urlsafe(48)
    with tempfile.TemporaryDirectory(prefix="waitroom-bench-") as name:
        folder = Path(name)
        async with EmbeddedServer(folder / "store") as server:
            admin = Redis.from_url(server.url, socket_timeout=None, protocol=2)
            try:
                ring = KeyRing.from_text(secret)
                async with await Engine.connect(server.url, folder, ring) as engine:
                    rig = Rig(engine, admin)
                    # A rewrite of the file would happen at a different moment in every run.
                    await rig.configure(auto_aof_rewrite_percentage=0)
                    yield Ground(rig, server.url, secret, folder)
            finally:
                await admin.aclose()


async def fill_waiting(on: Ground, waiting: int, sample: int, advance: Advance) -> Path:
    """Make people wait in our rooms; return a file with some of their tickets."""
    for room in (BIG, JOINS):
        crowd = await fill_room(on.rig, room, 1, advance)
        # Otherwise nobody would get an estimate, and estimating would cost nothing.
        await on.rig.engine.configure(room, eta=Eta.SERVICE)
        await let_join(on.rig, crowd, waiting if room == BIG else waiting // 10, advance)
        if room == BIG:
            tickets = on.write("tickets", random.sample(crowd.tickets, sample))
    return tickets


async def fill_handrolled(on: Ground, waiting: int, sample: int, advance: Advance) -> Path:
    """Make as many people wait in the hand-written queue; return a file with some tickets."""
    script = await on.rig.admin.script_load(lua("fill"))
    for room, people in ((JOINS, waiting // 10), (BIG, waiting)):
        tickets = [secrets.token_urlsafe(24) for _ in range(people)]
        first_us = int(time.time() * 1e6) - people
        for start in range(0, people, MEMBERS_PER_SCRIPT):
            some = tickets[start : start + MEMBERS_PER_SCRIPT]
            await on.rig.admin.evalsha(script, 2, *line_of(room), str(first_us + start), *some)
            advance(len(some))
    return on.write("handrolled-tickets", random.sample(tickets, sample))
