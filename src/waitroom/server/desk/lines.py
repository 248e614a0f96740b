"""The lines of a store: from the live lines, and from the record alone while Redis is away.

Hosts always see the record, so they can work without Redis. A newcomer's wait comes from the live
lines as long as they answer.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from waitroom.desk.desk import Desk
from waitroom.desk.live.turnover import turnover_text
from waitroom.desk.live.waits import LineSummary, summarize_line
from waitroom.desk.models import Party, Status, Store, Turnover, WaitingType
from waitroom.engine import LineCounts
from waitroom.errors import BackendUnavailable, UnknownType
from waitroom.server.desk.bodies.guest_schemas import StoreBody
from waitroom.server.desk.bodies.guests import store_body
from waitroom.server.desk.bodies.host_schemas import HostedLine, PartyBody
from waitroom.server.desk.bodies.hosts import party_body
from waitroom.server.rooms.backend_health import BackendHealth

RECENT_S = 2 * 3600
"""Parties that ended within this time are shown beside the line, so that a host can undo it."""

MOST_RECENT = 30


@dataclass(frozen=True, slots=True)
class LiveParties:
    """All live parties of a store in the record, and the position of each waiting one."""

    country: str
    """Of the store's phone numbers."""

    by_line: Mapping[str, Sequence[Party]]
    positions: Mapping[int, int]
    turnovers: Mapping[str, Turnover]

    def body(self, party: Party) -> PartyBody:
        """Return a party of this store, live or not, as the hosts see it."""
        position = self.positions.get(party.id, 0) if party.status is Status.WAITING else 0
        turnover = self.turnovers.get(party.line_name)
        return party_body(party, position, turnover, self.country)


async def live_parties(
    desk: Desk, store: Store, line_names: Iterable[str] | None = None
) -> LiveParties:
    """Read the live parties of a store, or of some of its lines."""
    by_line: dict[str, tuple[Party, ...]] = {}
    turnovers: dict[str, Turnover] = {}
    for name in line_names or [waiting_type.name for waiting_type in store.types]:
        by_line[name] = await desk.record.live(store.id, name)
        turnovers[name] = await desk.record.turnover(store.id, name)
    positions: dict[int, int] = {}
    for parties in by_line.values():
        waiting = (party.id for party in parties if party.status is Status.WAITING)
        positions |= {party_id: position for position, party_id in enumerate(waiting, 1)}
    return LiveParties(store.country, by_line, positions, turnovers)


async def summarize(
    desk: Desk, backend: BackendHealth, store: Store, live: LiveParties | None = None
) -> Sequence[LineSummary]:
    """Return each line of a store as somebody who may join sees it."""
    if not backend.away:
        try:
            return await desk.waits(store.id)
        except BackendUnavailable:
            backend.suspect()
    live = live or await live_parties(desk, store)
    return [_by_record(store, waiting_type, live) for waiting_type in store.types]


def _by_record(store: Store, waiting_type: WaitingType, live: LiveParties) -> LineSummary:
    parties = live.by_line[waiting_type.name]
    called = sum(party.status is Status.CALLED for party in parties)
    turnover = turnover_text(live.turnovers[waiting_type.name])
    counts = LineCounts(len(parties) - called, called, turnover)
    return summarize_line(store, waiting_type, counts, None, int(time.time() * 1000))


async def read_store(desk: Desk, backend: BackendHealth, store_id: str) -> StoreBody:
    """Return a store as anybody may see it."""
    store = await desk.record.store(store_id)
    return store_body(store, await summarize(desk, backend, store))


async def read_party(desk: Desk, party: Party) -> PartyBody:
    """Return one party as the hosts see it."""
    store = await desk.record.store(party.store)
    return (await live_parties(desk, store, [party.line_name])).body(party)


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Which parties of a store to list; without day and status, those who are in line now."""

    line_name: str | None = None
    day: date | None = None
    statuses: tuple[Status, ...] | None = None
    after: int | None = None
    limit: int = 200


EVERYBODY = Selection()


async def read_line(
    desk: Desk, backend: BackendHealth, store_id: str, selection: Selection = EVERYBODY
) -> HostedLine:
    """Return a store's parties as its hosts see them."""
    store = await desk.record.store(store_id)
    line_name = selection.line_name
    if line_name is not None and store.waiting_type(line_name) is None:
        raise UnknownType(store_id, line_name)
    live = await live_parties(desk, store)
    parties, after = await _select(desk, store, live, selection)
    recent = await ended_since(desk, store, time.time() - RECENT_S, line_name)
    return HostedLine(
        store=store_body(store, await summarize(desk, backend, store, live)),
        parties=[live.body(party) for party in parties],
        recent=[live.body(party) for party in recent[:MOST_RECENT]],
        after=after,
    )


async def _select(
    desk: Desk, store: Store, live: LiveParties, selection: Selection
) -> tuple[Sequence[Party], int | None]:
    """Return the parties of a page, and the id after which the next page begins."""
    if selection.day is None and selection.statuses is None and selection.after is None:
        lines = (
            parties for name, parties in live.by_line.items() if selection.line_name in (None, name)
        )
        return sorted((party for parties in lines for party in parties), key=_order), None
    parties = await desk.record.parties(
        store.id,
        line_name=selection.line_name,
        day=selection.day,
        statuses=selection.statuses,
        after=selection.after,
        limit=selection.limit,
    )
    return parties, parties[-1].id if len(parties) == selection.limit else None


def _order(party: Party) -> int:
    return party.sort_key


async def ended_since(
    desk: Desk, store: Store, since_s: float, line_name: str | None = None
) -> list[Party]:
    """Return the parties that were seated or left since then, newest first."""
    parties: list[Party] = []
    for waiting_type in store.types:
        if line_name in (None, waiting_type.name):
            since_ms = int(since_s * 1000)
            parties += await desk.record.ended_since(store.id, waiting_type.name, since_ms)
    return sorted(parties, key=lambda party: party.seated_ms or party.ended_ms or 0, reverse=True)
