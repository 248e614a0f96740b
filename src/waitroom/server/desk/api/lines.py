"""A store's line as its hosts see it: by the record, so also while Redis is away."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from waitroom.desk.desk import Desk
from waitroom.desk.live.line import Counts
from waitroom.desk.live.turnover import turnover_text
from waitroom.desk.live.waits import LineSummary, summarize_line
from waitroom.desk.models import Party, Status, Store, Turnover, WaitingType
from waitroom.desk.phones import masked
from waitroom.errors import BackendUnavailable, UnknownType
from waitroom.server.desk.api import host_schemas as h
from waitroom.server.desk.api import schemas as b
from waitroom.server.desk.api.views import at, store_json
from waitroom.server.http.answers import moment

RECENT_S = 2 * 3600
"""Who ended within this time is shown beside the line, so that it can be undone."""

MOST_RECENT = 30
_MINUTE_MS = 60_000


@dataclass(frozen=True, slots=True)
class Spots:
    """Where each waiting party of a store stands, and what it is told."""

    live: Mapping[str, Sequence[Party]]
    positions: Mapping[int, int]
    turnovers: Mapping[str, Turnover]

    def party(self, party: Party) -> h.PartyBody:
        """Return a party as the hosts see it."""
        position = self.positions.get(party.id, 0) if party.status is Status.WAITING else 0
        turnover = self.turnovers.get(party.type)
        until_ms = party.seated_ms or party.ended_ms or int(time.time() * 1000)
        return h.PartyBody(
            id=party.id,
            number=party.number,
            type=party.type,
            day=party.day.isoformat(),
            size=party.size,
            name=party.name,
            phone=masked(party.phone) if party.phone else None,
            note=party.note,
            source=party.source,
            status=party.status,
            position=position,
            wait_minutes=turnover.wait_minutes(position) if position and turnover else None,
            waited_minutes=max(0, until_ms - party.registered_ms) // _MINUTE_MS,
            teams_ahead=party.teams_ahead,
            defers=party.defers,
            revision=party.revision,
            registered_at=at(party.registered_ms),
            called_at=moment(party.called_ms),
            seated_at=moment(party.seated_ms),
            ended_at=moment(party.ended_ms),
        )


async def spots_of(desk: Desk, store: Store, types: Iterable[str] | None = None) -> Spots:
    """Return where the waiting parties of a store stand, by the record."""
    live: dict[str, tuple[Party, ...]] = {}
    turnovers: dict[str, Turnover] = {}
    for name in types or [one.name for one in store.types]:
        live[name] = await desk.record.live(store.id, name)
        turnovers[name] = await desk.record.turnover(store.id, name)
    positions: dict[int, int] = {}
    for some in live.values():
        waiting = (one.id for one in some if one.status is Status.WAITING)
        positions |= {party_id: n for n, party_id in enumerate(waiting, 1)}
    return Spots(live, positions, turnovers)


async def party_json(desk: Desk, party: Party) -> h.PartyBody:
    """Return one party as the hosts see it."""
    store = await desk.record.store(party.store)
    return (await spots_of(desk, store, [party.type])).party(party)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Which parties of a line are asked for; without day and status, those who are in it now."""

    type: str | None = None
    day: date | None = None
    statuses: tuple[Status, ...] | None = None
    after: int | None = None
    limit: int = 200


async def line_json(desk: Desk, store_id: str, asked: Asked | None = None) -> h.HostedLine:
    """Return a store's parties as its hosts see them: by the record, also while Redis is away."""
    asked = asked or Asked()
    store = await desk.record.store(store_id)
    if asked.type is not None and store.type(asked.type) is None:
        raise UnknownType(store_id, asked.type)
    spots = await spots_of(desk, store)
    found, after = await _parties(desk, store, spots, asked)
    return h.HostedLine(
        store=store_json(store, await _lines(desk, store, spots)),
        parties=[spots.party(one) for one in found],
        recent=[spots.party(one) for one in await _recent(desk, store, asked.type)],
        after=after,
    )


async def _parties(
    desk: Desk, store: Store, spots: Spots, asked: Asked
) -> tuple[Sequence[Party], int | None]:
    if asked.day is None and asked.statuses is None and asked.after is None:
        some = [
            one for name, live in spots.live.items() if asked.type in (None, name) for one in live
        ]
        return sorted(some, key=lambda one: one.place), None
    found = await desk.record.parties(
        store.id,
        type=asked.type,
        day=asked.day,
        statuses=asked.statuses,
        after=asked.after,
        limit=asked.limit,
    )
    return found, found[-1].id if len(found) == asked.limit else None


async def _recent(desk: Desk, store: Store, kind: str | None) -> list[Party]:
    """Return those who ended not long ago, newest first."""
    since_ms = int((time.time() - RECENT_S) * 1000)
    found: list[Party] = []
    for one in store.types:
        if kind in (None, one.name):
            found += await desk.record.ended_since(store.id, one.name, since_ms)
    found.sort(key=lambda one: one.seated_ms or one.ended_ms or 0, reverse=True)
    return found[:MOST_RECENT]


def _by_record(store: Store, kind: WaitingType, spots: Spots) -> LineSummary:
    live = spots.live[kind.name]
    called = sum(one.status is Status.CALLED for one in live)
    counts = Counts(len(live) - called, called, turnover_text(spots.turnovers[kind.name]))
    return summarize_line(store, kind, counts, None, int(time.time() * 1000))


async def _lines(desk: Desk, store: Store, spots: Spots | None = None) -> Sequence[LineSummary]:
    """Return the lines of a store, by the record alone while Redis is away."""
    try:
        return await desk.waits(store.id)
    except BackendUnavailable:
        spots = spots or await spots_of(desk, store)
        return [_by_record(store, one, spots) for one in store.types]


async def store_body(desk: Desk, store_id: str) -> b.StoreBody:
    """Return a store as anybody may see it, by the record alone while Redis is away."""
    store = await desk.record.store(store_id)
    return store_json(store, await _lines(desk, store))
