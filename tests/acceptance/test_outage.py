"""All our processes are away for a while: nobody loses their place or their turn."""

from __future__ import annotations

import random

import pytest

from tests.acceptance.tools import members
from tests.support.clock import Clock, advance_all, crowd, open_engine
from tests.support.counts import count
from tests.support.figures import say
from tests.support.servers import Server
from waitroom.models import Policy, State, TicketView, preset

OUTAGE_S = 600


@pytest.mark.parametrize(
    "policy",
    [Policy(capacity=10), preset("per-minute"), preset("batch", batch=5), preset("slots")],
    ids=["capacity", "per-minute", "batch", "slots"],
)
async def test_ten_minutes_without_us(
    server: Server, room: str, clock: Clock, policy: Policy
) -> None:
    """0 lost places, nobody swept because we were silent, nobody called before `recover_s`."""
    people = count("outage_people")
    async with open_engine(server.url, clock) as engine:
        await engine.create(room, policy)
        views = await crowd(engine, room, people)
        await advance_all(engine, room)
        before = await members(engine.backend.client, room, "waiting")
    assert len(before) > people // 2
    clock.step(OUTAGE_S)

    shuffled = list(views)
    random.Random(1).shuffle(shuffled)
    async with open_engine(server.url, clock) as first, open_engine(server.url, clock) as other:
        # First the tickers: they are as quick as the first visitor.
        assert 0 == await advance_all(first, room) + await advance_all(other, room)
        assert before == await members(first.backend.client, room, "waiting")
        # Then everybody is back within a minute, and polls as slowly as a hidden tab.
        called = 0
        for second in range(90):
            some = shuffled[second % 60 :: 60]
            for start in range(0, len(some), 500):
                await other.poll_many(room, [view.ticket for view in some[start : start + 500]])
            called = await advance_all(first, room)
            if called:
                break
            assert before == await members(first.backend.client, room, "waiting")
            clock.step(1)
        assert policy.recover_s <= second <= policy.recover_s + 10, "too early, or jammed"
        after = await members(first.backend.client, room, "waiting")
        assert list(before)[called:] == list(after), "not in the old order, or swept"
        counters = (await first.stats(room)).counters
        assert (0, 0) == (counters["abandoned"], counters["restored"])
    say(f"outage of {OUTAGE_S} s hit {len(before)} who wait; 0 lost, then {called} called")


async def test_a_turn_outlives_our_silence(server: Server, room: str, clock: Clock) -> None:
    """Anybody called before we fell silent gets a whole turn again, even after a second outage."""
    async with open_engine(server.url, clock) as engine:
        await engine.create(room, Policy(capacity=1, enter_within_s=60, session_s=600))
        who = (await crowd(engine, room, 3))[0]
        assert State.CALLED == who.state
        for outage in range(2):
            clock.step(10)
            await engine.advance(room)
            clock.step(OUTAGE_S)
            done = await engine.advance(room)
            assert (0, 0) == (done.no_shows, done.called), f"outage {outage + 1}"
        assert clock.now_ms + 60_000 == (await engine.poll(room, who.ticket)).enter_by_ms
        clock.step(30)
        await engine.advance(room)
        clock.step(29)
        assert State.INSIDE == (await engine.enter(room, who.ticket)).state


async def test_silence_of_visitors_is_still_seen(server: Server, room: str, clock: Clock) -> None:
    """While we run, anybody who stops polling is dropped after `presence_s`; others stay."""
    async with open_engine(server.url, clock) as engine:
        await engine.create(room, Policy(capacity=1, presence_s=60, session_s=None))
        inside, *views = [await engine.join(room, enter=True) for _ in range(21)]
        assert State.INSIDE == inside.state
        stay: list[TicketView] = views[::2]
        for _ in range(150):
            clock.step(1)
            await engine.advance(room)
            await engine.poll_many(room, [view.ticket for view in stay])
        assert [view.id for view in stay] == list(
            await members(engine.backend.client, room, "waiting")
        )
