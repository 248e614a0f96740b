"""Policies change and clocks step while people queue: limits hold, nothing jams, nothing bursts.

Each seed is a random history on a virtual clock. The event stream is judged by the policy in force
at each moment, in room time (which stops when the clock steps back).
"""

from __future__ import annotations

import contextlib
import random
from collections import deque
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.acceptance import checks
from tests.acceptance.tools import Log, members, place_of
from tests.support.clock import Clock, crowd, open_engine
from tests.support.counts import count
from tests.support.figures import say
from tests.support.servers import Server
from waitroom.engine import Engine
from waitroom.engine.keys import room_key
from waitroom.errors import EnterLater, Refused, SessionOver
from waitroom.models import Mode, Policy, State

ENTER_WITHIN_S = 20
SANE: dict[str, Any] = {"capacity": 40, "batch": 10, "every_s": 2, "max_entries": 30, "per_s": 5}
LONGEST_S = 60
"""The longest window and slot below."""


@dataclass(slots=True)
class History:
    """One room, its visitors and a judge."""

    engine: Engine
    room: str
    clock: Clock
    random: random.Random
    log: Log
    policy: Policy
    tickets: dict[str, str] = field(default_factory=dict)
    places: dict[str, int] = field(default_factory=dict)
    inside: list[str] = field(default_factory=list)
    entries: deque[int] = field(default_factory=deque)
    called: list[str] = field(default_factory=list)
    calls: list[tuple[int, int]] = field(default_factory=list)
    """When and how many the line has called since the pace last changed: room time in ms."""
    entered: int = 0
    reached: int = 0

    async def arrive(self, people: int) -> None:
        """Add people to the line; it is never empty, so nobody is called directly."""
        for view in await crowd(self.engine, self.room, people):
            self.tickets[view.id] = view.ticket
            self.places[view.id] = place_of(self.room, view.ticket)
        await self.judge()

    async def change(self) -> None:
        """Change some fields of the policy."""
        pick, changes = self.random.choice, dict[str, Any]()
        for which in self.random.sample(("capacity", "pace", "every", "max", "per", "both"), 2):
            if which == "capacity":
                changes["capacity"] = pick((5, 10, 25, 50, None))
            elif which == "pace":
                changes["batch"] = pick((1, 3, 10, 40))
            elif which == "every":
                changes["every_s"] = pick((0.25, 1, 5, 20, 60))
            elif which == "max":
                changes["max_entries"] = pick((2, 5, 20, 60))
            elif which == "per":
                changes["per_s"] = pick((1, 2.5, 10, 30, 59.95, 60))
            else:
                changes.update(max_entries=pick((5, 20, 60)), per_s=pick((1, 5, 30, 60)))
        await self.set(**changes)

    async def set(self, **changes: Any) -> None:
        """Change these fields."""
        self.policy = (await self.engine.configure(self.room, **changes)).new.policy
        if {"batch", "every_s"} & set(changes):
            self.calls.clear()

    async def advance(self) -> None:
        """Advance until nothing more is due now, as the ticker does."""
        for _ in range(20):
            done = await self.engine.advance(self.room)
            await self.judge()
            if not done.more:
                return
        raise AssertionError("`advance` never comes to an end")

    async def enter(self, share: float) -> None:
        """Let a share of the called people enter; the others come later, or never."""
        for ticket_id in list(await members(self.engine.backend.client, self.room, "called")):
            if self.random.random() >= share:
                continue
            try:
                view = await self.engine.enter(self.room, self.tickets[ticket_id])
                assert State.INSIDE == view.state
                self.inside.append(ticket_id)
            except EnterLater:
                self.reached += 1
            except Refused:
                pass
            await self.judge()

    async def finish(self, share: float) -> None:
        """Let a share of the people inside finish."""
        ready = [ticket_id for ticket_id in self.inside if self.random.random() < share]
        for ticket_id in ready:
            self.inside.remove(ticket_id)
            with contextlib.suppress(SessionOver):
                await self.engine.finish(self.room, self.tickets[ticket_id])
            await self.judge()

    async def judge(self) -> None:
        """Judge every new event by the policy of this moment."""
        policy, client = self.policy, self.engine.backend.client
        for event in await self.log.catch_up():
            if event.kind == "entered":
                await self._judge_entry(event.at_ms)
            if event.kind != "called":
                continue
            self.called += event.ids
            self.calls.append((event.at_ms, len(event.ids)))
            if policy.batch is not None and policy.every_s is not None:
                since = event.at_ms - policy.every_s * 1000
                recent = sum(n for at, n in self.calls if at > since)
                assert recent <= 2 * policy.batch, "more than two slots' calls within one slot"
            if policy.capacity is not None:
                states = [await members(client, self.room, name) for name in ("called", "inside")]
                places = sum(until > event.at_ms for state in states for until in state.values())
                assert places <= policy.capacity, "called above capacity"
                self.reached += places == policy.capacity

    async def _judge_entry(self, at_ms: int) -> None:
        policy = self.policy
        self.entered += 1
        self.entries.append(at_ms)
        while self.entries[0] < at_ms - LONGEST_S * 1000:
            self.entries.popleft()
        if policy.max_entries is not None and policy.per_s is not None:
            inside = sum(at >= at_ms - policy.per_s * 1000 for at in self.entries)
            assert inside <= policy.max_entries, f"{inside} entries in {policy.per_s} s: {policy}"
            self.reached += inside == policy.max_entries


