"""Stores, places and parties as anybody or a guest may see them, as JSON."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from dataclasses import asdict

from waitroom.desk.live.waits import LineSummary
from waitroom.desk.models import Party, Place, Range, Store
from waitroom.server.desk.bodies.guest_schemas import (
    GuestParty,
    LineBody,
    PlaceBody,
    RangeBody,
    StoreBody,
)
from waitroom.server.http.answers import moment

_FIRST_POLL_S, _LAST_POLL_S = 5.0, 30.0
_ENDED_POLL_S = 30.0


def poll_after_ms(place: Place) -> int:
    """Return the pause before a guest's next poll: longer farther back, and spread."""
    if not place.status.live:
        seconds = _ENDED_POLL_S
    else:
        seconds = min(_LAST_POLL_S, _FIRST_POLL_S + max(0, place.position - 3) * 2.5)
    return round(seconds * random.uniform(800, 1200))  # noqa: S311 - spreads polls


def place_body(place: Place) -> PlaceBody:
    """Return where a party stands."""
    return PlaceBody(
        store=place.store,
        type=place.line_name,
        status=place.status,
        position=place.position,
        waiting=place.waiting,
        wait_minutes=place.wait_minutes,
        observed=range_body(place.observed),
        poll_after_ms=poll_after_ms(place),
    )


def range_body(wait: Range | None) -> RangeBody | None:
    """Return a range of the wait."""
    return None if wait is None else RangeBody(low=wait.low, likely=wait.likely, high=wait.high)


def guest_party(store: Store, party: Party) -> GuestParty:
    """Return a party as its guests see it."""
    return GuestParty(
        number=party.number,
        type=party.line_name,
        size=party.size,
        status=party.status,
        teams_ahead=party.teams_ahead,
        defers_left=max(0, store.max_defers - party.defers),
        registered_at=at(party.registered_ms),
    )


def store_body(store: Store, lines: Sequence[LineSummary]) -> StoreBody:
    """Return a store as anybody may see it."""
    accepts = any(line.accepts for line in lines)
    return StoreBody(
        store=store.id,
        title=store.title,
        time_zone=store.time_zone,
        country=store.country,
        mode=store.mode,
        reason=store.reason,
        closes_at=store.closes_at,
        remote=store.remote,
        max_defers=store.max_defers,
        accepts=accepts,
        why_not=None if accepts or not lines else lines[0].why_not,
        lines=[_line_body(store, line) for line in lines],
        version=store.version,
        now=at(int(time.time() * 1000)),
    )


def _line_body(store: Store, line: LineSummary) -> LineBody:
    waiting_type = store.waiting_type(line.name)
    return LineBody(
        type=line.name,
        largest_party=waiting_type.largest_party if waiting_type else 0,
        queue_limit=waiting_type.queue_limit if waiting_type else None,
        **asdict(line),
    )


def at(ms: int) -> str:
    """Return a time that is always known."""
    return moment(ms) or ""
