"""Eight processes at once: no limit is exceeded, and nobody is lost, doubled or overtaken."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.acceptance import checks
from tests.acceptance.checks import Event
from tests.acceptance.tools import Log, everybody, finished, read_notes, workers
from tests.acceptance.visitors import Plan, start_signal, stop_signal, visit
from tests.support.clock import open_engine
from tests.support.counts import count
from tests.support.figures import say
from tests.support.servers import LONGEST_S, start_server
from waitroom.engine import Engine
from waitroom.models import Policy

ENTER_WITHIN_S = 0.6
# Low enough to be reached on a busy machine, so that exceeding them would show.
EVERY = Policy(
    capacity=48,
    batch=10,
    every_s=0.2,
    max_entries=88,
    per_s=1.8,
    session_s=0.4,
    enter_within_s=ENTER_WITHIN_S,
)
PACED = Policy(batch=16, every_s=0.25, session_s=0.5, enter_within_s=ENTER_WITHIN_S)
ONLY_CAPACITY = Policy(capacity=24, session_s=0.4, enter_within_s=ENTER_WITHIN_S)


@pytest.mark.parametrize(
    "policy", [EVERY, ONLY_CAPACITY, PACED], ids=["all-limits", "capacity", "pace"]
)
async def test_eight_processes_at_once(policy: Policy, tmp_path: Path) -> None:
    """Never above a limit in any window, nobody lost, doubled or called twice; order = arrival."""
    processes, room = count("hammer_processes"), "hammer"
    with start_server("valkey", tmp_path / "s") as server:
        async with open_engine(server.url) as engine:
            client = engine.backend.client
            await engine.create(room, policy)
            plans = [
                (
                    Plan(
                        url=server.url,
                        room=room,
                        notes=tmp_path / f"{number}.notes",
                        seed=number,
                        seconds=None,
                        enter_within_s=ENTER_WITHIN_S,
                    ),
                )
                for number in range(processes)
            ]
            log = Log(client, room)
            with workers(visit, *plans) as running:
                await start_signal(client, processes)
                async with log.follow():
                    await _entered(engine, room, count("hammer_admissions"))
                    await stop_signal(client)
                    await finished(running, LONGEST_S)
            states = await everybody(client, room)
            counters = (await engine.stats(room)).counters
    assert counters["called_total"] == len(checks.called_ids(log.events)), "the log has a gap"
    _judge(policy, log.events, states, tmp_path, least=count("hammer_admissions"))


async def _entered(engine: Engine, room: str, people: int) -> None:
    """Wait until this many have gone inside."""
    while (await engine.stats(room)).counters["entered"] < people:  # noqa: ASYNC110
        await asyncio.sleep(0.05)


def _judge(
    policy: Policy, events: list[Event], states: dict[str, dict[str, int]], folder: Path, least: int
) -> None:
    notes = read_notes(folder)
    joins = [note for note in notes if note["op"] == "join"]
    assert count("hammer_processes") == sum(note["op"] == "end" for note in notes)
    places = {note["id"]: note["place"] for note in joins}
    direct = {note["id"] for note in joins if note["direct"]}
    late = sum(note["op"] == "refused" and note["code"] == "turn_passed" for note in notes)
    called = checks.called_ids(events)
    entries = checks.moments(events, "entered")
    assert policy.session_s is not None
    result = checks.replay(
        events,
        round(policy.session_s * 1000),
        round(ENTER_WITHIN_S * 1000),
        # Entries are counted in buckets of 1/60 of the window: each may count that much longer.
        round((policy.per_s or 0) * 1e6 * 61 / 60),
    )

    say(
        f"{len(joins)} joined, {len(called)} called ({len(direct)} at once), {len(entries)} "
        f"entered, {late} came too late, {len(states['waiting'])} wait; most held {result.peak}"
    )
    assert len(entries) >= least, f"only {len(entries)} admissions were checked"
    assert late > 0
    assert [] == result.wrong
    assert [] == checks.twice(called)
    assert [] == checks.twice(place for place in map(str, places.values()))
    assert [] == checks.overtaken(called, places)
    assert [] == checks.lost(places, events, *states.values())
    assert [] == checks.in_two_states(**states)
    if policy.capacity is not None:
        assert policy.capacity == result.peak, "passed, or never reached"
    if policy.max_entries is not None and policy.per_s is not None:
        most = checks.most_in_window(entries, round(policy.per_s * 1e6))
        assert most <= policy.max_entries
        # Turns reserve entries: together they use up the limit, though some never come.
        assert result.reserved >= policy.max_entries, "never reached"
    if policy.batch is not None and policy.every_s is not None:
        most = checks.most_per_slot(events, round(policy.every_s * 1000), direct)
        assert policy.batch == most, "passed, or never reached"
