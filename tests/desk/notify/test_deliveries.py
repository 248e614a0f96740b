"""Deliveries: receivers that fail, hang or redirect, and notices that are outdated."""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncIterator

import pytest
from sqlalchemy import update

from tests.desk.hooked import (
    LINE,
    PHONE,
    SECRET,
    add_store,
    desk_on,
    hooked,
    join,
    notifying,
    rows,
    settled,
    until,
)
from tests.desk.receivers import Receiver, receiving
from tests.support.servers import Server, free_port
from waitroom.desk.desk import Desk
from waitroom.desk.notify.outbox import GIVE_UP_MS, Outbox
from waitroom.desk.record.database import Database
from waitroom.desk.record.record import Action
from waitroom.desk.record.tables import notices as table

# For tests that do not depend on the kind of database.
on_sqlite = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)


@pytest.fixture
async def desk(database: Database, valkey: Server) -> AsyncIterator[Desk]:
    """Open a desk on the session's server."""
    async with desk_on(database, valkey.url) as desk:
        yield desk


async def test_a_receiver_that_fails_twice(desk: Desk, database: Database, room: str) -> None:
    """After two 500s the same notice arrives a third time, with the same id and growing pauses, and
    then never again.
    """
    async with hooked(desk, room, Receiver(answers=[500, 500])) as (store, receiver):
        await join(desk, store)
        began = time.monotonic()
        await desk.call_next(store.id, LINE, by="host")
        got = await receiver.until(3)
        assert time.monotonic() - began >= 1.5
        (row,) = await settled(database, 1)
    assert 1 == len({delivery.notice["id"] for delivery in got})
    assert ("sent", 3, None) == (row.state, row.tries, row.error)


@on_sqlite
async def test_a_receiver_that_is_away(desk: Desk, database: Database, room: str) -> None:
    """While nobody listens the notice waits; it arrives once somebody does."""
    port = free_port()
    async with notifying(desk):
        store = await add_store(desk, room, f"http://127.0.0.1:{port}/hook")
        await join(desk, store)
        await desk.call_next(store.id, LINE, by="host")

        async def tried() -> bool:
            return [("waiting", "no answer (ConnectError)")] == [
                (row.state, row.error) for row in await rows(database)
            ]

        await until(tried)
        async with receiving(Receiver(port=port)) as receiver:
            await receiver.until(1)
            await settled(database, 1)
    assert [("called", 1)] == receiver.kinds()


@on_sqlite
async def test_hosts_do_not_wait(desk: Desk, room: str) -> None:
    """While one store's receiver hangs, its host calls as fast as ever, and another store's guests
    are notified.
    """
    hanging, fine = Receiver(answers=[None] * 50), Receiver()
    async with receiving(hanging), receiving(fine), notifying(desk, patience_s=30):
        slow = await add_store(desk, f"{room}-a", hanging.url)
        quick = await add_store(desk, f"{room}-b", fine.url)
        for _ in range(8):
            await join(desk, slow)
        for _ in range(8):  # none of them is answered by the end
            assert await desk.call_next(slow.id, LINE, by="host") is not None
        await hanging.until(4)
        await join(desk, quick)
        await desk.call_next(quick.id, LINE, by="host")
        await fine.until(1)
        assert 4 == len(hanging.got), "few at a time per store"


@on_sqlite
async def test_a_receiver_without_an_answer(desk: Desk, database: Database, room: str) -> None:
    """A receiver that takes too long is given up, and tried again later."""
    async with hooked(desk, room, Receiver(answers=[None]), patience_s=0.3) as (store, receiver):
        await join(desk, store)
        await desk.call_next(store.id, LINE, by="host")
        await receiver.until(2)
        (row,) = await settled(database, 1)
    # A busy machine may be too late for a second answer as well.
    assert ("sent", True) == (row.state, row.tries >= 2)


@on_sqlite
async def test_redirects_are_not_followed(desk: Desk, room: str) -> None:
    """A redirect is not a delivery, and a guest's phone is never sent elsewhere."""
    async with receiving() as elsewhere:
        sent = f"location: {elsewhere.url}\r\n"
        redirecting = Receiver(answers=[302], headers=sent)
        async with hooked(desk, room, redirecting) as (store, receiver):
            await join(desk, store)
            await desk.call_next(store.id, LINE, by="host")
            await receiver.until(2)
    assert [] == elsewhere.got


