"""The outbox: notices to guests, kept in the record until they are delivered.

No notice depends on an event. The record says who is called and who waits near the front; a party
that should have been notified and has no notice gets one. So a crash, a lost event or a lost line
delays a notice but never loses it, and a notice that is made twice is stored once.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Select,
    and_,
    case,
    delete,
    exists,
    false,
    func,
    or_,
    select,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection

from waitroom.desk.models import TEAMS_BEFORE_NOTICE, Action, LineId, Party, Status
from waitroom.desk.record.database import Database
from waitroom.desk.record.tables import changes, is_live, notices, parties

DAY_MS = 86_400_000
GIVE_UP_MS = DAY_MS
"""How long the delivery of a notice is tried. Older calls are not sent any more."""

KEEP_MS = 30 * DAY_MS
"""How long notices are kept, for people who ask why a guest was not notified."""

_LONGEST_ERROR = 200
_FIELDS = ("id", "store", "type", "status", "called_ms", "teams_ahead", "defers")
_FEW = 20
"""Up to this many lines are named in the query; above that, all live parties are read."""

_WAITING, _SENT, _DROPPED = "waiting", "sent", "dropped"


class Kind(StrEnum):
    """What a guest is told."""

    NEAR = "near"
    CALLED = "called"


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """One notice to one party."""

    id: int
    store: str
    party: int
    kind: Kind
    round: int
    """For a call, its time, so that a second call is sent too; else the number of defers."""

    created_ms: int
    tries: int

    @property
    def name(self) -> str:
        """Return its id for receivers: the same at every attempt, and different for each notice."""
        return f"{self.id}-{self.created_ms:x}"

    def outdated(self, party: Party) -> bool:
        """Return whether it is no longer true, like the call of a party that was seated since."""
        if self.kind is Kind.CALLED:
            return party.status is not Status.CALLED or party.called_ms != self.round
        return party.status is not Status.WAITING or party.defers != self.round


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


class Outbox:
    """The outbox of all stores."""

    def __init__(self, database: Database, *, now_ms: Callable[[], int] = _now_ms) -> None:
        self._database = database
        self.now_ms = now_ms

    # Missing notices ------------------------------------------------------------------------

    async def note(self, lines: Collection[LineId]) -> int:
        """Write the notices that are missing for the parties of some lines; return how many."""
        async with self._database.look() as connection:
            missing = await self._missing(connection, lines)
        if not missing:  # nearly always, and then no lock is needed
            return 0
        now = self.now_ms()
        common = {"created_ms": now, "due_ms": now, "tries": 0, "state": _WAITING}
        rows = [
            {"store": store, "party": party, "kind": str(kind), "round": turn, **common}
            for party, kind, turn, store in missing
        ]
        async with self._database.change() as connection:
            # Both dialects can skip a row that another process has just written.
            dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
            await connection.execute(dialect.insert(notices).on_conflict_do_nothing(), rows)
        return len(rows)

    async def _missing(
        self, connection: AsyncConnection, lines: Collection[LineId]
    ) -> list[tuple[int, Kind, int, str]]:
        """Return party, kind, round and store of each missing notice."""
        wanted, missing = set(lines), []
        oldest = self.now_ms() - GIVE_UP_MS
        for party in (await connection.execute(_untold(wanted, oldest))).all():
            if (party.store, party.type) not in wanted:
                continue
            if party.status == Status.CALLED:
                missing.append((party.id, Kind.CALLED, party.called_ms, party.store))
                continue
            teams_before = (
                party.teams_ahead if party.defers == 0 else await _went_back(connection, party.id)
            )
            if teams_before > TEAMS_BEFORE_NOTICE:  # else they have just joined, and know it
                missing.append((party.id, Kind.NEAR, party.defers, party.store))
        # Sorted, so that two processes inserting the same rows do not deadlock.
        return sorted(missing)

    # Delivery -------------------------------------------------------------------------------

    async def stores_due(self) -> tuple[str, ...]:
        """Return the stores that have something to deliver now."""
        async with self._database.look() as connection:
            due = select(notices.c.store).where(_pending(), notices.c.due_ms <= self.now_ms())
            return tuple((await connection.execute(due.distinct())).scalars())

    async def claim(self, store: str, most: int, lease_ms: int) -> tuple[Notice, ...]:
        """Claim notices that are due; no other process gets them until the lease ends.

        If the process that claimed a notice dies, another one takes it after the lease.
        """
        now = self.now_ms()
        due = (
            select(notices)
            .where(_pending(), notices.c.store == store, notices.c.due_ms <= now)
            .order_by(notices.c.due_ms, notices.c.id)
            .limit(most)
            .with_for_update(skip_locked=True)
        )
        async with self._database.change() as connection:
            rows = (await connection.execute(due)).all()
            if rows:
                taken = notices.c.id.in_([row.id for row in rows])
                values = {"due_ms": now + lease_ms, "tries": notices.c.tries + 1}
                await connection.execute(update(notices).where(taken).values(values))
        return tuple(_notice(row) for row in rows)

    async def teams_ahead(self, party: Party) -> int:
        """Return how many wait before a party, by the record: the line may be away."""
        before = select(func.count()).where(
            parties.c.store == party.store,
            parties.c.type == party.line_name,
            parties.c.status == Status.WAITING,
            parties.c.sort_key < party.sort_key,
        )
        async with self._database.look() as connection:
            return int((await connection.execute(before)).scalar_one())

    async def delivered(self, notice: Notice) -> None:
        """Mark a notice as delivered."""
        await self._set(notice, state=_SENT, sent_ms=self.now_ms(), error=None)

    async def later(self, notice: Notice, error: str, pause_ms: int) -> None:
        """Schedule another attempt."""
        await self._set(notice, due_ms=self.now_ms() + pause_ms, error=error[:_LONGEST_ERROR])

    async def dropped(self, notice: Notice, why: str) -> None:
        """Give up on a notice."""
        await self._set(notice, state=_DROPPED, error=why[:_LONGEST_ERROR])

    async def _set(self, notice: Notice, **values: Any) -> None:
        async with self._database.change() as connection:
            await connection.execute(
                update(notices).where(notices.c.id == notice.id).values(values)
            )

    async def late(self) -> dict[str, int]:
        """Return how many notices of each store were tried but not delivered."""
        count = func.count().label("late")
        tried = select(notices.c.store, count).where(_pending(), notices.c.tries > 0)
        async with self._database.look() as connection:
            rows = await connection.execute(tried.group_by(notices.c.store))
            return {row.store: row.late for row in rows}

    async def forget(self) -> int:
        """Remove notices that were delivered or given up long ago."""
        old = notices.c.created_ms < self.now_ms() - KEEP_MS
        async with self._database.change() as connection:
            return int((await connection.execute(delete(notices).where(old))).rowcount)


def _pending() -> ColumnElement[bool]:
    return notices.c.state == _WAITING


def _untold(lines: Collection[LineId], oldest_ms: int) -> Select[Any]:
    """Select parties that are called, or among the first four waiting, and have no notice of it."""
    waits = case((parties.c.status == Status.WAITING, 1), else_=0)
    # In the order of an index, so that nothing is sorted.
    rank = func.sum(waits).over(
        partition_by=(parties.c.store, parties.c.type), order_by=parties.c.sort_key
    )
    fields = (parties.c[name] for name in _FIELDS)
    live = select(*fields, rank.label("rank")).where(is_live)
    if len(lines) <= _FEW:
        live = live.where(
            or_(false(), *(and_(parties.c.store == s, parties.c.type == t) for s, t in lines))
        )
    party = live.subquery()
    called = and_(party.c.status == Status.CALLED, party.c.called_ms > oldest_ms)
    was_far = or_(party.c.teams_ahead > TEAMS_BEFORE_NOTICE, party.c.defers > 0)
    # A party with at most three teams ahead is one of the first four.
    near = and_(party.c.status == Status.WAITING, party.c.rank <= TEAMS_BEFORE_NOTICE + 1, was_far)
    kind = case((party.c.status == Status.CALLED, str(Kind.CALLED)), else_=str(Kind.NEAR))
    turn = case((party.c.status == Status.CALLED, party.c.called_ms), else_=party.c.defers)
    has_notice = exists().where(
        notices.c.party == party.c.id, notices.c.kind == kind, notices.c.round == turn
    )
    return select(party).where(or_(called, near), ~has_notice)


async def _went_back(connection: AsyncConnection, party: int) -> int:
    """Return how many teams a party let go first in its last defer."""
    last = (
        select(changes.c.detail)
        .where(changes.c.party == party, changes.c.action == Action.DEFER)
        .order_by(changes.c.id.desc())
        .limit(1)
    )
    detail = (await connection.execute(last)).scalar() or {}
    return int(detail.get("places", 0))


def _notice(row: Any) -> Notice:
    """Return the notice of a row that was just claimed."""
    return Notice(
        id=row.id,
        store=row.store,
        party=row.party,
        kind=Kind(row.kind),
        round=row.round,
        created_ms=row.created_ms,
        tries=row.tries + 1,
    )