async def _start(engine: Engine, room: str, clock: Clock, seed: int) -> History:
    policy = Policy(
        **SANE,
        session_s=15,
        enter_within_s=ENTER_WITHIN_S,
        presence_s=None,
        ticket_ttl_s=None,
    )
    await engine.create(room, policy.change(mode="paused"))
    history = History(
        engine=engine,
        room=room,
        clock=clock,
        random=random.Random(seed),
        log=Log(engine.backend.client, room),
        policy=policy,
    )
    await history.arrive(60)
    await engine.configure(room, mode="open")
    return history


async def _one_history(history: History, steps: int) -> None:
    draw = history.random.random
    for _ in range(steps):
        history.clock.step(history.random.choice((0, 0.05, 0.3, 1, 3)))
        if draw() < 0.15:
            await history.change()
        if draw() < 0.05:
            history.clock.step(history.random.choice((-60, 60)))
        if draw() < 0.3:
            await history.arrive(history.random.randrange(1, 20))
        await history.advance()
        await history.enter(history.random.choice((0, 0.3, 1)))
        await history.finish(history.random.choice((0, 0.2, 1)))


async def _everybody_gets_in(history: History) -> None:
    """With a sane policy back, all are called within the expected time, and nothing jams before."""
    await history.set(**SANE)
    client = history.engine.backend.client
    left = len(await members(client, history.room, "waiting"))
    # First the used part of the longest window and slot, and everybody called or inside, must pass.
    seconds = LONGEST_S * 2 + ENTER_WITHIN_S + 15 + left * 5 / 30 * 1.5
    for _ in range(round(seconds)):
        history.clock.step(1)
        await history.advance()
        await history.enter(1)
        await history.finish(1)
        if not await members(client, history.room, "waiting"):
            return
    raise AssertionError(f"jammed: of {left} some still wait after {seconds:.0f} s")


@pytest.mark.parametrize("seed", range(count("live_change_seeds")))
async def test_random_changes(server: Server, room: str, clock: Clock, seed: int) -> None:
    """`per_s`, `every_s`, ... changed live, clock ±60 s: limits, order and progress hold."""
    async with open_engine(server.url, clock) as engine:
        history = await _start(engine, room, clock, seed)
        await _one_history(history, 80)
        await _everybody_gets_in(history)
    assert [] == checks.overtaken(history.called, history.places)
    assert set(history.called) == set(history.places), "somebody was lost"
    assert history.entered > 50
    assert history.reached > 0, "no limit was ever reached"
    say(f"{history.entered} entries judged, a limit was reached {history.reached} times")


