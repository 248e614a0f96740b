"""Reads of the desk's record, each in a read-only transaction."""

from __future__ import annotations

from collections.abc import Collection
from datetime import date

from sqlalchemy import case, func, select, tuple_

from waitroom.desk.inputs import TICKET, check_number
from waitroom.desk.models import Change, Party, Status, Store, Turnover
from waitroom.desk.record import lines
from waitroom.desk.record.database import Database
from waitroom.desk.record.rows import change_of, party_of
from waitroom.desk.record.stores import read_store, read_stores
from waitroom.desk.record.tables import changes, is_live, parties, waiting_types
from waitroom.errors import UnknownParty

MOST_LISTED = 1_000
_LIVE = (str(Status.WAITING), str(Status.CALLED))


class Queries:
    """The half of `Record` that only reads."""

    def __init__(self, database: Database) -> None:
        self.database = database

    async def store(self, store_id: str) -> Store:
        """Return a store."""
        async with self.database.look() as connection:
            return await read_store(connection, store_id)

    async def stores(self) -> tuple[Store, ...]:
        """Return all stores."""
        async with self.database.look() as connection:
            return await read_stores(connection)

    async def open_lines(self) -> tuple[tuple[str, str], ...]:
        """Return the store and name of every line."""
        query = select(waiting_types.c.store, waiting_types.c.name).where(waiting_types.c.listed)
        ordered = query.order_by(waiting_types.c.store, waiting_types.c.position)
        async with self.database.look() as connection:
            return tuple((row.store, row.name) for row in await connection.execute(ordered))

    async def party(self, store_id: str, party_id: int) -> Party:
        """Return a party of this store."""
        async with self.database.look() as connection:
            return await lines.read_party(connection, store_id, party_id)

    async def by_ticket(self, store_id: str, line_name: str, ticket: str) -> Party:
        """Return the party that has this ticket in the live line."""
        if not isinstance(ticket, str) or not TICKET.fullmatch(ticket):
            raise UnknownParty
        query = select(parties).where(parties.c.ticket == ticket)
        async with self.database.look() as connection:
            row = (await connection.execute(query)).first()
        if row is None or (row.store, row.type) != (store_id, line_name):
            raise UnknownParty
        return party_of(row)

    async def parties(
        self,
        store_id: str,
        *,
        line_name: str | None = None,
        day: date | None = None,
        statuses: Collection[Status] | None = None,
        after: int | None = None,
        limit: int = 200,
    ) -> tuple[Party, ...]:
        """Return parties in order: those who are live, or all of a day, or those of `statuses`.

        `after` is the id of the last one of the page before.
        """
        check_number("limit", limit, 1, MOST_LISTED)
        query = lines.listed(store_id, line_name, day, statuses).limit(limit)
        async with self.database.look() as connection:
            await read_store(connection, store_id)
            if after is not None:
                last = await lines.read_party(connection, store_id, after)
                query = query.where(
                    tuple_(parties.c.sort_key, parties.c.id) > (last.sort_key, last.id)
                )
            return tuple(map(party_of, await connection.execute(query)))

    async def live(self, store_id: str, line_name: str) -> tuple[Party, ...]:
        """Return all who wait or are called in a line, in order."""
        here = lines.of_line(store_id, line_name)
        query = select(parties).where(here, is_live)
        async with self.database.look() as connection:
            rows = await connection.execute(query.order_by(parties.c.sort_key))
            return tuple(map(party_of, rows))

    async def lengths(self) -> dict[tuple[str, str], tuple[int, int]]:
        """Return how many wait and how many are called in each line that has any."""
        called = func.sum(case((parties.c.status == Status.CALLED, 1), else_=0))
        query = select(parties.c.store, parties.c.type, func.count().label("all"), called)
        grouped = query.where(is_live).group_by(parties.c.store, parties.c.type)
        async with self.database.look() as connection:
            rows = (await connection.execute(grouped)).all()
        return {(store, name): (total - called, called) for store, name, total, called in rows}

    async def ended_since(self, store_id: str, line_name: str, since_ms: int) -> tuple[Party, ...]:
        """Return who left a line since then, the first to leave first."""
        here = lines.of_line(store_id, line_name)
        query = select(parties).where(
            here, parties.c.changed_ms >= since_ms, parties.c.status.not_in(_LIVE)
        )
        async with self.database.look() as connection:
            rows = await connection.execute(query.order_by(parties.c.changed_ms, parties.c.id))
            return tuple(map(party_of, rows))

    async def history(self, store_id: str, party_id: int) -> tuple[Change, ...]:
        """Return everything that happened to a party, in order."""
        async with self.database.look() as connection:
            await lines.read_party(connection, store_id, party_id)
            query = select(changes).where(changes.c.party == party_id).order_by(changes.c.id)
            return tuple(map(change_of, await connection.execute(query)))

    async def turnover(self, store_id: str, line_name: str) -> Turnover:
        """Return what the last seatings of a line say."""
        async with self.database.look() as connection:
            return await lines.read_turnover(connection, store_id, line_name)
