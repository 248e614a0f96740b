"""Fills rooms through the engine's own joins, and fills the structures of the comparison."""

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
from waitroom.engine import Join, keys
from waitroom.models import MEMBERS_PER_SCRIPT, Policy, State, TicketView

KEPT = 1_000_000
"""Most tickets that a crowd remembers, spread over the line: ten million would fill the memory."""

FRONT = 10_000
"""How many places count as the front of the line: their people poll most often."""

Advance = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Crowd:
    """A filled room, with tickets of people who wait in it: in order, every `step`th."""

    room: str
    tickets: list[str]
    step: int = 1

    def some(self, count: int) -> list[str]:
        """Return random tickets."""
        return random.sample(self.tickets, count)

    @property
    def front(self) -> Crowd:
        """The part of it that waits in front."""
        return Crowd(self.room, self.tickets[: FRONT // self.step], self.step)


@dataclass(frozen=True, slots=True)
class SeedLine:
    """The line and the last polls as seed 004 stores them: two sorted sets."""

    line: str
    last_polls: str
    tokens: list[str]


async def fill_room(rig: Rig, room: str, inside: int, advance: Advance, step: int = 1) -> Crowd:
    """Make a room with people inside, so that everybody else waits."""
    policy = Policy(
        capacity=inside, session_s=86_400, enter_within_s=3_600, presence_s=3_600, recover_s=0
    )
    await rig.engine.create(room, policy)
    for count in _batches(inside):
        await _join(rig, room, count, State.INSIDE)
        advance(count)
    return Crowd(room, [], step)


async def let_join(rig: Rig, crowd: Crowd, waiting: int, advance: Advance) -> None:
    """Make people join a room and wait there; remember every `step`th, from first to last."""
    joined = 0
    for count in _batches(waiting):
        tickets = await _join(rig, crowd.room, count, State.WAITING)
        crowd.tickets.extend(every(crowd.step, joined, tickets))
        joined += count
        advance(count)


def step_for(waiting: int, most: int = KEPT) -> int:
    """Return which share of a crowd is remembered, so that it stays within a limit."""
    return -(-waiting // most)


def every(step: int, before: int, items: list[str]) -> list[str]:
    """Return every `step`th of a list that continues after `before` others."""
    return items[-before % step :: step]


async def _join(rig: Rig, room: str, count: int, expected: State) -> list[str]:
    joins = [Join(enter=expected is State.INSIDE)] * count
    views = await rig.engine.join_many(room, joins)
    good = [view for view in views if isinstance(view, TicketView) and view.state is expected]
    assert len(good) == count, f"only {len(good)} of {count} are {expected}"
    return [view.ticket for view in good]


async def poll_everybody(rig: Rig, crowd: Crowd, advance: Advance) -> None:
    """Make every remembered ticket poll once, in random order."""
    tickets = crowd.some(len(crowd.tickets))
    for start in range(0, len(tickets), MEMBERS_PER_SCRIPT):
        some = tickets[start : start + MEMBERS_PER_SCRIPT]
        await rig.engine.poll_many(crowd.room, some)
        advance(len(some))


async def fill_measured(rig: Rig, scale: Scale, figures: Figures, advance: Advance) -> Crowd:
    """Fill the big room, and measure what each waiting person costs."""
    crowd = await fill_room(rig, "big", scale.inside, advance, step_for(scale.waiting))
    await asyncio.sleep(0.3)  # until buffers of clients and of the file are freed
    used, resident = await rig.memory()
    before = await rig.usec("evalsha")
    began = time.perf_counter()
    await let_join(rig, crowd, scale.waiting, advance)
    took = time.perf_counter() - began
    spent = await rig.usec("evalsha") - before
    await poll_everybody(rig, crowd, advance)
    await asyncio.sleep(0.3)
    used_after, resident_after = await rig.memory()
    figures["bytes_per_waiter"] = (used_after - used) / scale.waiting
    figures["rss_per_waiter"] = (resident_after - resident) / scale.waiting
    for name in ("waiting", "seen"):
        size = await rig.admin.memory_usage(keys.room_key(crowd.room, name), samples=1000)
        figures[f"{name}_bytes"] = (size or 0) / scale.waiting
    figures["fill_joins_per_s"] = scale.waiting / took
    figures["join_us"] = spent / scale.waiting
    return crowd


async def fill_seed(rig: Rig, waiting: int, advance: Advance) -> SeedLine:
    """Make the structures of seed 004 as its crowd leaves them, with one poll each as well."""
    made = SeedLine("seed:line", "seed:last_polls", [])
    sha = await rig.admin.script_load(lua("seed004_join"))
    first_ms = int(time.time() * 1000) - waiting
    step, joined = step_for(waiting), 0
    for count in _batches(waiting):
        tokens = [secrets.token_urlsafe(12) for _ in range(count)]
        await rig.admin.evalsha(sha, 2, made.line, made.last_polls, str(first_ms), *tokens)
        first_ms += count
        made.tokens.extend(every(step, joined, tokens))
        joined += count
        advance(count)
    random.shuffle(made.tokens)
    for start in range(0, len(made.tokens), MEMBERS_PER_SCRIPT):
        some = made.tokens[start : start + MEMBERS_PER_SCRIPT]
        now_ms = int(time.time() * 1000)
        await rig.admin.zadd(made.last_polls, dict.fromkeys(some, now_ms))
        advance(len(some))
    return made


async def fill_others(rig: Rig, count: int, advance: Advance) -> None:
    """Set foreign keys, each with a TTL."""
    script = lua("unrelated")
    step = 2_000
    for start in range(0, count, step):
        await rig.admin.eval(script, 0, str(start), str(min(start + step, count) - 1))
        advance(min(step, count - start))


def _batches(total: int) -> list[int]:
    whole, rest = divmod(total, MEMBERS_PER_SCRIPT)
    return [MEMBERS_PER_SCRIPT] * whole + [rest] * (rest > 0)
