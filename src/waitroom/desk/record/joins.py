"""The limit on joins from one address: counted in the record, so that it holds on every server.

Only a keyed hash of the address is kept, and for no longer than it counts.
"""

from __future__ import annotations

import math

from sqlalchemy import delete, insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from waitroom.desk.models import Store
from waitroom.desk.record.tables import joins
from waitroom.errors import TooMany

WINDOW_MS = 3_600_000


async def check_joins(connection: AsyncConnection, store: Store, address: str, now_ms: int) -> None:
    """Refuse an address that has reached its limit of joins per hour."""
    limit = store.joins_per_hour
    if limit is None:
        return
    query = (
        select(joins.c.at_ms)
        .where(
            joins.c.store == store.id,
            joins.c.address == address,
            joins.c.at_ms > now_ms - WINDOW_MS,
        )
        .order_by(joins.c.at_ms.desc())
        .offset(limit - 1)
        .limit(1)
    )
    first_ms = (await connection.execute(query)).scalar()
    if first_ms is not None:
        wait_s = math.ceil((first_ms + WINDOW_MS - now_ms) / 1000)
        raise TooMany(
            f"{limit} have joined from this address within an hour; ask a host to add you",
            max(1, wait_s),
        )


async def note_join(connection: AsyncConnection, store: Store, address: str, now_ms: int) -> None:
    """Count a join, or an attempt to join."""
    await connection.execute(insert(joins).values(store=store.id, address=address, at_ms=now_ms))


async def forget_joins(connection: AsyncConnection, now_ms: int) -> None:
    """Delete joins that no longer count."""
    await connection.execute(delete(joins).where(joins.c.at_ms <= now_ms - WINDOW_MS))
