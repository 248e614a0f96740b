"""What each line of a store would cost a newcomer: from the live lines, or from the record."""

from __future__ import annotations

import time

from waitroom.desk.desk import Desk
from waitroom.desk.live.line import Counts
from waitroom.desk.live.turnover import turnover_text
from waitroom.desk.live.waits import LineSummary, summarize_line
from waitroom.desk.models import Status, Store
from waitroom.errors import BackendUnavailable
from waitroom.server.context import Server
from waitroom.server.desk.api.auth import desk_of


async def lines_of(server: Server, store: Store) -> tuple[LineSummary, ...]:
    """Return the lines of a store, by the record while Redis is away: joining works then too."""
    desk = desk_of(server)
    if not server.backend_health.away:
        try:
            return await desk.waits(store.id)
        except BackendUnavailable:
            server.backend_health.suspect()
    return await _by_record(desk, store)


async def _by_record(desk: Desk, store: Store) -> tuple[LineSummary, ...]:
    found, now_ms = [], int(time.time() * 1000)
    for kind in store.types:
        live = await desk.record.live(store.id, kind.name)
        waiting = sum(party.status is Status.WAITING for party in live)
        turnover = turnover_text(await desk.record.turnover(store.id, kind.name))
        counts = Counts(waiting, len(live) - waiting, turnover)
        found.append(summarize_line(store, kind, counts, None, now_ms))
    return tuple(found)
