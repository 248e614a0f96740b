"""A process full of visitors, who join, poll, enter (some late), finish and leave; it advances too.

What was acknowledged goes to the worker's own log, which survives a `kill -9`.
"""

from __future__ import annotations

import asyncio
import random
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.acceptance.tools import Notes, place_of
from tests.support.clock import open_engine
from waitroom.engine import Engine
from waitroom.errors import BackendUnavailable, Refused
from waitroom.models import State, TicketView

GO = "test:go"
READY = "test:ready"
OVER = "test:over"


@dataclass(frozen=True, slots=True)
class Plan:
    """What a worker does: its own `crowd` of people, each inside for at most `stay_s`."""

    url: str
    room: str
    notes: Path
    seed: int
    seconds: float | None
    """How long it runs; None = until `stop_signal`."""

    crowd: int = 150
    enter_within_s: float = 1.0
    stay_s: float = 0.3
    advances: bool = True
    outages: bool = False
    """Whether the server may be away: then its errors are counted, not raised."""


@dataclass(slots=True)
class Visitors:
    """The people of one process, by where they believe they are."""

    plan: Plan
    engine: Engine
    notes: Notes
    random: random.Random
    waiting: dict[str, str] = field(default_factory=dict)
    enter_at: list[tuple[float, str, str]] = field(default_factory=list)
    finish_at: list[tuple[float, str, str]] = field(default_factory=list)
    unavailable: int = 0

    def sort(self, view: TicketView) -> None:
        """Put a visitor where a view says they are."""
        now, plan, draw = time.monotonic(), self.plan, self.random.random()
        if view.state is not State.WAITING:
            self.waiting.pop(view.id, None)
        if view.state is State.WAITING:
            self.waiting[view.id] = view.ticket
        elif view.state is State.CALLED:
            # Most come at once, some at the last moment, a few too late, a few never.
            late = 0.0 if draw < 0.7 else plan.enter_within_s * (0.5 + 0.6 * self.random.random())
            if draw < 0.97:
                self.enter_at.append((now + late, view.id, view.ticket))
        elif view.state is State.INSIDE and draw < 0.8:  # the others let their session run out
            stay = plan.stay_s * self.random.random()
            self.finish_at.append((now + stay, view.id, view.ticket))

    async def join(self) -> None:
        """Bring one visitor; some go inside in the same call if they can."""
        view = await self.engine.join(self.plan.room, enter=self.random.random() < 0.5)
        direct = view.state is not State.WAITING
        place = place_of(self.plan.room, view.ticket)
        self.notes.add(op="join", id=view.id, place=place, direct=direct, ticket=view.ticket)
        self.sort(view)

    async def poll(self) -> None:
        """Poll for some who wait."""
        line = list(self.waiting)  # oldest first: they may have been called
        some = line[:50] + self.random.sample(line[50:], min(len(line[50:]), 10))
        views = await self.engine.poll_many(
            self.plan.room, [self.waiting[ticket_id] for ticket_id in some]
        )
        for view in views:
            if isinstance(view, Exception):
                raise view
            self.sort(view)

    async def enter(self, ticket: str) -> None:
        """Go inside, if the turn is not over."""
        try:
            self.sort(await self.engine.enter(self.plan.room, ticket))
        except Refused as error:
            self.notes.add(op="refused", code=error.code)

    async def finish(self, ticket: str) -> None:
        """End a session, if it has not ended."""
        try:
            await self.engine.finish(self.plan.room, ticket)
        except Refused as error:
            self.notes.add(op="refused", code=error.code)

    async def leave(self) -> None:
        """Make one waiting person give up."""
        ticket_id = self.random.choice(sorted(self.waiting))
        await self.engine.leave(self.plan.room, self.waiting.pop(ticket_id))

    def round(self) -> list[Any]:
        """Return what to do now, all at once."""
        now = time.monotonic()
        missing = self.plan.crowd - len(self.waiting)
        work: list[Any] = [self.join() for _ in range(min(missing, 20))]
        for due, do in ((self.enter_at, self.enter), (self.finish_at, self.finish)):
            ready = [item for item in due if item[0] <= now]
            due[:] = [item for item in due if item[0] > now]
            work += (do(ticket) for _, _, ticket in ready)
        if self.waiting:
            work.append(self.poll())
            if self.random.random() < 0.1:
                work.append(self.leave())
        if self.plan.advances:
            work.append(self.engine.advance(self.plan.room))
        return work

    async def _is_over(self, end: float) -> bool:
        if self.plan.seconds is not None:
            return time.monotonic() >= end
        client: Any = self.engine.backend.client
        return bool(await client.exists(OVER))

    async def run(self) -> None:
        """Continue until the time is over."""
        end = time.monotonic() + (self.plan.seconds or 0)
        while not await self._is_over(end):
            work = self.round()
            self.notes.add(op="round", in_flight=len(work))
            for result in await asyncio.gather(*work, return_exceptions=True):
                if isinstance(result, BackendUnavailable) and self.plan.outages:
                    self.unavailable += 1
                elif isinstance(result, BaseException):
                    raise result
            self.notes.add(op="rest")
            await asyncio.sleep(0.002)
        self.notes.add(op="end", unavailable=self.unavailable)


async def visit(plan: Plan) -> None:
    """Act as a worker: report ready, wait for the start, and go."""
    async with open_engine(plan.url) as engine:
        client = engine.backend.client
        await engine.stats(plan.room)
        await client.incr(READY)
        for _ in range(6_000):
            if await client.exists(GO):
                break
            await asyncio.sleep(0.01)
        await Visitors(plan, engine, Notes(plan.notes), random.Random(plan.seed)).run()


async def start_signal(client: Any, workers: int) -> None:
    """Wait until all workers are ready, and start them together."""
    for _ in range(6_000):
        if int(await client.get(READY) or 0) >= workers:
            break
        await asyncio.sleep(0.01)
    await client.set(GO, 1)


async def stop_signal(client: Any) -> None:
    """Stop all workers whose plan has no end."""
    await client.set(OVER, 1)
