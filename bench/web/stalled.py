"""What visitors get while the backend stands still: for a second, three times, under even load."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from redis.exceptions import ResponseError

from bench.fill import Advance
from bench.report import Figures
from bench.web.ground import BIG, JOINS, Ground
from bench.web.paced import paced
from bench.web.peers import Peer
from bench.web.wrk import Load

POLLS_PER_S = 2_000
JOINS_PER_S = 200
STALL_S = 1.0
BETWEEN_S = 1.5
"""Before each stall and after the last, so that each meets a recovered server."""


async def measure_stalled(
    on: Ground, peer: Peer, tickets: Path, stalls: int, figures: Figures, advance: Advance
) -> None:
    """Count failed requests: a status of 500 or more, or a connection that breaks."""
    seconds = stalls * (BETWEEN_S + STALL_S) + BETWEEN_S
    poll = Load.get(f"/v1/rooms/{BIG}/tickets/", tickets).requests()
    join = Load.post(f"/v1/rooms/{JOINS}/tickets").requests()
    # As many connections as there are requests in a stall, so that none waits for a free one.
    async with (
        paced(peer.port, poll, POLLS_PER_S) as polls,
        paced(peer.port, join, JOINS_PER_S) as joins,
    ):
        await asyncio.gather(
            polls.run(POLLS_PER_S, seconds),
            joins.run(JOINS_PER_S, seconds),
            _stall(on, stalls, advance),
        )
    figures["stalled_errors"] = polls.failed + joins.failed
    # Otherwise a server that refuses everybody would look as good as one that serves them.
    figures["stalled_refused"] = polls.errors + joins.errors - figures["stalled_errors"]
    figures["stalled_requests"] = polls.total + joins.total


async def _stall(on: Ground, stalls: int, advance: Advance) -> None:
    debug: Any = on.rig.admin.execute_command  # untyped
    for _ in range(stalls):
        await asyncio.sleep(BETWEEN_S)
        try:
            await debug("DEBUG", "SLEEP", STALL_S)
        except ResponseError:  # a server may forbid DEBUG
            await on.rig.admin.client_pause(int(STALL_S * 1000), all=True)
            await asyncio.sleep(STALL_S)
        advance(1)
