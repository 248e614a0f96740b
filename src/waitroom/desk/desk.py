"""The desk as servers and commands use it: every change goes to the record, then to the live line.

A change is done once it is in the record. If the live line cannot be reached then, the request
still succeeds: the line is repaired in the background, and lags a little until then.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from waitroom.desk.inputs import Wish
from waitroom.desk.live.follow import Follower
from waitroom.desk.live.line import LiveLines, room_of
from waitroom.desk.live.repair import Repaired, Repairs, end_tasks
from waitroom.desk.live.tokens import Tokens
from waitroom.desk.live.turnover import read_turnover, turnover_text
from waitroom.desk.live.waits import LineSummary, ObservedWaits, summarize_line
from waitroom.desk.models import Party, Place, Status, Store
from waitroom.desk.notify.loops import Notifier
from waitroom.desk.on_site import OnSiteCodes
from waitroom.desk.record.database import open_database
from waitroom.desk.record.host_keys import HostKeys
from waitroom.desk.record.record import Action, Record
from waitroom.desk.record.sign_outs import HostSignOuts
from waitroom.engine import Engine, LineCounts, Spot
from waitroom.errors import BackendUnavailable, InvalidInput, Unavailable
from waitroom.settings import Settings
from waitroom.tickets import KeyRing

__all__ = ["Desk", "LineSummary", "Repaired", "open_desk"]

log = logging.getLogger("waitroom.desk")

FORGET_PHONES_S = 3600.0
_REPAIRS = 3
_GUEST_ACTIONS = (Action.DEFER, Action.CANCEL)
_CHANGES_TURNOVER = (Action.SEAT, Action.UNDO)


class Desk:
    """The stores of one database, and their live lines in one engine."""

    def __init__(self, record: Record, engine: Engine, ring: KeyRing) -> None:
        self.record = record
        self.hosts = HostKeys(record.database)
        self.sign_outs = HostSignOuts(record.database)
        self.engine = engine
        self.repairs = Repairs(record, LiveLines(engine))
        self.observed = ObservedWaits(engine)
        self._lines = self.repairs.live
        self._follow = Follower(record, self._lines, self.repairs)
        self._tokens = Tokens(ring)
        self._new_ticket = ring.new_id
        # Keyed with the deployment's secret: the record must not reveal where guests came from.
        self._sealed_address = partial(ring.visitor_id, "desk/address")
        self.on_site = OnSiteCodes(ring)
        self._spot = engine.spot

    # Guests ---------------------------------------------------------------------------------

    async def join(
        self,
        store_id: str,
        line_name: str,
        wish: Wish,
        *,
        by: str = "guest",
        op_id: str | None = None,
        force: bool = False,
        address: str | None = None,
    ) -> tuple[Party, str]:
        """Register a party; return it with the token of its guests.

        With an `address`, the join counts towards the limit of that address.
        """
        ticket = self._new_ticket()
        source = None if address is None else self._sealed_address(f"{store_id}:{address}")
        party = await self.record.register(
            store_id, line_name, wish, ticket, by=by, op_id=op_id, force=force, address=source
        )
        await self._follow.party(party)
        return party, self.token(party)

    def token(self, party: Party) -> str:
        """Return the token of a party: the same each time."""
        return self._tokens.sign(party)

    def read_token(self, store_id: str, token: str) -> tuple[str, str]:
        """Return the waiting type and ticket of a guest's token of this store."""
        return self._tokens.read(store_id, token)

    async def place(self, store_id: str, token: str) -> Place:
        """Return where a guest stands, without the database while they wait or are called."""
        line_name, ticket = self._tokens.read(store_id, token)
        spot = await self._spot(room_of(store_id, line_name), ticket)
        if spot.turnover and spot.state is not None:
            return self._live_place(store_id, line_name, spot)
        return await self._place_by_record(store_id, line_name, ticket, spot)

    async def guest_party(self, store_id: str, token: str) -> Party:
        """Return the party of a token, from the record."""
        line_name, ticket = self._tokens.read(store_id, token)
        return await self.record.by_ticket(store_id, line_name, ticket)

    async def guest_act(
        self,
        store_id: str,
        token: str,
        action: Action,
        *,
        places: int | None = None,
        op_id: str | None = None,
    ) -> Party:
        """Do what guests may do by themselves: let others go first, or cancel."""
        if action not in _GUEST_ACTIONS:
            raise InvalidInput("action", f"guests may {' or '.join(_GUEST_ACTIONS)}, nothing else")
        party = await self.guest_party(store_id, token)
        return await self.act(store_id, party.id, action, places=places, by="guest", op_id=op_id)

    # Hosts ----------------------------------------------------------------------------------

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
        """Call the first party that fits; None if nobody does."""
        party = await self.record.call_next(
            store_id, line_name, fits=fits, expected=expected, by=by, op_id=op_id
        )
        if party is not None:
            await self._follow.party(party)
        return party

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
        """Apply an action, like a call, a seating or an undo; the live line follows."""
        party = await self.record.act(
            store_id, party_id, action, places=places, by=by, op_id=op_id, revision=revision
        )
        await self._follow.party(party, turnover=action in _CHANGES_TURNOVER)
        return party

    async def erase(self, store_id: str, party_id: int, *, by: str) -> Party:
        """Erase name, phone and note of a party for ever."""
        party = await self.record.erase(store_id, party_id, by=by)
        await self._follow.party(party)
        return party

    # Stores ---------------------------------------------------------------------------------

    async def change_store(
        self, store_id: str, *, version: int | None = None, **changes: Any
    ) -> Store:
        """Change a store, and notify everybody who watches its lines."""
        store = await self.record.change_store(store_id, version=version, **changes)
        for line in store.types:
            await self._follow.touch(store_id, line.name)
        return store

    async def waits(self, store_id: str) -> tuple[LineSummary, ...]:
        """Return each line of a store, as a newcomer sees it."""
        store = await self.record.store(store_id)
        rooms = [room_of(store_id, line.name) for line in store.types]
        counts = await self._lines.engine.line_counts(rooms)
        now_ms = self.record.now_ms()
        summaries = []
        for line, room, count in zip(store.types, rooms, counts, strict=True):
            if not count.turnover:
                count = await self._repaired_counts(store_id, line.name)
            observed = await self.observed.fresh(room, count.waiting + 1)
            summaries.append(summarize_line(store, line, count, observed, now_ms))
        return tuple(summaries)

    async def repair(self, store_id: str | None = None, *, forced: bool = False) -> Repaired:
        """Compare live lines with the record, and settle the differences."""
        if store_id is not None:
            await self.record.store(store_id)  # raises if there is no such store
        lines = await self.record.open_lines()
        wanted = [line for line in lines if store_id is None or line[0] == store_id]
        return await self.repairs.lines(wanted, forced=forced)

    # Inside ---------------------------------------------------------------------------------

    def _live_place(self, store: str, line_name: str, spot: Spot) -> Place:
        position = spot.position
        if position is None:
            return _place(store, line_name, Status.CALLED, spot)
        return Place(
            store=store,
            line_name=line_name,
            status=Status.WAITING,
            position=position,
            waiting=spot.waiting,
            wait_minutes=read_turnover(spot.turnover).wait_minutes(position),
            observed=self.observed.range(room_of(store, line_name), position),
        )

    async def _repaired_counts(self, store: str, line_name: str) -> LineCounts:
        """Return the length of a line that was lost, or that nobody has used yet."""
        await self.repairs.line(store, line_name)
        (counts,) = await self._lines.engine.line_counts([room_of(store, line_name)])
        return counts._replace(turnover=turnover_text(await self.record.turnover(store, line_name)))

    async def _place_by_record(self, store: str, line_name: str, ticket: str, spot: Spot) -> Place:
        """Return the place of a party missing from the live line, which is repaired if need be."""
        room = room_of(store, line_name)
        if not spot.turnover:  # the whole line is lost: one repair serves everybody
            await self.repairs.line(store, line_name)
            spot = await self._spot(room, ticket)
        for _ in range(_REPAIRS):
            if spot.turnover and spot.state is not None:
                return self._live_place(store, line_name, spot)
            party = await self.record.by_ticket(store, line_name, ticket)
            if not party.status.live:
                return _place(store, line_name, party.status, spot)
            # A repair that others began may have read the record before this party joined.
            await self.repairs.line(store, line_name)
            spot = await self._spot(room, ticket)
        raise BackendUnavailable(f"line {room!r} is lost again and again; is it being flushed?")

    async def aclose(self) -> None:
        """Wait for running work, so that nothing uses the database after it is closed."""
        await self._follow.aclose()
        await self.repairs.aclose()
        await self.observed.stop()


