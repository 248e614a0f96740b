"""Live lines are restored from the record, after a flush or any difference: everybody, in order."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from tests.desk.desks import (
    DINE,
    TAKEOUT,
    check_agreement,
    crowd,
    desk_on,
    do,
    held_by,
    join,
    new_store,
    position,
    positions,
    revision_of,
    seatings,
)
from tests.support.clock import Clock, open_engine
from tests.support.servers import Server, start_server
from waitroom.desk.desk import Desk
from waitroom.desk.live import repair
from waitroom.desk.live.line import room_of
from waitroom.desk.live.repair import Repaired, end_tasks
from waitroom.desk.models import Action, Party, Store
from waitroom.desk.record.database import Database
from waitroom.engine import Settled, keys
from waitroom.errors import UnknownStore

MINUTES = [4] * 12


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Run a private server that may be flushed."""
    with start_server("valkey", tmp_path_factory.mktemp("own")) as server:
        yield server


@pytest.fixture
async def desk(database: Database, own: Server, clock: Clock) -> AsyncIterator[Desk]:
    """Open a desk on the server that may be flushed."""
    async with open_engine(own.url, clock) as engine, desk_on(database, engine, clock) as desk:
        yield desk


async def evening(desk: Desk, clock: Clock) -> tuple[Store, list[Party]]:
    """Return a store in service: one seated, one called, one deferred, and eight waiting."""
    store = await new_store(desk)
    await seatings(desk, store, clock, MINUTES)
    parties = await crowd(desk, store, clock, 10)
    await do(desk, parties[0], Action.CALL, Action.SEAT)
    await do(desk, parties[1], Action.CALL)
    await do(desk, parties[2], Action.DEFER, places=3)
    return store, [*parties[3:6], parties[2], *parties[6:]]


async def look(desk: Desk, _: Store, parties: list[Party]) -> None:
    """Look at the last guest's place."""
    assert 8 == await position(desk, parties[-1])


async def come(desk: Desk, store: Store, _: list[Party]) -> None:
    """Make a newcomer join, behind everybody."""
    assert 9 == await position(desk, await join(desk, store))


async def call(desk: Desk, store: Store, parties: list[Party]) -> None:
    """Make the host call the next party, which is still the first."""
    called = await desk.call_next(store.id, DINE, by="host")
    assert called is not None
    assert parties.pop(0).id == called.id


async def seat(desk: Desk, _: Store, parties: list[Party]) -> None:
    """Make the host seat the first party straight from the line."""
    await do(desk, parties.pop(0), Action.SEAT)


async def mend(desk: Desk, store: Store, _: list[Party]) -> None:
    """Repair by hand."""
    done = await desk.repair(store.id)
    assert (len(store.types), 9, 0) == (done.lines, done.settled, done.removed)


async def see(desk: Desk, store: Store, _: list[Party]) -> None:
    """Look at the store as somebody who considers joining."""
    line = (await desk.waits(store.id))[0]
    assert (8, 1) == (line.waiting, line.called)


@pytest.mark.parametrize("first", [look, come, call, seat, mend, see])
async def test_flushed_in_service(
    desk: Desk,
    own: Server,
    clock: Clock,
    first: Callable[[Desk, Store, list[Party]], Awaitable[None]],
) -> None:
    """After FLUSHALL the first action of anybody brings everybody back, in the same order."""
    store, waiting = await evening(desk, clock)
    assert [*range(1, 9)] == await positions(desk, waiting)
    turnover = (await held_by(desk, store)).turnover
    own.command("FLUSHALL")
    await first(desk, store, waiting)
    await check_agreement(desk, store)
    assert [*range(1, len(waiting) + 1)] == await positions(desk, waiting)
    if first is not seat:
        assert turnover == (await held_by(desk, store)).turnover


async def test_flushed_while_nobody_was_there(
    desk: Desk, database: Database, own: Server, clock: Clock
) -> None:
    """A process that starts after a flush restores lines that it never saw."""
    store, waiting = await evening(desk, clock)
    own.command("FLUSHALL")
    async with open_engine(own.url, clock) as engine, desk_on(database, engine, clock) as other:
        await other.repair()
        await check_agreement(other, store)
        assert [*range(1, 9)] == await positions(other, waiting)
    # The process that knew it before follows.
    await come(desk, store, waiting)
    await check_agreement(desk, store)


async def test_a_crowd_repairs_once(desk: Desk, own: Server, clock: Clock) -> None:
    """However many guests find their line lost, it is rebuilt once."""
    store, waiting = await evening(desk, clock)
    own.command("FLUSHALL")
    settles: list[int] = []
    desk.engine.on_script(lambda verb, _s, n: settles.append(n) if verb == "settle" else None)
    looks = [position(desk, party) for _ in range(20) for party in waiting]
    assert [*range(1, 9)] * 20 == await asyncio.gather(*looks)
    assert [9, 9, 1] == settles  # the room is lost; everybody; then the turnover
    await check_agreement(desk, store)


async def test_nothing_to_do(desk: Desk, clock: Clock) -> None:
    """Repairing a correct line changes nothing, and makes no room for an unused line."""
    store, _ = await evening(desk, clock)
    revision = await revision_of(desk, store)
    assert Repaired(2, 0, 0) == await desk.repair(store.id)
    assert revision == await revision_of(desk, store)
    assert room_of(store.id, TAKEOUT) not in await desk.engine.rooms()


async def test_unknown_store(desk: Desk) -> None:
    """Repairing a store that does not exist is an error."""
    with pytest.raises(UnknownStore):
        await desk.repair("nowhere")


