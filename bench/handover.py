"""How long after a session's end the next person is called, compared with expiry by TTL."""

from __future__ import annotations

import asyncio
import random
import time
from typing import Any

from redis.asyncio.client import PubSub

from bench.fill import Advance
from bench.report import Figures, percentile
from bench.rig import Rig
from waitroom.engine import keys
from waitroom.models import Policy, State
from waitroom.ticker import Ticker

ROOMS = 4
SESSION_S = 5.0
EXPIRING = 2_000
TTL_S = 2.0


async def measure_handovers(rig: Rig, samples: int, figures: Figures, advance: Advance) -> None:
    """Make sessions end one by one in several rooms, where only the ticker acts."""
    async with Ticker(rig.engine):
        delays = await asyncio.gather(
            *(_one_room(rig, f"handover{i}", samples // ROOMS, advance) for i in range(ROOMS))
        )
    delays_ms = [delay for some in delays for delay in some]
    figures["handovers"] = len(delays_ms)
    figures["handover_p50_ms"] = percentile(delays_ms, 50)
    figures["handover_p99_ms"] = percentile(delays_ms, 99)
    figures["handover_longest_ms"] = max(delays_ms)


async def _one_room(rig: Rig, room: str, samples: int, advance: Advance) -> list[float]:
    policy = Policy(
        capacity=samples, session_s=SESSION_S, enter_within_s=3_600, presence_s=3_600, recover_s=0
    )
    await rig.engine.create(room, policy)
    gap_s = 0.6 * SESSION_S / samples
    ends_ms: list[int] = []
    for _ in range(samples):
        view = await rig.engine.join(room, enter=True)
        assert view.session_ends_at_ms is not None
        ends_ms.append(view.session_ends_at_ms)
        await asyncio.sleep(random.uniform(0, 2 * gap_s))
    waiting = [await rig.engine.join(room) for _ in range(samples)]
    assert all(view.state is State.WAITING for view in waiting), "a session ended too early"
    await asyncio.sleep(max(0.0, ends_ms[-1] / 1000 - time.time()) + 0.5)
    called_us = await _called_us(rig, room, {view.id for view in waiting})
    assert len(called_us) == samples, f"only {len(called_us)} of {samples} were called"
    advance(samples)
    # The n-th person called gets the place of the n-th session that ended.
    return [at / 1000 - end for at, end in zip(called_us, sorted(ends_ms), strict=True)]


async def _called_us(rig: Rig, room: str, ids: set[str]) -> list[int]:
    """Return the moments at which `ids` were called, from the room's events."""
    called_us: list[int] = []
    events: Any = await rig.admin.xrange(keys.room_key(room, "events"))
    for _, fields in events:
        if fields[b"kind"] == b"called":
            called = ids.intersection(fields[b"ids"].decode().split())
            called_us += [int(fields[b"at"])] * len(called)
    return called_us


async def measure_keyspace(rig: Rig, within_s: float, figures: Figures) -> None:
    """Count the `expired` notifications of sessions kept as TTL keys, as hand-written queues do."""
    await rig.configure(notify_keyspace_events="Ex")
    pubsub = rig.admin.pubsub()
    await pubsub.subscribe("__keyevent@0__:expired")
    pipe = rig.admin.pipeline(transaction=False)
    for i in range(EXPIRING):
        pipe.set(f"session:{i}", "1", px=int(TTL_S * 1000))
    await pipe.execute()
    delivered = await _count(pubsub, time.monotonic() + TTL_S + within_s)
    await pubsub.aclose()  # type: ignore[no-untyped-call]
    await rig.configure(notify_keyspace_events="")
    figures["keyspace_delivered_pct"] = 100 * delivered / EXPIRING
    figures["keyspace_seconds"] = within_s


async def _count(pubsub: PubSub, deadline: float) -> int:
    delivered = 0
    while delivered < EXPIRING and (left := deadline - time.monotonic()) > 0:
        message = await pubsub.get_message(ignore_subscribe_messages=True, timeout=left)
        if message is not None and message["data"].startswith(b"session:"):
            delivered += 1
    return delivered
