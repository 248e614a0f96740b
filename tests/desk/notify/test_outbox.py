"""The outbox: who is to be told what, by the record alone, and who may send it."""

from __future__ import annotations

import asyncio

import pytest
from sqlalchemy import func, select

from tests.support.clock import Clock
from waitroom.desk.inputs import Wish
from waitroom.desk.models import Party, Store, WaitingType
from waitroom.desk.notify.deliveries import pause_ms
from waitroom.desk.notify.outbox import DAY_MS, KEEP_MS, Kind, Notice, Notices
from waitroom.desk.record.database import Database
from waitroom.desk.record.record import Action, Book
from waitroom.desk.record.tables import notices as table

LINE = "dine-in"
LEASE_MS = 20_000


class Outbox:
    """A store's record with the outbox on it, under the test's clock."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self.database = database
        self.clock = clock
        self.book = Book(database, now_us=clock)
        self.notices = Notices(database, now_ms=lambda: clock.now_ms)
        self.store = "noodle"

    async def open(self) -> None:
        """Make the store."""
        types = (WaitingType(name=LINE, title="Dine in"),)
        await self.book.add_store(Store(id=self.store, title="Noodles", types=types))

    async def crowd(self, parties: int) -> list[Party]:
        """Let parties register."""
        found: list[Party] = []
        for _ in range(parties):
            self.clock.step(1)
            ticket = f"{self.store}-{len(found)}-{self.clock.now_us}"
            found.append(await self.book.register(self.store, LINE, Wish(size=2), ticket))
        return found

    async def act(self, party: Party, action: Action, places: int | None = None) -> Party:
        """Do something to a party, a second later."""
        self.clock.step(1)
        return await self.book.act(self.store, party.id, action, places=places, by="host")

    async def note(self) -> int:
        """Look who is to be told."""
        return await self.notices.note([(self.store, LINE)])

    async def claim(self, most: int = 100) -> list[tuple[int, Kind]]:
        """Take what is due; return (party, kind)."""
        found = await self.notices.claim(self.store, most, LEASE_MS)
        return [(one.party, one.kind) for one in found]


@pytest.fixture
async def outbox(database: Database, clock: Clock) -> Outbox:
    """Open a store."""
    made = Outbox(database, clock)
    await made.open()
    return made


async def test_near_is_told_with_three_teams_ahead(outbox: Outbox) -> None:
    """Whoever joined behind more than three teams is told once at most three are left, once."""
    parties = await outbox.crowd(6)
    assert 0 == await outbox.note(), "the first four know, and two are not near"
    await outbox.act(parties[0], Action.SEAT)
    assert 1 == await outbox.note()
    assert 0 == await outbox.note()
    assert [(parties[4].id, Kind.NEAR)] == await outbox.claim()
    await outbox.act(parties[1], Action.CANCEL)
    assert 1 == await outbox.note()
    assert [(parties[5].id, Kind.NEAR)] == await outbox.claim()


async def test_every_call_is_told(outbox: Outbox) -> None:
    """A call is told once, a second one after an undo again; the undo of a seating is no call."""
    (party,) = await outbox.crowd(1)
    await outbox.act(party, Action.CALL)
    assert [1, 0] == [await outbox.note(), await outbox.note()]
    await outbox.act(party, Action.SEAT)
    await outbox.act(party, Action.UNDO)
    assert 0 == await outbox.note()
    await outbox.act(party, Action.UNDO)
    assert 0 == await outbox.note(), "it waits again"
    await outbox.act(party, Action.CALL)
    assert 1 == await outbox.note()
    assert [(party.id, Kind.CALLED)] * 2 == await outbox.claim()


async def test_after_a_long_defer_near_is_told_again(outbox: Outbox) -> None:
    """Who lets more than three teams go first is told again; who lets one go first is not."""
    parties = await outbox.crowd(12)
    await outbox.act(parties[0], Action.SEAT)
    assert 1 == await outbox.note()
    deferred = await outbox.act(parties[4], Action.DEFER, places=1)
    assert 1 == await outbox.note(), "only the one who moved up"
    assert 1 == deferred.defers
    await outbox.act(parties[4], Action.DEFER, places=5)
    for one in (*parties[1:4], *parties[5:10]):
        await outbox.act(one, Action.CANCEL)
    await outbox.note()
    told = await outbox.claim()
    assert 2 == told.count((parties[4].id, Kind.NEAR)), told


async def test_many_lines_at_once(outbox: Outbox) -> None:
    """All lines that are asked for are looked at in one query, and no other."""
    types = tuple(WaitingType(name=f"line-{n}", title="x") for n in range(20))
    for name in ("other", "third", "none"):
        await outbox.book.add_store(Store(id=name, title=name, types=types))
    for n, store in enumerate(("other", "third", "none")):
        for line in types[: 5 + n]:
            ticket = f"{store}-{line.name}"
            await outbox.book.register(store, line.name, Wish(size=1), ticket)
            await outbox.book.call_next(store, line.name, by="host")
    lines = [(store, line.name) for store in ("other", "third") for line in types]
    assert 11 == await outbox.notices.note(lines)
    assert 0 == await outbox.notices.note(lines)
    assert {"other", "third"} == set(await outbox.notices.stores_due())
    assert 0 == await outbox.notices.note([])


async def test_old_calls_are_not_told(outbox: Outbox) -> None:
    """A webhook that is set today does not ring for somebody who was called yesterday."""
    (party,) = await outbox.crowd(1)
    await outbox.act(party, Action.CALL)
    outbox.clock.step(DAY_MS / 1000 + 1)
    assert 0 == await outbox.note()


async def test_two_who_look_at_once_note_it_once(outbox: Outbox) -> None:
    """Any number of processes may find the same thing missing; it is written once."""
    for party in await outbox.crowd(5):
        await outbox.act(party, Action.CALL)
    await asyncio.gather(*(outbox.note() for _ in range(8)))
    assert 5 == len(await outbox.claim())


async def test_a_claim_is_one_hand_at_a_time(outbox: Outbox) -> None:
    """Claims at the same moment share the notices; none is in two hands, and none is left."""
    parties = await outbox.crowd(20)
    for party in parties:
        await outbox.act(party, Action.CALL)
    await outbox.note()
    found = await asyncio.gather(*(outbox.claim(3) for _ in range(10)))
    taken = [party for some in found for party, _ in some]
    left = await outbox.claim()
    assert sorted(one.id for one in parties) == sorted([*taken, *(party for party, _ in left)])


async def test_a_claim_runs_out(outbox: Outbox) -> None:
    """What somebody took and did not deliver is due again when the lease is over, as the same."""
    (party,) = await outbox.crowd(1)
    await outbox.act(party, Action.CALL)
    await outbox.note()
    (first,) = await outbox.notices.claim(outbox.store, 9, LEASE_MS)
    assert () == await outbox.notices.claim(outbox.store, 9, LEASE_MS)
    assert () == await outbox.notices.stores_due()
    outbox.clock.step(LEASE_MS / 1000)
    assert (outbox.store,) == await outbox.notices.stores_due()
    (again,) = await outbox.notices.claim(outbox.store, 9, LEASE_MS)
    assert (first.name, 1, 2) == (again.name, first.tries, again.tries)
    assert {outbox.store: 1} == await outbox.notices.late()
    await outbox.notices.delivered(again)
    outbox.clock.step(DAY_MS / 1000)
    assert ((), {}) == (await outbox.notices.stores_due(), await outbox.notices.late())


async def test_later_and_dropped(outbox: Outbox) -> None:
    """A notice that failed is due after its pause; one that was dropped never."""
    (party,) = await outbox.crowd(1)
    await outbox.act(party, Action.CALL)
    await outbox.note()
    (notice,) = await outbox.notices.claim(outbox.store, 9, LEASE_MS)
    await outbox.notices.later(notice, "answered 500" * 100, 1_500)
    outbox.clock.step(1.4)
    assert () == await outbox.notices.stores_due()
    outbox.clock.step(0.1)
    assert (outbox.store,) == await outbox.notices.stores_due()
    await outbox.notices.dropped(notice, "no longer true")
    outbox.clock.step(DAY_MS / 1000)
    assert () == await outbox.notices.stores_due()


async def test_what_is_no_longer_true(outbox: Outbox) -> None:
    """A call is outdated once the party sits, or was called anew; a near one once it is called."""
    (party,) = await outbox.crowd(1)
    near = _notice(outbox, party, Kind.NEAR, 0)
    assert not near.outdated(party)
    called = await outbox.act(party, Action.CALL)
    call = _notice(outbox, party, Kind.CALLED, called.called_ms or 0)
    assert (True, False) == (near.outdated(called), call.outdated(called))
    seated = await outbox.act(party, Action.SEAT)
    assert call.outdated(seated)
    await outbox.act(party, Action.UNDO)
    await outbox.act(party, Action.UNDO)
    assert call.outdated(await outbox.act(party, Action.CALL))


async def test_teams_ahead(outbox: Outbox) -> None:
    """Only those who wait, and stand before the party, are counted."""
    parties = await outbox.crowd(4)
    await outbox.act(parties[0], Action.CALL)
    assert [1, 0] == [await outbox.notices.teams_ahead(parties[n]) for n in (2, 1)]


async def test_cursors_are_kept(outbox: Outbox) -> None:
    """How far each room's events were read is remembered, alone or with a notice."""
    room = f"desk.{outbox.store}.{LINE}"
    await outbox.notices.move({room: "1-1", f"{room}-x": "5-0"})
    (party,) = await outbox.crowd(1)
    await outbox.act(party, Action.CALL)
    assert 1 == await outbox.notices.note([(outbox.store, LINE)], {room: "2-7"})
    kept = await outbox.notices.cursors()
    assert ("2-7", "5-0") == (kept[room], kept[f"{room}-x"])


