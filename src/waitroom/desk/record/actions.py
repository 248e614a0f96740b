"""What may be done to a party, and how it is written: the party and its history together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from sqlalchemy import Row, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from waitroom.desk.models import Action, Party, Status
from waitroom.desk.record.lines import LockedLine, keep_counts, sort_key_behind
from waitroom.desk.record.rows import party_of
from waitroom.desk.record.tables import changes, parties
from waitroom.errors import DefersUsedUp, InvalidInput, WrongStatus

_LIVE = frozenset({Status.WAITING, Status.CALLED})
_ENDED = frozenset({Status.CANCELLED, Status.NO_SHOW})
FROM: Mapping[Action, frozenset[Status]] = MappingProxyType(
    {
        Action.CALL: frozenset({Status.WAITING}),
        Action.SEAT: _LIVE,
        Action.NO_SHOW: _LIVE,
        Action.CANCEL: _LIVE,
        Action.DEFER: _LIVE,
        Action.RESTORE: _ENDED,
    }
)
"""The statuses in which each action is possible; an undo looks at the history."""


@dataclass(frozen=True, slots=True)
class Deed:
    """Who does something, when, and under which request id: a repeated id changes nothing."""

    action: str
    by: str
    at_ms: int
    op_id: str | None = None
    detail: Mapping[str, Any] = field(default_factory=dict)


async def repeated(
    connection: AsyncConnection, line: LockedLine, deed: Deed, party_id: int | None = None
) -> Party | None:
    """Return the party of an earlier request with this id, if there was one.

    It must be the same request: callers choose these ids, and nobody may see another's party by
    chance.
    """
    if deed.op_id is None:
        return None
    here = (changes.c.store == line.store.id) & (changes.c.op_id == deed.op_id)
    query = select(parties, changes.c.action, changes.c.by).join_from(changes, parties)
    row = (await connection.execute(query.where(here))).first()
    if row is None:
        return None
    same = (row.action, row.by, row.type) == (deed.action, deed.by, line.name)
    if not same or party_id not in (None, row.id):
        raise used_otherwise()
    return party_of(row)


def used_otherwise() -> InvalidInput:
    """Return the error for a request id that was used for something else."""
    return InvalidInput("op_id", "was used for another call; take a new one for each")


async def apply(
    connection: AsyncConnection,
    line: LockedLine,
    party: Party,
    action: Action,
    deed: Deed,
    places: int = 1,
) -> Party:
    """Apply an action if it is possible now, and return the changed party."""
    if action is Action.UNDO:
        return await _undo(connection, party, deed)
    if party.status not in FROM[action]:
        raise WrongStatus(action, party.status, party.number)
    if action is Action.DEFER:
        return await _defer(connection, line, party, deed, places)
    return await write(connection, party, _moved(action, deed.at_ms), deed)


async def write(
    connection: AsyncConnection, party: Party, values: Mapping[str, Any], deed: Deed
) -> Party:
    """Write new values of a party, and the line of its history."""
    counted = {"revision": party.revision + 1, "changed_ms": deed.at_ms}
    updated = await connection.execute(
        update(parties)
        .where(parties.c.id == party.id)
        .values({**values, **counted})
        .returning(*parties.c)
    )
    after = party_of(updated.one())
    await note(connection, after, deed, before=party)
    return after


async def note(
    connection: AsyncConnection, party: Party, deed: Deed, *, before: Party | None
) -> None:
    """Write one line of a party's history, with the times that an undo brings back."""
    await connection.execute(
        insert(changes).values(
            store=party.store,
            party=party.id,
            at_ms=deed.at_ms,
            before=None if before is None else str(before.status),
            after=str(party.status),
            action=str(deed.action),
            by=deed.by,
            op_id=deed.op_id,
            detail=dict(deed.detail),
            was_called_ms=before and before.called_ms,
            was_seated_ms=before and before.seated_ms,
            was_ended_ms=before and before.ended_ms,
            undone=False,
        )
    )


def _moved(action: Action, now_ms: int) -> dict[str, Any]:
    if action is Action.CALL:
        return {"status": str(Status.CALLED), "called_ms": now_ms}
    if action is Action.SEAT:
        return {"status": str(Status.SEATED), "seated_ms": now_ms}
    if action is Action.RESTORE:
        return {"status": str(Status.WAITING), "called_ms": None, "ended_ms": None}
    ended = Status.NO_SHOW if action is Action.NO_SHOW else Status.CANCELLED
    return {"status": str(ended), "ended_ms": now_ms}


async def _defer(
    connection: AsyncConnection, line: LockedLine, party: Party, deed: Deed, places: int
) -> Party:
    if party.defers >= line.store.max_defers:
        raise DefersUsedUp(f"this party went back {party.defers} times, and may not again")
    sort_key = await sort_key_behind(connection, party, places)
    if sort_key is None and party.status is Status.WAITING:
        return party  # the last in line has nobody to let go first
    sort_key = party.sort_key if sort_key is None else sort_key
    if sort_key > line.last_sort_key:
        await keep_counts(connection, line, last_sort_key=sort_key)
    back = {"status": str(Status.WAITING), "called_ms": None}
    return await write(
        connection, party, back | {"sort_key": sort_key, "defers": party.defers + 1}, deed
    )


async def _undo(connection: AsyncConnection, party: Party, deed: Deed) -> Party:
    """Take back the last change that was not taken back yet."""
    last = await _last_change(connection, party)
    # A defer moved the party, perhaps to where another one stood, so it cannot be undone, and
    # neither can anything before it.
    if last is None or last.before is None or last.action == Action.DEFER:
        raise WrongStatus("undo", party.status, party.number)
    done = update(changes).where(changes.c.id == last.id).values(undone=True)
    await connection.execute(done)
    before = {
        "status": last.before,
        "called_ms": last.was_called_ms,
        "seated_ms": last.was_seated_ms,
        "ended_ms": last.was_ended_ms,
    }
    return await write(connection, party, before, deed)


async def _last_change(connection: AsyncConnection, party: Party) -> Row[Any] | None:
    actions = [str(action) for action in FROM]
    query = (
        select(changes)
        .where(changes.c.party == party.id, changes.c.action.in_(actions), ~changes.c.undone)
        .order_by(changes.c.id.desc())
        .limit(1)
    )
    return (await connection.execute(query)).first()