async def test_forced(desk: Desk, clock: Clock) -> None:
    """With force everybody is settled, whatever the line knew before."""
    store, waiting = await evening(desk, clock)
    room = room_of(store.id, DINE)
    later = [Settled(party.ticket, "left", party.sort_key, 99) for party in waiting]
    await desk.engine.settle(room, later)
    assert Repaired(2, 8, 0) == await desk.repair(store.id, forced=True)
    await check_agreement(desk, store)


async def test_strangers_go(desk: Desk, clock: Clock) -> None:
    """A party in the line but not in the record is removed; the others move up."""
    store, waiting = await evening(desk, clock)
    strangers = [
        Settled(secrets.token_urlsafe(12), state, waiting[0].sort_key - 1 - n, 1)
        for n, state in enumerate(("waiting", "called", "waiting"))
    ]
    await desk.engine.settle(room_of(store.id, DINE), strangers)
    assert 3 == await position(desk, waiting[0])
    assert Repaired(2, 0, 3) == await desk.repair(store.id)
    assert 1 == await position(desk, waiting[0])
    await check_agreement(desk, store)


async def test_other_stores_are_left_alone(desk: Desk, clock: Clock) -> None:
    """A repair of one store does not touch another's lines."""
    repaired, _ = await evening(desk, clock)
    other, parties = await evening(desk, clock)
    gone = [Settled(parties[0].ticket, "left", parties[0].sort_key, 9)]
    await desk.engine.settle(room_of(other.id, DINE), gone)
    assert Repaired(2, 0, 0) == await desk.repair(repaired.id)
    assert 1 == (await desk.repair(other.id)).settled


async def test_a_change_during_the_repair(desk: Desk, clock: Clock) -> None:
    """Hosts keep working during repeated repairs: none of their actions is undone."""
    store = await new_store(desk)
    parties = await crowd(desk, store, clock, 12)

    served = asyncio.Event()

    async def repair_on() -> None:
        while not served.is_set():
            await desk.repair(store.id)

    async def serve(party: Party) -> None:
        await do(desk, party, Action.CALL, Action.UNDO, Action.CALL, Action.SEAT)

    repairing = asyncio.create_task(repair_on())
    await asyncio.gather(*(serve(party) for party in parties[:8]))
    served.set()
    await repairing
    assert {party.ticket for party in parties[8:]} == (await held_by(desk, store)).tickets
    await check_agreement(desk, store)


async def test_a_spoilt_line_is_apart(
    desk: Desk, clock: Clock, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A spoilt key fails for its own line; all others are repaired as usual."""
    monkeypatch.setattr(repair, "EVERY_S", 0.05)
    spoilt, others = await new_store(desk), [await new_store(desk) for _ in range(2)]
    parties = [(await crowd(desk, store, clock, 2))[0] for store in (*others, spoilt)]
    key = keys.room_key(room_of(spoilt.id, DINE), "called")
    await desk.engine.backend.client.set(key, "spoilt")
    gone = [Settled(party.ticket, "left", party.sort_key, 9) for party in parties[:2]]
    for store, change in zip(others, gone, strict=True):
        await desk.engine.settle(room_of(store.id, DINE), [change])
    assert 2 == (await desk.repair()).settled
    assert "cannot be repaired" in caplog.text
    for store, change in zip(others, gone, strict=True):
        await desk.engine.settle(room_of(store.id, DINE), [change._replace(revision=99)])
    desk.repairs.soon(spoilt.id, DINE)
    loop = asyncio.create_task(desk.repairs.run())

    async def all_back() -> bool:
        tickets = [(await held_by(desk, store)).tickets for store in others]
        return all(change.id in some for change, some in zip(gone, tickets, strict=True))

    await until(all_back)
    await end_tasks(loop)
    await desk.engine.backend.client.delete(key)
    await desk.repair()
    await check_agreement(desk, spoilt)


async def until(true: Callable[[], Awaitable[bool]]) -> None:
    """Wait until something is true."""
    async with asyncio.timeout(20):
        while not await true():  # noqa: ASYNC110 - nothing tells of it
            await asyncio.sleep(0.02)


async def test_in_the_background(desk: Desk, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """A difference that nobody asked about is found: by the length, and person by person."""
    monkeypatch.setattr(repair, "EVERY_S", 0.05)
    store, waiting = await evening(desk, clock)
    room = room_of(store.id, DINE)
    loop = asyncio.create_task(desk.repairs.run())
    stranger = Settled(secrets.token_urlsafe(12), "waiting", waiting[0].sort_key - 1, 1)

    async def stranger_is_gone() -> bool:
        return stranger.id not in (await held_by(desk, store)).tickets

    await desk.engine.settle(room, [stranger])
    await until(stranger_is_gone)
    # The same length, but somebody is at another place.
    first = waiting[0]
    moved = Settled(first.ticket, "waiting", waiting[-1].sort_key + 99, first.revision + 5)
    await desk.engine.settle(room, [moved])

    async def order_is_back() -> bool:
        return first.sort_key == (await held_by(desk, store)).waiting.get(first.ticket)

    await until(order_is_back)
    await check_agreement(desk, store)
    await end_tasks(loop)


async def test_what_did_not_arrive_is_mended_soon(
    database: Database, tmp_path: Path, clock: Clock
) -> None:
    """A change that met no server reaches the line as soon as there is one, without a lap."""
    with start_server("valkey", tmp_path / "away", aof=True) as server:
        async with (
            open_engine(server.url, clock) as engine,
            desk_on(database, engine, clock) as desk,
        ):
            store = await new_store(desk)
            await crowd(desk, store, clock, 3)
            loop = asyncio.create_task(desk.repairs.run())
            server.kill()
            party = await join(desk, store)
            server.restart()

            async def arrived() -> bool:
                return party.ticket in (await held_by(desk, store)).tickets

            await until(arrived)
            await check_agreement(desk, store)
            await end_tasks(loop)
