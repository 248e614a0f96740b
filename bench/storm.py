"""The longest that a script blocks the server: all sessions end at once, people are admitted."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from bench.fill import Advance, Crowd
from bench.report import Figures, percentile
from bench.rig import Rig
from waitroom.engine import keys
from waitroom.engine.scripts import Verb, script
from waitroom.models import MEMBERS_PER_SCRIPT

PER_POLL = 128
LOGGED_US = 250
"""Longer scripts are logged individually. With a lower limit the log would fill with the commands
inside them, and slow them down."""


async def measure_storm(
    rig: Rig, crowd: Crowd, inside: int, admitted: int, figures: Figures, advance: Advance
) -> None:
    """End every session of a room at once, admit others, and poll meanwhile."""
    engine, room = rig.engine, crowd.room
    key = keys.room_key(room, "inside")
    # Move all deadlines into the past, in the same order.
    await rig.admin.zunionstore(key, {key: 1e-3})
    await engine.configure(room, capacity=admitted)
    await rig.configure(slowlog_max_len=200_000, slowlog_log_slower_than=LOGGED_US)
    await rig.admin.slowlog_reset()
    over = asyncio.Event()
    polls = asyncio.create_task(_poll_until(rig, crowd, over))
    began = time.perf_counter()
    expired = called = steps = 0
    try:
        for _ in range(2 * (inside + admitted) // MEMBERS_PER_SCRIPT):
            done = await engine.advance(room)
            expired, called, steps = expired + done.expired, called + done.called, steps + 1
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
    _note(figures, "advance", steps, await _longer_ms(rig, Verb.ADVANCE))
    _note(figures, "poll", polled // PER_POLL, await _longer_ms(rig, Verb.POLL))
    for figure, each in (("script_p99_ms", "p99_ms"), ("longest_script_ms", "longest_ms")):
        # The figure of the slower verb, because many short polls must not hide a long advance.
        figures[figure] = max(figures[f"advance_{each}"], figures[f"poll_{each}"])
    await rig.configure(slowlog_log_slower_than=10_000)
    await rig.admin.slowlog_reset()


async def _poll_until(rig: Rig, crowd: Crowd, over: asyncio.Event) -> int:
    polled = 0
    while not over.is_set():
        await rig.engine.poll_many(crowd.room, crowd.some(PER_POLL))
        polled += PER_POLL
    return polled


async def _longer_ms(rig: Rig, verb: Verb) -> list[float]:
    """Return how long the logged calls of a verb took."""
    sha = script(verb, rig.engine.backend.facts.scripts_take_flags).sha.encode()
    entries: list[dict[str, Any]] = await rig.admin.slowlog_get(200_000)
    return [
        entry["duration"] / 1000
        for entry in entries
        if bytes(entry["command"]).upper().startswith(b"EVALSHA " + sha.upper())
    ]


def _note(figures: Figures, verb: str, calls: int, longer_ms: list[float]) -> None:
    every_ms = [LOGGED_US / 1000] * (calls - len(longer_ms)) + longer_ms
    figures[f"storm_{verb}_calls"] = calls
    figures[f"{verb}_p50_ms"] = percentile(every_ms, 50)
    figures[f"{verb}_p99_ms"] = percentile(every_ms, 99)
    figures[f"{verb}_longest_ms"] = max(every_ms)