async def test_a_longer_window_remembers_a_busier_past(
    server: Server, room: str, clock: Clock
) -> None:
    """100 per 60 s, then 1 per 1 s, then 100 per 60 s again: still 100 in any 60 s."""
    async with open_engine(server.url, clock) as engine:
        await engine.create(room, Policy(max_entries=100, per_s=60))
        for _ in range(100):
            assert State.INSIDE == (await engine.join(room, enter=True)).state
        await engine.configure(room, max_entries=1, per_s=1)
        clock.step(3)
        inside = [(await engine.join(room, enter=True)).state]
        await engine.configure(room, max_entries=100, per_s=60)
        for _ in range(20):
            clock.step(1)
            inside.append((await engine.join(room, enter=True)).state)
        assert inside.count(State.INSIDE) <= 1, "more than the limit within 24 s"
        clock.step(60)
        await engine.advance(room)
        assert 0 < len(await members(engine.backend.client, room, "called")), "jammed"


async def test_a_limit_that_comes_later_counts_what_went_before(
    server: Server, room: str, clock: Clock
) -> None:
    """No limit at first, then 100 per 300 s: those who went inside within 300 s count."""
    async with open_engine(server.url, clock) as engine:
        await engine.create(room, Policy())
        for _ in range(100):
            assert State.INSIDE == (await engine.join(room, enter=True)).state
        clock.step(120)
        await engine.join(room, enter=True)
        await engine.configure(room, max_entries=100, per_s=300)
        last = await engine.join(room, enter=True)
        assert State.WAITING == last.state
        waited_s = 0
        while (await engine.poll(room, last.ticket)).state is State.WAITING and waited_s < 600:
            clock.step(10)
            waited_s += 10
            await engine.advance(room)
        assert 180 <= waited_s <= 310, "more than the limit, or jammed"


async def test_flipping_the_pace_gives_no_extra_slot(
    server: Server, room: str, clock: Clock
) -> None:
    """Changing `every_s` to and fro within one instant calls no more people than one slot would."""
    async with open_engine(server.url, clock) as engine:
        await engine.create(room, Policy(batch=10, every_s=10, mode=Mode.PAUSED, session_s=None))
        await crowd(engine, room, 200)
        await engine.configure(room, mode="open")
        called = (await engine.advance(room)).called
        clock.step(0.2)
        for every_s in (1, 20, 0.5, 60, 10) * 5:
            await engine.configure(room, every_s=every_s)
            called += (await engine.advance(room)).called
        assert 10 == called
        assert 20 == called + await _called_after(engine, room, clock, 60)


async def _called_after(engine: Engine, room: str, clock: Clock, seconds: float) -> int:
    clock.step(seconds)
    return (await engine.advance(room)).called


@pytest.mark.parametrize("step_s", [-60, 60, -3600, 3600])
async def test_a_stepped_clock_neither_jams_nor_bursts(
    valkey: Server, room: str, clock: Clock, step_s: int
) -> None:
    """After the step, at most one slot and one window are called at once, and calls continue."""
    async with open_engine(valkey.url, clock) as engine:
        policy = Policy(
            batch=5,
            every_s=6,
            max_entries=50,
            per_s=60,
            session_s=None,
            presence_s=None,
            recover_s=30,
        )
        await engine.create(room, policy.change(mode="paused"))
        views = await crowd(engine, room, 300)
        await engine.configure(room, mode="open")
        log, client = Log(engine.backend.client, room), engine.backend.client
        by_id = {view.id: view.ticket for view in views}

        async def minute() -> list[int]:
            calls = []
            for _ in range(60):
                clock.step(1)
                calls.append((await engine.advance(room)).called)
                for ticket_id in await members(client, room, "called"):
                    await engine.enter(room, by_id[ticket_id])
            return calls

        before = await minute()
        offset = int(await client.hget(room_key(room, "meta"), "offset") or 0)
        assert (50, 0) == (sum(before), offset)
        clock.step(step_s)
        after = [await minute(), await minute()]
        assert max(after[0] + after[1]) <= 5, "burst"
        assert sum(after[0]) <= 50
        assert sum(after[0]) >= 20, "jammed"
        assert sum(after[1]) >= 45, "jammed"
        await log.catch_up()
        entries = checks.moments(log.events, "entered")
        assert checks.most_in_window(entries, 60_000_000) <= 50
        places = {view.id: place_of(room, view.ticket) for view in views}
        assert [] == checks.overtaken(checks.called_ids(log.events), places)
