"""How long a script may hold the server up: sessions end all at once, people are admitted."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from typing import Any

from bench.fill import Advance, Crowd
from bench.report import Figures, percentile
from bench.rig import Rig
from waitroom.engine import keys
from waitroom.engine.scripts import Verb, script
from waitroom.models import MEMBERS_PER_SCRIPT

PER_POLL = 128


async def measure_storm(
    rig: Rig, crowd: Crowd, inside: int, admitted: int, figures: Figures, advance: Advance
) -> None:
    """End every session of a room at once, admit others, and poll meanwhile."""
    engine, room = rig.engine, crowd.room
    key = keys.room_key(room, "inside")
    # All deadlines lie in the past from now on, in the order that they had.
    await rig.admin.zunionstore(key, {key: 1e-3})
    await engine.configure(room, capacity=admitted)
    await rig.configure(slowlog_max_len=200_000, slowlog_log_slower_than=0)
    await rig.admin.slowlog_reset()
    over = asyncio.Event()
    polls = asyncio.create_task(_poll_until(rig, crowd, over))
    began = time.perf_counter()
    expired = called = 0
    try:
        for _ in range(2 * (inside + admitted) // MEMBERS_PER_SCRIPT):
            done = await engine.advance(room)
            expired, called = expired + done.expired, called + done.called
            advance(done.expired + done.called)
            if not done.more:
                break
    finally:
        over.set()
        polled = await polls
    assert (expired, called) == (inside, admitted), f"{expired} expired, {called} called"
    figures["storm_s"] = time.perf_counter() - began
    figures["storm_expired"], figures["storm_admitted"] = expired, called
    figures["storm_polls"] = polled
    _note(figures, await _durations_ms(rig))
    await rig.configure(slowlog_log_slower_than=10_000)
    await rig.admin.slowlog_reset()


async def _poll_until(rig: Rig, crowd: Crowd, over: asyncio.Event) -> int:
    polled = 0
    while not over.is_set():
        await rig.engine.poll_many(crowd.room, crowd.some(PER_POLL))
        polled += PER_POLL
    return polled


async def _durations_ms(rig: Rig) -> dict[str, list[float]]:
    """Return how long each script call took, by verb. The log has every one of them."""
    verbs = {script(verb, rig.engine.runner.flags).sha: str(verb) for verb in Verb}
    found: dict[str, list[float]] = defaultdict(list)
    entries: list[dict[str, Any]] = await rig.admin.slowlog_get(200_000)
    for entry in entries:
        words = bytes(entry["command"]).split(b" ", 2)
        if words[0].upper() == b"EVALSHA":
            found[verbs.get(words[1].decode(), "other")].append(entry["duration"] / 1000)
    return found


def _note(figures: Figures, durations_ms: dict[str, list[float]]) -> None:
    """Take the worst verb's p99: many short polls must not hide a long advance."""
    for verb in ("advance", "poll"):
        figures[f"storm_{verb}_calls"] = len(durations_ms[verb])
        figures[f"{verb}_p50_ms"] = percentile(durations_ms[verb], 50)
        figures[f"{verb}_p99_ms"] = percentile(durations_ms[verb], 99)
    figures["script_p99_ms"] = max(figures["advance_p99_ms"], figures["poll_p99_ms"])
    figures["longest_script_ms"] = max(max(some) for some in durations_ms.values())
