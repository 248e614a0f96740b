"""`make bench-console`: the operator page next to a crowd that polls as fast as it can.

Many rooms with people who wait, one server process, and wrk that polls without a pause. Polls are
measured alone and next to operators, alternately. Each operator opens the overview, a room and its
history, and searches for people. The ratio of the two is what operators cost visitors.
"""

from __future__ import annotations

import asyncio
import os
import random
import time
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from statistics import median
from typing import Any

import httpx2
import uvloop

import waitroom
from bench.fill import Advance, fill_room, let_join, step_for
from bench.report import Figures, Line, Reporter, percentile
from bench.rig import versions
from bench.web import cores, needs, wrk
from bench.web.ground import Ground, ground
from bench.web.line_up import ADMIN_KEY, ours
from waitroom.models import State
from waitroom.short_codes import code_of

ROOM = "room-{}"
ASKED = ("overview", "room", "history", "find_code", "find_id")
OPERATORS = 2
_SAMPLE = 100_000

LINES = (
    *(
        Line(f"{name}_p{percent}_ms", f"{about}, beside the crowd", most=most)
        for name, about, limit in (
            ("overview", "the page of all rooms", None),
            ("room", "the page of a room", None),
            ("history", "a day of history as JSON", None),
            ("find_code", "search by short code", 1_000),
            ("find_id", "search by ticket", 1_000),
        )
        for percent, most in ((50, None), (99, limit))
    ),
    Line("polls_per_s_ratio", "polls beside operators ÷ without"),
    Line("poll_p99_ratio", "p99 of a poll beside operators ÷ without"),
    Line("errors", "polls that failed", most=0),
    Line("console_errors", "pages that failed", most=0),
)


@dataclass(frozen=True, slots=True)
class Scale:
    """How much is measured."""

    rooms: int
    waiting: int
    rounds: int
    seconds: int
    full: bool = False

    @classmethod
    def from_environment(cls) -> Scale:
        """Return the counts of a full run (FULL=1), a test (SMOKE=1), or a usual run."""
        if os.environ.get("SMOKE"):
            return cls(rooms=3, waiting=600, rounds=1, seconds=1)
        if os.environ.get("FULL"):
            return cls(rooms=50, waiting=1_000_000, rounds=5, seconds=10, full=True)
        return cls(rooms=50, waiting=100_000, rounds=3, seconds=5)


async def measure(scale: Scale, reporter: Reporter) -> tuple[Figures, dict[str, Any]]:
    """Fill the rooms, and alternate: polls alone, polls next to operators."""
    figures: Figures = {}
    server_core, load_core = cores.pick()
    with cores.on_core(load_core):
        async with ground() as on:
            with reporter.step("the crowd joins", scale.waiting + scale.rooms) as advance:
                load = await _fill(on, scale, advance)
            async with ours(on, server_core) as peer:
                with reporter.step("polls with and without operators", scale.rounds) as advance:
                    await _rounds(on, peer.port, load, scale, figures, advance)
            facts = await versions(on.rig)
    facts |= {
        "waitroom": waitroom.__version__,
        "waiting": scale.waiting,
        "rooms": scale.rooms,
        "operators": OPERATORS,
        "rounds": scale.rounds,
        "full": scale.full,
    }
    return figures, facts


async def _fill(on: Ground, scale: Scale, advance: Advance) -> wrk.Load:
    """Make people wait in all rooms; return polls for those in the first."""
    each = scale.waiting // scale.rooms
    for number in range(scale.rooms):
        crowd = await fill_room(on.rig, ROOM.format(number), 1, advance, step_for(each, _SAMPLE))
        await let_join(on.rig, crowd, each, advance)
        if number == 0:
            tickets = on.write("tickets", crowd.tickets)
    return wrk.Load.get(f"/v1/rooms/{ROOM.format(0)}/tickets/", tickets)


async def _rounds(
    on: Ground, port: int, load: wrk.Load, scale: Scale, figures: Figures, advance: Advance
) -> None:
    console = Console(port, scale.rooms, await _ids(on, scale.rooms))
    throughput, latency, errors = [], [], 0
    async with console:
        for _ in range(scale.rounds):
            alone = await wrk.put(load, port, scale.seconds)
            async with console.operators():
                beside = await wrk.put(load, port, scale.seconds)
            throughput.append(beside.per_s / alone.per_s)
            latency.append(beside.p99_ms / alone.p99_ms)
            errors += alone.errors + beside.errors
            advance(1)
    for name in ASKED:
        for percent in (50, 99):
            figures[f"{name}_p{percent}_ms"] = percentile(console.took_ms[name], percent)
        figures[f"{name}_requests"] = len(console.took_ms[name])
    figures["polls_per_s_ratio"] = median(throughput)
    figures["poll_p99_ratio"] = median(latency)
    figures["errors"], figures["console_errors"] = errors, console.errors


async def _ids(on: Ground, rooms: int) -> list[str]:
    """Return tickets of people who wait, some from each room."""
    pages = [
        await on.rig.engine.list(ROOM.format(number), State.WAITING, limit=100)
        for number in range(rooms)
    ]
    return [ticket.id for page in pages for ticket in page.tickets]


class Console:
    """Signed-in operators, and how long they waited for what."""

    def __init__(self, port: int, rooms: int, ids: list[str]) -> None:
        self.took_ms: dict[str, list[float]] = defaultdict(list)
        self.errors = 0
        self._client = httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=30)
        self._rooms, self._ids = rooms, ids
        self._over = False
        self._token = ""

    async def __aenter__(self) -> Console:
        """Sign in."""
        answer = await self._client.post("/admin/sign-in", data={"key": ADMIN_KEY})
        assert answer.status_code == 303, answer.text
        page = (await self._client.get("/admin/find")).text
        self._token = page.partition('name="token" value="')[2].partition('"')[0]
        return self

    async def __aexit__(self, *exc: object) -> None:
        """Close."""
        await self._client.aclose()

    @asynccontextmanager
    async def operators(self) -> AsyncIterator[None]:
        """Run operators meanwhile; each completes their current task before the end."""
        self._over = False
        tasks = [asyncio.create_task(self._work()) for _ in range(OPERATORS)]
        try:
            yield
        finally:
            self._over = True
            await asyncio.gather(*tasks)

    async def _work(self) -> None:
        while not self._over:
            for name, (path, form) in self._requests().items():
                began = time.perf_counter()
                if form is None:
                    answer = await self._client.get(path)
                else:
                    answer = await self._client.post(path, data=form | {"token": self._token})
                self.took_ms[name].append(1000 * (time.perf_counter() - began))
                self.errors += answer.status_code >= 400

    def _requests(self) -> dict[str, tuple[str, dict[str, str] | None]]:
        room, ticket_id = ROOM.format(random.randrange(self._rooms)), random.choice(self._ids)
        since_ms = int(1000 * (time.time() - 86_400))
        return {
            "overview": ("/admin", None),
            "room": (f"/admin/rooms/{room}", None),
            "history": (f"/admin/rooms/{room}/history?since_ms={since_ms}", None),
            "find_code": ("/admin/find", {"q": code_of(ticket_id)}),
            "find_id": ("/admin/find", {"q": ticket_id}),
        }


def main() -> None:
    """Measure and report."""
    needs.check()
    reporter, scale = Reporter(), Scale.from_environment()
    figures, facts = uvloop.run(measure(scale, reporter))
    title = f"the operator page: {scale.rooms} rooms, {scale.waiting:,} waiting, full polling load"
    reporter.show(title, LINES, figures)
    reporter.last_line(figures, facts)


if __name__ == "__main__":
    main()
