"""The record of the desk: every change of a store or a party is one transaction here.

SQL only. The live lines follow afterwards (`desk`), and can always be rebuilt from this.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from sqlalchemy import BigInteger, and_, cast, exc, literal, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from waitroom.desk.inputs import (
    LARGEST_PARTY,
    MOST_PLACES,
    Wish,
    check_number,
    check_op_id,
    checked_store,
    needed_text,
)
from waitroom.desk.models import Action, Party, Status, Store
from waitroom.desk.record import actions as acts
from waitroom.desk.record import lines
from waitroom.desk.record.actions import Deed
from waitroom.desk.record.database import Database
from waitroom.desk.record.join import join
from waitroom.desk.record.joins import forget_joins, note_join
from waitroom.desk.record.queries import Queries
from waitroom.desk.record.stores import add_store, change_store
from waitroom.desk.record.tables import known, parties, stores
from waitroom.errors import InvalidInput, PartyMoved, PhoneInLine

__all__ = ["Action", "Record"]

DAY_MS = 86_400_000
_LIVE = (str(Status.WAITING), str(Status.CALLED))
_NOBODY = {"name": None, "phone": None, "note": None}


def _now_us() -> int:
    return time.time_ns() // 1000


class Record(Queries):
    """The record: stores, their lines, and the parties in them."""

    def __init__(self, database: Database, *, now_us: Callable[[], int] = _now_us) -> None:
        super().__init__(database)
        self._now_us = now_us

    def now_ms(self) -> int:
        """Return the current time of the record's clock."""
        return self._now_us() // 1000

    # Stores ---------------------------------------------------------------------------------

    async def add_store(self, store: Store) -> Store:
        """Add a store, and return it as it is kept."""
        made = replace(checked_store(store), version=1, created_ms=self.now_ms())
        try:
            async with self.database.change() as connection:
                await add_store(connection, made)
        except exc.IntegrityError:  # another process has just added it
            return await self.add_store(store)
        return made

    async def change_store(
        self, store_id: str, *, version: int | None = None, **changes: Any
    ) -> Store:
        """Change the given fields of a store, if nobody else changed it since `version`."""
        async with self.database.change() as connection:
            return await change_store(connection, store_id, version, changes)

    # Changes of a line ----------------------------------------------------------------------

    async def register(
        self,
        store_id: str,
        line_name: str,
        wish: Wish,
        ticket: str,
        *,
        by: str = "guest",
        op_id: str | None = None,
        force: bool = False,
        address: str | None = None,
    ) -> Party:
        """Put a party at the end of a line; a host may force it where guests are refused.

        `address` is a hash of where the request comes from, if joins from there are counted.
        """
        async with self._change(op_id) as connection:
            line = await lines.lock_line(connection, store_id, line_name)
            deed = self._deed("join", by, op_id, **({"forced": True} if force else {}))
            try:
                return await join(connection, line, wish, ticket, deed, self._now_us(), address)
            except PhoneInLine as error:
                # Nothing is written yet. The attempt counts, or all phone numbers could be tried.
                if address is not None:
                    await note_join(connection, line.store, address, deed.at_ms)
                refusal = error
        raise refusal

    async def call_next(
        self,
        store_id: str,
        line_name: str,
        *,
        fits: int | None = None,
        expected: int | None = None,
        by: str,
        op_id: str | None = None,
    ) -> Party | None:
        """Call the first party that waits, or the first that `fits` a table of that size.

        `expected` is the party that the host saw as next: if another is next now, nobody is called.
        """
        if fits is not None:
            check_number("fits", fits, 1, LARGEST_PARTY)
        async with self._change(op_id) as connection:
            line = await lines.lock_line(connection, store_id, line_name)
            deed = self._deed(Action.CALL, by, op_id, next=True)
            if (done := await acts.repeated(connection, line, deed)) is not None:
                return done
            party = await lines.next_waiting(connection, line, fits)
            if expected is not None and (party is None or party.id != expected):
                raise PartyMoved("another party is next now; look at the line again")
            if party is None:
                return None
            return await acts.apply(connection, line, party, Action.CALL, deed)

    async def act(
        self,
        store_id: str,
        party_id: int,
        action: Action,
        *,
        places: int | None = None,
        by: str,
        op_id: str | None = None,
        revision: int | None = None,
    ) -> Party:
        """Do something to one party; with `revision`, only if it is still as it was read."""
        if action not in tuple(Action):
            raise InvalidInput("action", f"{action!r:.40} is not one of {', '.join(Action)}")
        action, places = Action(action), 1 if places is None else places
        check_number("places", places, 1, MOST_PLACES)
        async with self._change(op_id) as connection:
            party = await lines.read_party(connection, store_id, party_id)
            line = await lines.lock_line(connection, store_id, party.line_name)
            deferred = {"places": places} if action is Action.DEFER else {}
            deed = self._deed(action, by, op_id, **deferred)
            if (done := await acts.repeated(connection, line, deed, party_id)) is not None:
                return done
            # Read again, now that nobody else can change it.
            party = await lines.read_party(connection, store_id, party_id)
            if revision is not None and revision != party.revision:
                raise PartyMoved(f"party {party.number} has changed; it is {party.status} now")
            return await acts.apply(connection, line, party, action, deed, places)

    async def erase(self, store_id: str, party_id: int, *, by: str) -> Party:
        """Erase who a party is, for ever: its name, phone and note."""
        async with self._change() as connection:
            party = await lines.read_party(connection, store_id, party_id)
            await lines.lock_line(connection, store_id, party.line_name)
            party = await lines.read_party(connection, store_id, party_id)
            if party.name is None and party.phone is None and party.note is None:
                return party
            party = await acts.write(connection, party, _NOBODY, self._deed("erase", by))
        await self.database.tidy()
        return party

    async def show_phone(self, store_id: str, party_id: int, *, by: str) -> Party:
        """Return a party to somebody who views its phone, and write in its history who did."""
        async with self._change() as connection:
            party = await lines.read_party(connection, store_id, party_id)
            if party.phone is not None:
                await acts.note(connection, party, self._deed("show_phone", by), before=party)
            return party

    async def forget_phones(self) -> int:
        """Erase names, phones and notes after the store's retention; return how many parties.

        Parties that still wait then (in a line that nobody cleared) are erased one day later.
        """
        days = select(stores.c.keep_phones_days).where(stores.c.id == parties.c.store)
        kept_ms = cast(days.scalar_subquery(), BigInteger) * DAY_MS
        limit = literal(self.now_ms(), BigInteger) - kept_ms
        gone = parties.c.status.not_in(_LIVE)
        old = and_(known, parties.c.registered_ms < limit)
        late = or_(gone, parties.c.registered_ms < limit - DAY_MS)
        async with self._change() as connection:
            done = await connection.execute(update(parties).where(old, late).values(_NOBODY))
            await forget_joins(connection, self.now_ms())
        if done.rowcount:
            await self.database.tidy()
        return done.rowcount

    # Within ---------------------------------------------------------------------------------

    def _deed(self, action: str, by: str, op_id: str | None = None, **detail: Any) -> Deed:
        return Deed(action, needed_text("by", by, 80), self.now_ms(), op_id, detail)

    @asynccontextmanager
    async def _change(self, op_id: str | None = None) -> AsyncIterator[AsyncConnection]:
        check_op_id(op_id)
        try:
            async with self.database.change() as connection:
                yield connection
        except exc.IntegrityError:
            # Requests in one line wait for each other; the same id in two lines at once does not.
            if op_id is None:
                raise
            raise acts.used_otherwise() from None