def _place(store: str, line_name: str, status: Status, spot: Spot) -> Place:
    """Return the place of a party that is not waiting."""
    return Place(store=store, line_name=line_name, status=status, position=0, waiting=spot.waiting)


@asynccontextmanager
async def open_desk(settings: Settings, engine: Engine, ring: KeyRing) -> AsyncIterator[Desk]:
    """Open the record, bring the live lines up to date, and keep both in step until the end."""
    async with open_database(settings.desk_database, settings.data_dir) as database:
        record = Record(database)
        desk = Desk(record, engine, ring)
        try:
            await desk.repair()
        except Unavailable as error:  # the lines catch up when the server is back
            log.warning("the lines were not compared with the record yet: %s", error)
            for line in await record.open_lines():
                desk.repairs.soon(*line)
        loops = [
            asyncio.create_task(desk.repairs.run()),
            asyncio.create_task(_forget_phones(record)),
        ]
        try:
            async with Notifier(record, engine, desk.token, public_url=settings.public_url):
                yield desk
        finally:
            await end_tasks(*loops)
            await desk.aclose()


async def _forget_phones(record: Record) -> None:
    while True:
        try:
            forgotten = await record.forget_phones()
            if forgotten:
                log.info("%d phone numbers were forgotten, as their stores say", forgotten)
        except Exception as error:
            log.warning("phone numbers were not forgotten, trying again: %s", type(error).__name__)
        await asyncio.sleep(FORGET_PHONES_S)
