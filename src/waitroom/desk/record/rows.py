"""Rows of the desk's tables as the types of `models`, and back."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from typing import Any

from sqlalchemy import Row

from waitroom.desk.models import (
    Change,
    OnSite,
    Party,
    Source,
    Status,
    Store,
    StoreMode,
    WaitingType,
)

PARTY_FIELDS = tuple(field.name for field in fields(Party) if field.name != "line_name")
STORE_FIELDS = tuple(field.name for field in fields(Store) if field.name != "types")
TYPE_FIELDS = tuple(field.name for field in fields(WaitingType))


def party_of(row: Row[Any]) -> Party:
    """Return the party of a row of `parties`."""
    values = {name: getattr(row, name) for name in PARTY_FIELDS}
    values |= {"line_name": row.type, "source": Source(row.source), "status": Status(row.status)}
    return Party(**values)


def store_of(row: Row[Any], types: Iterable[WaitingType]) -> Store:
    """Return the store of a row of `stores`, with its lines."""
    values = {name: getattr(row, name) for name in STORE_FIELDS}
    values |= {"mode": StoreMode(row.mode), "on_site": OnSite(row.on_site)}
    return Store(**values, types=tuple(types))


def type_of(row: Row[Any]) -> WaitingType:
    """Return the line of a row of `waiting_types`."""
    return WaitingType(**{name: getattr(row, name) for name in TYPE_FIELDS})


def change_of(row: Row[Any]) -> Change:
    """Return one line of a history."""
    return Change(
        party=row.party,
        at_ms=row.at_ms,
        before=None if row.before is None else Status(row.before),
        after=Status(row.after),
        action=row.action,
        by=row.by,
        detail=row.detail,
    )


def store_values(store: Store) -> dict[str, Any]:
    """Return the columns of a store in `stores`."""
    words = {"mode": str(store.mode), "on_site": str(store.on_site)}
    return {name: getattr(store, name) for name in STORE_FIELDS} | words


def type_values(waiting_type: WaitingType) -> dict[str, Any]:
    """Return the columns of a line in `waiting_types`, without its counters."""
    return {name: getattr(waiting_type, name) for name in TYPE_FIELDS}
