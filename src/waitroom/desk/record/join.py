"""A party joins a line: everything is checked before the first write."""

from __future__ import annotations

from typing import Any

from sqlalchemy import insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from waitroom.desk.days import closes_at_ms, day_of
from waitroom.desk.inputs import TICKET, Wish, checked_wish
from waitroom.desk.models import Party, Source, Status, Store, StoreMode, Turnover
from waitroom.desk.record import lines
from waitroom.desk.record.actions import Deed, note, repeated, used_otherwise
from waitroom.desk.record.joins import check_joins, note_join
from waitroom.desk.record.lines import LockedLine
from waitroom.desk.record.rows import party_of
from waitroom.desk.record.tables import is_live, parties
from waitroom.errors import (
    InvalidInput,
    LineFull,
    PastClosing,
    PhoneInLine,
    StoreClosed,
    StorePaused,
)


async def join(
    connection: AsyncConnection,
    line: LockedLine,
    wish: Wish,
    ticket: str,
    deed: Deed,
    now_us: int,
    address: str | None = None,
) -> Party:
    """Put a party at the end of a locked line, or say why not; `address` is counted."""
    if not isinstance(ticket, str) or not TICKET.fullmatch(ticket):
        raise InvalidInput("ticket", "must be the id of a ticket")
    wish = checked_wish(line.store, line.name, wish)
    if (done := await repeated(connection, line, deed)) is not None:
        return _same(done, wish)
    waiting = await lines.waiting_count(connection, line)
    if not deed.detail.get("forced"):
        check_mode(line.store, wish.source)
        await _check_room(connection, line, waiting, deed.at_ms)
        if address is not None:
            await check_joins(connection, line.store, address, deed.at_ms)
        # Last, so that an address can try only a few phone numbers.
        await _check_phone(connection, line, wish.phone)
    values = _party(line, wish, ticket, deed.at_ms) | {"teams_ahead": waiting}
    values |= await _next(connection, line, now_us)
    # First write: everything is checked.
    await lines.keep_counts(
        connection,
        line,
        last_sort_key=values["sort_key"],
        day=values["day"],
        last_number=values["number"],
    )
    added = await connection.execute(insert(parties).values(values).returning(*parties.c))
    party = party_of(added.one())
    await note(connection, party, deed, before=None)
    if address is not None:
        await note_join(connection, line.store, address, deed.at_ms)
    return party


def check_mode(store: Store, source: Source) -> None:
    """Refuse guests while the store takes none."""
    because = f": {store.reason}" if store.reason else ""
    if store.mode is StoreMode.CLOSED:
        raise StoreClosed(f"the store is closed{because}", store.reason)
    if store.mode is StoreMode.PAUSED:
        raise StorePaused(f"the store takes nobody new for now{because}", store.reason)
    if source is Source.REMOTE and not store.remote:
        raise StoreClosed("the store takes guests only on the spot; scan the code at its door")


def check_closing(store: Store, turnover: Turnover, waiting: int, now_ms: int) -> None:
    """Refuse a party that would still wait when the store closes."""
    closes_ms = closes_at_ms(store, now_ms)
    minutes = turnover.wait_minutes(waiting + 1)
    if closes_ms is not None and now_ms + minutes * 60_000 > closes_ms:
        raise PastClosing(store.closes_at or "", minutes)


async def _check_room(
    connection: AsyncConnection, line: LockedLine, waiting: int, now_ms: int
) -> None:
    (waiting_type,) = line.store.types
    limit = waiting_type.queue_limit
    if limit is not None and waiting >= limit:
        raise LineFull(f"{waiting} parties wait, and no more than {limit} may")
    if line.store.closes_at is not None:
        turnover = await lines.read_turnover(connection, line.store.id, line.name)
        check_closing(line.store, turnover, waiting, now_ms)


async def _check_phone(connection: AsyncConnection, line: LockedLine, phone: str | None) -> None:
    """Refuse a second place for a phone number, without revealing the first."""
    if phone is None:
        return
    here = (lines.of_line(line.store.id, line.name), parties.c.phone == phone, is_live)
    if (await connection.execute(select(parties.c.id).where(*here).limit(1))).first():
        raise PhoneInLine


async def _next(connection: AsyncConnection, line: LockedLine, now_us: int) -> dict[str, Any]:
    """Return the next sort key and number: sort keys only grow, numbers start again each day."""
    day, number = day_of(now_us // 1000, line.store.time_zone), line.last_number
    if line.day != day:
        # A new day has no number yet. A day can come again, after a clock was set
        # back or the store's time zone changed: then the numbers go on.
        number = await lines.last_number(connection, line, day)
    sort_key = max(now_us, line.last_sort_key + lines.STEP)
    return {"sort_key": sort_key, "day": day, "number": number + 1}


def _party(line: LockedLine, wish: Wish, ticket: str, now_ms: int) -> dict[str, Any]:
    return {
        "store": line.store.id,
        "type": line.name,
        "ticket": ticket,
        "size": wish.size,
        "name": wish.name,
        "phone": wish.phone,
        "note": wish.note,
        "source": str(wish.source),
        "status": str(Status.WAITING),
        "defers": 0,
        "revision": 1,
        "registered_ms": now_ms,
        "changed_ms": now_ms,
    }


def _same(party: Party, wish: Wish) -> Party:
    """Return the party of a repeated request, unless another guest took the same id by chance."""
    # Not by the source: the on-site code may have expired before the answer came.
    kept = (party.size, party.name, party.phone, party.note)
    if kept != (wish.size, wish.name, wish.phone, wish.note):
        raise used_otherwise()
    return party
