"""Thousands of open streams on one worker: what each costs, and how soon they are told."""

from __future__ import annotations

import asyncio
import resource
import time

from bench.fill import Advance
from bench.report import Figures, percentile
from bench.web.ground import LIVE, Ground
from bench.web.peers import Peer
from bench.web.scale import Scale
from bench.web.streams import Streams
from waitroom.engine import Join
from waitroom.models import MEMBERS_PER_SCRIPT, Mode, Policy, TicketView

WARM = 50
GAP_S = 0.17  # does not divide a second, so that batches hit every phase of the server's loop


def allow_files(needed: int) -> None:
    """Raise the limit of open files as far as allowed; servers that we start inherit it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = max(soft, needed) if hard == resource.RLIM_INFINITY else min(hard, max(soft, needed))
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


async def measure_streams(
    on: Ground, peer: Peer, scale: Scale, figures: Figures, advance: Advance
) -> None:
    """Open streams on a fresh server, then call everybody in batches."""
    await on.rig.engine.create(LIVE, Policy(mode=Mode.MANUAL, enter_within_s=3_600))
    tickets = await _join(on, WARM + scale.streams)
    paths = [f"/v1/rooms/{LIVE}/tickets/{ticket}/events" for ticket in tickets]
    streams = Streams()
    try:
        await streams.add(peer.port, paths[:WARM])
        before_kb = peer.rss_kb()
        await streams.add(peer.port, paths[WARM:])
        await asyncio.sleep(1.5)  # each got a round of the server's loop
        figures["sse_kb_each"] = (peer.rss_kb() - before_kb) / scale.streams
        advance(scale.streams)
        took_ms = await _call_all(on, streams, scale.batches)
    finally:
        streams.close()
    assert took_ms, "no stream was told anything"
    figures["sse_streams"] = len(streams.open) - WARM - streams.failed
    figures["sse_told_p50_ms"] = percentile(took_ms, 50)
    figures["sse_told_p99_ms"] = percentile(took_ms, 99)
    figures["errors"] = figures.get("errors", 0) + len(paths) - len(took_ms)


async def _join(on: Ground, people: int) -> list[str]:
    tickets: list[str] = []
    while len(tickets) < people:
        joins = [Join()] * min(MEMBERS_PER_SCRIPT, people - len(tickets))
        views = await on.rig.engine.join_many(LIVE, joins)
        tickets += [view.ticket for view in views if isinstance(view, TicketView)]
    return tickets


async def _call_all(on: Ground, streams: Streams, batches: int) -> list[float]:
    """Call everybody, first come first, and return how long after that each was told."""
    called_at: list[float] = []
    size = -(-len(streams.open) // batches)
    while len(called_at) < len(streams.open):
        count = await on.rig.engine.admit(LIVE, min(size, len(streams.open) - len(called_at)))
        assert count, "nobody could be called"
        called_at += [time.perf_counter()] * count
        await asyncio.sleep(GAP_S)
    await streams.wait_until_told(len(called_at))
    return [
        max(0.0, (stream.told_at - at) * 1000)
        for stream, at in zip(streams.open, called_at, strict=True)
        if stream.told_at is not None
    ]