async def test_old_notices_are_forgotten(outbox: Outbox) -> None:
    """After a month nothing is left of what was told."""
    (party,) = await outbox.crowd(1)
    await outbox.act(party, Action.CALL)
    await outbox.note()
    outbox.clock.step(KEEP_MS / 1000 - 1)
    await outbox.notices.forget()
    assert 1 == await _kept(outbox)
    outbox.clock.step(2)
    await outbox.notices.forget()
    assert 0 == await _kept(outbox)


def test_pauses_grow() -> None:
    """Between a half and a whole of 1, 2, 4 … s, and never more than ten minutes."""
    for tries, longest_ms in ((1, 1_000), (2, 2_000), (5, 16_000), (11, 600_000), (999, 600_000)):
        found = [pause_ms(tries) for _ in range(50)]
        assert longest_ms / 2 <= min(found) <= max(found) <= longest_ms
        assert len(set(found)) > 1


def _notice(outbox: Outbox, party: Party, kind: Kind, turn: int) -> Notice:
    return Notice(
        id=1,
        store=outbox.store,
        party=party.id,
        kind=kind,
        round=turn,
        created_ms=0,
        tries=1,
    )


async def _kept(outbox: Outbox) -> int:
    ours = select(func.count()).where(table.c.store == outbox.store)
    async with outbox.database.look() as connection:
        return int((await connection.execute(ours)).scalar_one())