@on_sqlite
async def test_addresses_that_are_refused(desk: Desk, database: Database, room: str) -> None:
    """Metadata services and link-local addresses are not called, however they are written."""
    for n, host in enumerate(("169.254.169.254", "[fe80::1]", "[::ffff:169.254.169.254]")):
        store = await add_store(desk, f"{room}-{n}", f"http://{host}/latest")
        await join(desk, store)
        await desk.call_next(store.id, LINE, by="host")
    async with notifying(desk):

        async def tried() -> bool:
            notices = await rows(database)
            return len(notices) == 3 and all(notice.error for notice in notices)

        await until(tried)
    assert {"the address is link-local or a metadata service, which is not allowed"} == {
        row.error for row in await rows(database)
    }


@on_sqlite
async def test_what_is_no_longer_true_is_not_told(
    desk: Desk, database: Database, room: str
) -> None:
    """A receiver that comes back late does not notify guests who are already seated."""
    port = free_port()
    store = await add_store(desk, room, f"http://127.0.0.1:{port}/hook")
    async with notifying(desk):
        first, second = await join(desk, store), await join(desk, store)
        for party in (first, second):
            await desk.act(store.id, party.id, Action.CALL, by="host")

        async def tried() -> bool:
            notices = await rows(database)
            return len(notices) == 2 and all(notice.error for notice in notices)

        await until(tried)
        await desk.act(store.id, first.id, Action.SEAT, by="host")
        async with receiving(Receiver(port=port)) as receiver:
            notices = await settled(database, 2)
    assert [("called", 2)] == receiver.kinds()
    assert [("dropped", "no longer true"), ("sent", None)] == [
        (notice.state, notice.error) for notice in notices
    ]


@on_sqlite
async def test_it_is_given_up_after_a_day(desk: Desk, database: Database, room: str) -> None:
    """A notice that nobody took for 24 hours is dropped, with the last error."""
    async with receiving(Receiver(answers=[500] * 9)) as receiver:
        store = await add_store(desk, room, receiver.url)
        await join(desk, store)
        await desk.call_next(store.id, LINE, by="host")
        await Outbox(database).note([(store.id, LINE)])
        async with database.change() as connection:
            older = {"created_ms": table.c.created_ms - GIVE_UP_MS}
            await connection.execute(update(table).values(older))
        async with notifying(desk):
            (row,) = await settled(database, 1)
    assert ("dropped", 1, "answered 500") == (row.state, row.tries, row.error)
    assert 1 == len(receiver.got)


@on_sqlite
async def test_what_was_erased_is_not_told(desk: Desk, database: Database, room: str) -> None:
    """If a guest erased name and phone before the notice was sent, it goes out without them."""
    async with receiving() as receiver:
        store = await add_store(desk, room, receiver.url)
        party = await join(desk, store)
        await desk.call_next(store.id, LINE, by="host")
        await Outbox(database).note([(store.id, LINE)])
        await desk.erase(store.id, party.id, by="guest")
        async with notifying(desk):
            (got,) = await receiver.until(1)
    assert (None, None, 1) == tuple(got.notice[name] for name in ("phone", "name", "number"))


@on_sqlite
async def test_nothing_secret_is_logged(
    desk: Desk, room: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Neither phones nor secrets nor the receiver's address, even if it fails."""
    caplog.set_level(logging.DEBUG)
    async with receiving(Receiver(answers=[500])) as receiver, notifying(desk):
        store = await add_store(desk, room, f"{receiver.url}?token=hush-hush")
        await join(desk, store)
        await desk.call_next(store.id, LINE, by="host")
        await receiver.until(2)
    ours = [
        record.getMessage() for record in caplog.records if record.name.startswith("waitroom.desk")
    ]
    assert f"the webhook of store {store.id} failed: answered 500" in ours
    logged = caplog.text.replace(store.id, "")  # a random name, which may have these digits
    for secret in (PHONE[-4:], SECRET, "hush-hush", "Sora"):
        assert secret not in logged
