"""The outbox: who is to be told what, from the record alone, and who may send it."""

from __future__ import annotations

import asyncio

import pytest
from sqlalchemy import func, select

from tests.support.clock import Clock
from waitroom.desk.inputs import Wish
from waitroom.desk.models import Party, Store, WaitingType
from waitroom.desk.notify.deliveries import pause_ms
from waitroom.desk.notify.outbox import DAY_MS, KEEP_MS, Kind, Notice, Outbox
from waitroom.desk.record.database import Database
from waitroom.desk.record.record import Action, Record
from waitroom.desk.record.tables import notices as table

LINE = "dine-in"
LEASE_MS = 20_000


class Shop:
    """A store's record with its outbox, on the test's clock."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self.database = database
        self.clock = clock
        self.record = Record(database, now_us=clock)
        self.outbox = Outbox(database, now_ms=lambda: clock.now_ms)
        self.store = "noodle"

    async def open(self) -> None:
        """Make the store."""
        types = (WaitingType(name=LINE, title="Dine in"),)
        await self.record.add_store(Store(id=self.store, title="Noodles", types=types))

    async def crowd(self, parties: int) -> list[Party]:
        """Register parties."""
        registered: list[Party] = []
        for _ in range(parties):
            self.clock.step(1)
            ticket = f"{self.store}-{len(registered)}-{self.clock.now_us}"
            registered.append(await self.record.register(self.store, LINE, Wish(size=2), ticket))
        return registered

    async def act(self, party: Party, action: Action, places: int | None = None) -> Party:
        """Do something to a party, a second later."""
        self.clock.step(1)
        return await self.record.act(self.store, party.id, action, places=places, by="host")

    async def note(self) -> int:
        """Find out who is to be told."""
        return await self.outbox.note([(self.store, LINE)])

    async def claim(self, most: int = 100) -> list[tuple[int, Kind]]:
        """Take what is due; return (party, kind)."""
        notices = await self.outbox.claim(self.store, most, LEASE_MS)
        return [(notice.party, notice.kind) for notice in notices]


@pytest.fixture
async def shop(database: Database, clock: Clock) -> Shop:
    """Open a store."""
    made = Shop(database, clock)
    await made.open()
    return made


async def test_near_is_told_with_three_teams_ahead(shop: Shop) -> None:
    """Anybody who joined behind more than three teams is told once, when at most three are left."""
    parties = await shop.crowd(6)
    assert 0 == await shop.note(), "the first four know, and two are not near"
    await shop.act(parties[0], Action.SEAT)
    assert 1 == await shop.note()
    assert 0 == await shop.note()
    assert [(parties[4].id, Kind.NEAR)] == await shop.claim()
    await shop.act(parties[1], Action.CANCEL)
    assert 1 == await shop.note()
    assert [(parties[5].id, Kind.NEAR)] == await shop.claim()


async def test_every_call_is_told(shop: Shop) -> None:
    """A call is told once, and again after an undo; undoing a seating is not a call."""
    (party,) = await shop.crowd(1)
    await shop.act(party, Action.CALL)
    assert [1, 0] == [await shop.note(), await shop.note()]
    await shop.act(party, Action.SEAT)
    await shop.act(party, Action.UNDO)
    assert 0 == await shop.note()
    await shop.act(party, Action.UNDO)
    assert 0 == await shop.note(), "it waits again"
    await shop.act(party, Action.CALL)
    assert 1 == await shop.note()
    assert [(party.id, Kind.CALLED)] * 2 == await shop.claim()


async def test_after_a_long_defer_near_is_told_again(shop: Shop) -> None:
    """Letting more than three teams go first gives another notice; letting one go does not."""
    parties = await shop.crowd(12)
    await shop.act(parties[0], Action.SEAT)
    assert 1 == await shop.note()
    deferred = await shop.act(parties[4], Action.DEFER, places=1)
    assert 1 == await shop.note(), "only the one who moved up"
    assert 1 == deferred.defers
    await shop.act(parties[4], Action.DEFER, places=5)
    for party in (*parties[1:4], *parties[5:10]):
        await shop.act(party, Action.CANCEL)
    await shop.note()
    claimed = await shop.claim()
    assert 2 == claimed.count((parties[4].id, Kind.NEAR)), claimed


async def test_many_lines_at_once(shop: Shop) -> None:
    """One query reads all requested lines, and no others."""
    types = tuple(WaitingType(name=f"line-{n}", title="x") for n in range(20))
    for name in ("other", "third", "none"):
        await shop.record.add_store(Store(id=name, title=name, types=types))
    for n, store in enumerate(("other", "third", "none")):
        for line in types[: 5 + n]:
            ticket = f"{store}-{line.name}"
            await shop.record.register(store, line.name, Wish(size=1), ticket)
            await shop.record.call_next(store, line.name, by="host")
    lines = [(store, line.name) for store in ("other", "third") for line in types]
    assert 11 == await shop.outbox.note(lines)
    assert 0 == await shop.outbox.note(lines)
    assert {"other", "third"} == set(await shop.outbox.stores_due())
    assert 0 == await shop.outbox.note([])


async def test_old_calls_are_not_told(shop: Shop) -> None:
    """A webhook set today does not notify anybody who was called yesterday."""
    (party,) = await shop.crowd(1)
    await shop.act(party, Action.CALL)
    shop.clock.step(DAY_MS / 1000 + 1)
    assert 0 == await shop.note()


async def test_two_who_look_at_once_note_it_once(shop: Shop) -> None:
    """Any number of processes may find the same notice missing; it is written once."""
    for party in await shop.crowd(5):
        await shop.act(party, Action.CALL)
    await asyncio.gather(*(shop.note() for _ in range(8)))
    assert 5 == len(await shop.claim())


async def test_a_claim_is_one_hand_at_a_time(shop: Shop) -> None:
    """Concurrent claims share the notices; none is claimed twice, and none is left."""
    parties = await shop.crowd(20)
    for party in parties:
        await shop.act(party, Action.CALL)
    await shop.note()
    claims = await asyncio.gather(*(shop.claim(3) for _ in range(10)))
    taken = [party for some in claims for party, _ in some]
    left = await shop.claim()
    assert sorted(party.id for party in parties) == sorted([*taken, *(party for party, _ in left)])


async def test_a_claim_runs_out(shop: Shop) -> None:
    """A claimed but undelivered notice is due again when the lease is over, as the same one."""
    (party,) = await shop.crowd(1)
    await shop.act(party, Action.CALL)
    await shop.note()
    (first,) = await shop.outbox.claim(shop.store, 9, LEASE_MS)
    assert () == await shop.outbox.claim(shop.store, 9, LEASE_MS)
    assert () == await shop.outbox.stores_due()
    shop.clock.step(LEASE_MS / 1000)
    assert (shop.store,) == await shop.outbox.stores_due()
    (again,) = await shop.outbox.claim(shop.store, 9, LEASE_MS)
    assert (first.name, 1, 2) == (again.name, first.tries, again.tries)
    assert {shop.store: 1} == await shop.outbox.late()
    await shop.outbox.delivered(again)
    shop.clock.step(DAY_MS / 1000)
    assert ((), {}) == (await shop.outbox.stores_due(), await shop.outbox.late())


async def test_later_and_dropped(shop: Shop) -> None:
    """A failed notice is due after its pause; a dropped one never."""
    (party,) = await shop.crowd(1)
    await shop.act(party, Action.CALL)
    await shop.note()
    (notice,) = await shop.outbox.claim(shop.store, 9, LEASE_MS)
    await shop.outbox.later(notice, "answered 500" * 100, 1_500)
    shop.clock.step(1.4)
    assert () == await shop.outbox.stores_due()
    shop.clock.step(0.1)
    assert (shop.store,) == await shop.outbox.stores_due()
    await shop.outbox.dropped(notice, "no longer true")
    shop.clock.step(DAY_MS / 1000)
    assert () == await shop.outbox.stores_due()


async def test_what_is_no_longer_true(shop: Shop) -> None:
    """A call is outdated once the party is seated or called again; a near one once called."""
    (party,) = await shop.crowd(1)
    near = _notice(shop, party, Kind.NEAR, 0)
    assert not near.outdated(party)
    called = await shop.act(party, Action.CALL)
    call = _notice(shop, party, Kind.CALLED, called.called_ms or 0)
    assert (True, False) == (near.outdated(called), call.outdated(called))
    seated = await shop.act(party, Action.SEAT)
    assert call.outdated(seated)
    await shop.act(party, Action.UNDO)
    await shop.act(party, Action.UNDO)
    assert call.outdated(await shop.act(party, Action.CALL))


async def test_teams_ahead(shop: Shop) -> None:
    """Only waiting parties ahead of this one are counted."""
    parties = await shop.crowd(4)
    await shop.act(parties[0], Action.CALL)
    assert [1, 0] == [await shop.outbox.teams_ahead(parties[n]) for n in (2, 1)]


async def test_old_notices_are_forgotten(shop: Shop) -> None:
    """After a month nothing is left of past notices."""
    (party,) = await shop.crowd(1)
    await shop.act(party, Action.CALL)
    await shop.note()
    shop.clock.step(KEEP_MS / 1000 - 1)
    await shop.outbox.forget()
    assert 1 == await _kept(shop)
    shop.clock.step(2)
    await shop.outbox.forget()
    assert 0 == await _kept(shop)


def test_pauses_grow() -> None:
    """Between a half and a whole of 1, 2, 4 … s, and never more than ten minutes."""
    for tries, longest_ms in ((1, 1_000), (2, 2_000), (5, 16_000), (11, 600_000), (999, 600_000)):
        pauses = [pause_ms(tries) for _ in range(50)]
        assert longest_ms / 2 <= min(pauses) <= max(pauses) <= longest_ms
        assert len(set(pauses)) > 1


def _notice(shop: Shop, party: Party, kind: Kind, turn: int) -> Notice:
    return Notice(
        id=1, store=shop.store, party=party.id, kind=kind, round=turn, created_ms=0, tries=1
    )


async def _kept(shop: Shop) -> int:
    ours = select(func.count()).where(table.c.store == shop.store)
    async with shop.database.look() as connection:
        return int((await connection.execute(ours)).scalar_one())
