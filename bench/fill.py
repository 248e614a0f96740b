"""Fills rooms through the engine's own joins, and the structures that it is compared with."""

from __future__ import annotations

import asyncio
import random
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass

from bench.report import Figures
from bench.rig import Rig, lua
from bench.scale import Scale
from waitroom.engine import Join
from waitroom.models import MEMBERS_PER_SCRIPT, Policy, State, TicketView

KEPT = 1_000_000
"""Most tickets that a crowd remembers, so that ten million fit into this process."""

Advance = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Crowd:
    """A filled room, with tickets of people who wait in it."""

    room: str
    waiting: int
    tickets: list[str]

    def some(self, count: int) -> list[str]:
        """Return tickets at random."""
        return random.sample(self.tickets, count)


@dataclass(frozen=True, slots=True)
class SeedLine:
    """The line and the last polls as seed 004 keeps them: two sorted sets."""

    line: str
    last_polls: str
    tokens: list[str]


async def fill_room(rig: Rig, room: str, waiting: int, inside: int, advance: Advance) -> Crowd:
    """Make a room with people inside, then people waiting, who have polled once."""
    policy = Policy(
        capacity=max(inside, 1),
        session_s=86_400,
        enter_within_s=3_600,
        presence_s=3_600,
        recover_s=0,
    )
    await rig.engine.create(room, policy)
    for count in _batches(max(inside, 1)):
        await _join(rig, room, count, State.INSIDE)
        advance(count)
    tickets: list[str] = []
    for count in _batches(waiting):
        joined = await _join(rig, room, count, State.WAITING)
        advance(count)
        if len(tickets) < KEPT:
            tickets += joined
    return Crowd(room, waiting, tickets)


async def _join(rig: Rig, room: str, count: int, expected: State) -> list[str]:
    joins = [Join(enter=expected is State.INSIDE)] * count
    views = await rig.engine.join_many(room, joins)
    good = [view for view in views if isinstance(view, TicketView) and view.state is expected]
    assert len(good) == count, f"only {len(good)} of {count} are {expected}"
    return [view.ticket for view in good]


async def poll_everybody(rig: Rig, crowd: Crowd, advance: Advance) -> None:
    """Let everybody that is remembered poll once, in random order."""
    random.shuffle(crowd.tickets)
    for start in range(0, len(crowd.tickets), MEMBERS_PER_SCRIPT):
        some = crowd.tickets[start : start + MEMBERS_PER_SCRIPT]
        await rig.engine.poll_many(crowd.room, some)
        advance(len(some))


async def fill_measured(rig: Rig, scale: Scale, figures: Figures, advance: Advance) -> Crowd:
    """Fill the big room, and note what each person who waits costs."""
    room = "big"
    crowd = await fill_room(rig, room, 0, scale.inside, advance)
    await asyncio.sleep(0.3)  # buffers of clients and of the file go back
    used, resident = await rig.memory()
    before = await rig.usec("evalsha")
    began = time.perf_counter()
    for count in _batches(scale.waiting):
        joined = await _join(rig, room, count, State.WAITING)
        advance(count)
        if len(crowd.tickets) < KEPT:
            crowd.tickets.extend(joined)
    took = time.perf_counter() - began
    spent = await rig.usec("evalsha") - before
    crowd = Crowd(room, scale.waiting, crowd.tickets)
    await poll_everybody(rig, crowd, advance)
    await asyncio.sleep(0.3)
    used_after, resident_after = await rig.memory()
    figures["bytes_per_waiter"] = (used_after - used) / scale.waiting
    figures["rss_per_waiter"] = (resident_after - resident) / scale.waiting
    for name in ("waiting", "seen"):
        size = await rig.admin.memory_usage(f"wr:{{{room}}}:{name}", samples=1000)
        figures[f"{name}_bytes"] = (size or 0) / scale.waiting
    figures["fill_joins_per_s"] = scale.waiting / took
    figures["join_us"] = spent / scale.waiting
    return crowd


async def fill_seed(rig: Rig, waiting: int, advance: Advance) -> SeedLine:
    """Make the structures of seed 004 as its crowd would leave them: polled in random order."""
    made = SeedLine("seed:line", "seed:last_polls", [])
    now_ms = int(time.time() * 1000) - waiting
    kept: list[tuple[str, int]] = []
    number = 0
    for count in _batches(waiting):
        some = {secrets.token_urlsafe(12): now_ms + number + i for i in range(count)}
        number += count
        await rig.admin.zadd(made.line, some)
        kept += some.items()
        advance(count)
        if len(kept) >= KEPT or number == waiting:
            await _seed_polls(rig, made, kept, advance)
            kept = []
    return made


async def _seed_polls(
    rig: Rig, made: SeedLine, arrivals: list[tuple[str, int]], advance: Advance
) -> None:
    random.shuffle(arrivals)
    now_ms = int(time.time() * 1000)
    for start in range(0, len(arrivals), MEMBERS_PER_SCRIPT):
        some = arrivals[start : start + MEMBERS_PER_SCRIPT]
        await rig.admin.zadd(made.last_polls, {token: now_ms + start // 100 for token, _ in some})
        advance(len(some))
    if len(made.tokens) < KEPT:
        made.tokens.extend(token for token, _ in arrivals)


async def fill_others(rig: Rig, count: int, advance: Advance) -> None:
    """Set keys of somebody else, each with a TTL."""
    script = lua("unrelated")
    step = 2_000
    for start in range(0, count, step):
        await rig.admin.eval(script, 0, str(start), str(min(start + step, count) - 1))
        advance(min(step, count - start))


def _batches(total: int) -> list[int]:
    whole, rest = divmod(total, MEMBERS_PER_SCRIPT)
    return [MEMBERS_PER_SCRIPT] * whole + [rest] * (rest > 0)
