"""Parties, histories, stores and host keys as hosts and admins see them, as JSON."""

from __future__ import annotations

import time
from dataclasses import asdict

from waitroom.desk.models import Change, Party, Store, Turnover
from waitroom.desk.phones import masked
from waitroom.desk.record.host_keys import HostKey
from waitroom.server.desk.bodies.guests import at
from waitroom.server.desk.bodies.host_schemas import (
    ChangeBody,
    HostKeyBody,
    PartyBody,
    StoreRecord,
)
from waitroom.server.http.answers import moment

_MINUTE_MS = 60_000


def party_body(party: Party, position: int, turnover: Turnover | None, country: str) -> PartyBody:
    """Return a party as the hosts see it; its position is 0 unless it waits."""
    until_ms = party.seated_ms or party.ended_ms or int(time.time() * 1000)
    return PartyBody(
        id=party.id,
        number=party.number,
        type=party.line_name,
        day=party.day.isoformat(),
        size=party.size,
        name=party.name,
        phone=masked(party.phone, country) if party.phone else None,
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


def store_record(store: Store, *, secrets: bool) -> StoreRecord:
    """Return a store with its settings; only admins see where its webhook leads."""
    settings = asdict(store) | {
        "webhook_url": store.webhook_url if secrets else None,
        "webhook_signed": store.webhook_secret is not None,
        "created_at": at(store.created_ms),
    }
    return StoreRecord(**settings)  # it has no field for the secret itself


def change_body(change: Change) -> ChangeBody:
    """Return one line of a party's history."""
    return ChangeBody(at=at(change.at_ms), **asdict(change))


def host_key_body(key: HostKey) -> HostKeyBody:
    """Return a host key without its secret."""
    return HostKeyBody(id=key.id, name=key.name, created_at=at(key.created_ms))
