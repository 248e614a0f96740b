"""Stores, places and parties as JSON, for answers and event streams alike; `lines` has the rest."""

from __future__ import annotations

import hashlib
import random
import time
from collections.abc import Sequence

from fastapi import Request, Response
from pydantic import BaseModel

from waitroom.desk.inputs import Wish
from waitroom.desk.live.waits import LineSummary
from waitroom.desk.models import Change, Party, Place, Range, Source, Store
from waitroom.errors import BackendUnavailable
from waitroom.server.context import Server
from waitroom.server.desk.api import host_schemas as h
from waitroom.server.desk.api import schemas as b
from waitroom.server.http.answers import moment
from waitroom.server.http.auth import is_https

_FIRST_POLL_S, _LAST_POLL_S = 5.0, 30.0
_ENDED_POLL_S = 30.0
_JSON = {"content-type": "application/json", "cache-control": "no-store"}


def as_response(body: BaseModel) -> Response:
    """Answer with a body as it is, without checking again what we have just made."""
    return Response(body.model_dump_json(), headers=_JSON)


def op_id(server: Server, action: str, whose: str, key: str | None) -> str | None:
    """Return a caller's Idempotency-Key as an id that nobody else can repeat or guess."""
    if key is None:
        return None
    text = f"{action}:{whose}:{key}"
    # Of the server's secret too: who knows the database's content must not get anybody's place.
    sealed = server.ring.visitor_id("", f"desk-op:{hashlib.sha256(text.encode()).hexdigest()}")
    return f"{action}:{sealed}"


def wish_of(body: b.NewParty | h.WalkIn) -> Wish:
    """Return what a guest or a host asks for."""
    source = Source.REMOTE if body.remote else Source.ON_SITE
    return Wish(size=body.size, name=body.name, phone=body.phone, note=body.note, source=source)


def guest_url(server: Server, request: Request, store: str, token: str) -> str:
    """Return the address of a guest's own page."""
    base = server.settings.public_url
    if base is None:
        scheme = "https" if is_https(server, request) else "http"
        base = f"{scheme}://{request.headers.get('host', 'localhost')}"
    return f"{base.rstrip('/')}/desk/{store}/p/{token}"


# Guests ----------------------------------------------------------------------------------------


def poll_after_ms(place: Place) -> int:
    """Return how long a guest may wait before they ask again: longer farther back, and spread."""
    if not place.status.live:
        seconds = _ENDED_POLL_S
    else:
        seconds = min(_LAST_POLL_S, _FIRST_POLL_S + max(0, place.position - 3) * 2.5)
    return round(seconds * random.uniform(800, 1200))  # noqa: S311 - spreads polls


def place_json(place: Place) -> b.PlaceBody:
    """Return where a party stands."""
    return b.PlaceBody(
        store=place.store,
        type=place.type,
        status=place.status,
        position=place.position,
        waiting=place.waiting,
        wait_minutes=place.wait_minutes,
        observed=range_json(place.observed),
        poll_after_ms=poll_after_ms(place),
    )


def range_json(found: Range | None) -> b.RangeBody | None:
    """Return a range of the wait."""
    if found is None:
        return None
    return b.RangeBody(low=found.low, likely=found.likely, high=found.high)


async def guest_answer(server: Server, party: Party, token: str) -> b.GuestAnswer:
    """Return a party to its guest, with its place if the live line answers."""
    assert server.desk is not None  # noqa: S101 - its routes are there only then
    place = None
    if not server.backend_health.away:
        try:
            place = place_json(await server.desk.place(party.store, token))
        except BackendUnavailable:  # what was asked for is done, and the record says it
            server.backend_health.suspect()
    store = await server.desk.record.store(party.store)
    return b.GuestAnswer(party=guest_party(store, party), place=place)


def guest_party(store: Store, party: Party) -> b.GuestParty:
    """Return a party as its guests see it."""
    return b.GuestParty(
        number=party.number,
        type=party.type,
        size=party.size,
        status=party.status,
        teams_ahead=party.teams_ahead,
        defers_left=max(0, store.max_defers - party.defers),
        registered_at=at(party.registered_ms),
    )


# Stores ----------------------------------------------------------------------------------------


def store_json(store: Store, lines: Sequence[LineSummary]) -> b.StoreBody:
    """Return a store as anybody may see it."""
    open_ones = [one for one in lines if one.accepts]
    return b.StoreBody(
        store=store.id,
        title=store.title,
        time_zone=store.time_zone,
        mode=store.mode,
        reason=store.reason,
        closes_at=store.closes_at,
        remote=store.remote,
        max_defers=store.max_defers,
        accepts=bool(open_ones),
        why_not=None if open_ones or not lines else lines[0].why_not,
        lines=[_line(store, one) for one in lines],
        version=store.version,
        now=at(int(time.time() * 1000)),
    )


def _line(store: Store, line: LineSummary) -> b.LineBody:
    kind = store.type(line.name)
    return b.LineBody(
        type=line.name,
        title=line.title,
        waiting=line.waiting,
        called=line.called,
        wait_minutes=line.wait_minutes,
        observed=range_json(line.observed),
        largest_party=kind.largest_party if kind else 0,
        queue_limit=kind.queue_limit if kind else None,
        accepts=line.accepts,
        why_not=line.why_not,
    )


def store_record(store: Store, *, secrets: bool) -> h.StoreRecord:
    """Return a store with its settings; only admins see where its webhook leads."""
    return h.StoreRecord(
        id=store.id,
        title=store.title,
        time_zone=store.time_zone,
        mode=store.mode,
        reason=store.reason,
        closes_at=store.closes_at,
        max_defers=store.max_defers,
        remote=store.remote,
        keep_phones_days=store.keep_phones_days,
        webhook_url=store.webhook_url if secrets else None,
        webhook_signed=store.webhook_secret is not None,
        types=[
            h.TypeBody(
                name=one.name,
                title=one.title,
                queue_limit=one.queue_limit,
                largest_party=one.largest_party,
            )
            for one in store.types
        ],
        version=store.version,
        created_at=at(store.created_ms),
    )


def change_json(change: Change) -> h.ChangeBody:
    """Return one line of a party's history."""
    return h.ChangeBody(
        at=at(change.at_ms),
        action=change.action,
        before=change.before,
        after=change.after,
        by=change.by,
        detail=dict(change.detail),
    )


def at(ms: int) -> str:
    """Return a time that is always there."""
    return moment(ms) or ""
