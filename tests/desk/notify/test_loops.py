"""Webhooks: guests are told at least once, whatever dies in between, and no host waits for it."""

from __future__ import annotations

import asyncio
import logging
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

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
from tests.support.servers import Server, start_server
from tests.support.serving import free_port
from waitroom.desk.desk import Desk
from waitroom.desk.notify.outbox import GIVE_UP_MS, Outbox
from waitroom.desk.record.database import Database, open_database
from waitroom.desk.record.record import Action
from waitroom.desk.record.tables import notices as table

# Where nothing depends on the kind of database.
on_sqlite = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
SITE = "https://wait.example"


@pytest.fixture
async def desk(database: Database, valkey: Server) -> AsyncIterator[Desk]:
    """Open a desk on the server of the session."""
    async with desk_on(database, valkey.url) as desk:
        yield desk


async def test_a_call_is_told_and_signed(desk: Desk, database: Database, room: str) -> None:
    """Within a second or so the receiver knows everything that its vendor needs, signed."""
    async with hooked(desk, room, public_url=f"{SITE}/") as (store, receiver):
        party = await join(desk, store)
        called = await desk.call_next(store.id, LINE, by="host")
        (got,) = await receiver.until(1)
    assert called is not None
    told = got.notice
    assert told["at"].endswith("Z")
    assert {
        "id": got.headers["waitroom-id"],
        "kind": "called",
        "store": store.id,
        "title": "국수",
        "type": LINE,
        "number": party.number,
        "size": 3,
        "name": "Sora",
        "phone": "+821012345678",
        "status": "CALLED",
        "position": 0,
        "teams_ahead": 0,
        "url": f"{SITE}/desk/{store.id}/p/{desk.token(party)}",
        "at": told["at"],
    } == told
    assert got.signed_with(SECRET)
    assert not got.signed_with(SECRET + "x")
    assert abs(int(got.headers["waitroom-timestamp"]) - time.time()) < 60
    assert "application/json" == got.headers["content-type"]
    (row,) = await settled(database, 1)
    assert ("sent", 1, None) == (row.state, row.tries, row.error)


async def test_three_teams_ahead(desk: Desk, room: str) -> None:
    """Who joined behind more than three teams is told as soon as three are left."""
    async with hooked(desk, room) as (store, receiver):
        parties = [await join(desk, store) for _ in range(6)]
        await desk.act(store.id, parties[1].id, Action.CANCEL, by="guest")
        (got,) = await receiver.until(1)
        assert ("near", 5, 3, 4) == tuple(
            got.notice[name] for name in ("kind", "number", "teams_ahead", "position")
        )
        await desk.act(store.id, parties[0].id, Action.SEAT, by="host")
        await receiver.until(2)
        assert [("near", 5), ("near", 6)] == receiver.kinds()


async def test_a_receiver_that_fails_twice(desk: Desk, database: Database, room: str) -> None:
    """After two 500s the same notice comes a third time, with the same id and more and more time
    in between, and then never again.
    """
    async with hooked(desk, room, Receiver(answers=[500, 500])) as (store, receiver):
        await join(desk, store)
        began = time.monotonic()
        await desk.call_next(store.id, LINE, by="host")
        got = await receiver.until(3)
        assert time.monotonic() - began >= 1.5
        (row,) = await settled(database, 1)
    assert 1 == len({one.notice["id"] for one in got})
    assert ("sent", 3, None) == (row.state, row.tries, row.error)


@on_sqlite
async def test_a_receiver_that_is_away(desk: Desk, database: Database, room: str) -> None:
    """While nobody listens the notice waits; it comes once somebody does."""
    port = free_port()
    async with notifying(desk):
        store = await add_store(desk, room, f"http://127.0.0.1:{port}/hook")
        await join(desk, store)
        await desk.call_next(store.id, LINE, by="host")

        async def tried() -> bool:
            return [("waiting", "no answer (ConnectError)")] == [
                (one.state, one.error) for one in await rows(database)
            ]

        await until(tried)
        async with receiving(Receiver(port=port)) as receiver:
            await receiver.until(1)
            await settled(database, 1)
    assert [("called", 1)] == receiver.kinds()


@on_sqlite
async def test_hosts_do_not_wait(desk: Desk, room: str) -> None:
    """While one store's receiver hangs, its host calls as fast as ever, and another store's
    guests are told.
    """
    hanging, fine = Receiver(answers=[None] * 50), Receiver()
    async with receiving(hanging), receiving(fine), notifying(desk, patience_s=30):
        slow = await add_store(desk, f"{room}-a", hanging.url)
        quick = await add_store(desk, f"{room}-b", fine.url)
        for _ in range(8):
            await join(desk, slow)
        took = []
        for _ in range(8):
            began = time.monotonic()
            assert await desk.call_next(slow.id, LINE, by="host") is not None
            took.append(time.monotonic() - began)
        await hanging.until(4)
        await join(desk, quick)
        await desk.call_next(quick.id, LINE, by="host")
        await fine.until(1)
        assert 4 == len(hanging.got), "few at a time per store"
    assert sorted(took)[4] < 1


@on_sqlite
async def test_a_receiver_without_an_answer(desk: Desk, database: Database, room: str) -> None:
    """A receiver that takes too long is given up, and told again later."""
    async with hooked(desk, room, Receiver(answers=[None]), patience_s=0.3) as (store, receiver):
        await join(desk, store)
        await desk.call_next(store.id, LINE, by="host")
        await receiver.until(2)
        (row,) = await settled(database, 1)
    assert ("sent", 2) == (row.state, row.tries)


@on_sqlite
async def test_redirects_are_not_followed(desk: Desk, room: str) -> None:
    """A redirect is no delivery, and nobody is sent elsewhere with a guest's phone."""
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
            found = await rows(database)
            return len(found) == 3 and all(one.error for one in found)

        await until(tried)
    assert {"the address is link-local or a metadata service, which is not allowed"} == {
        one.error for one in await rows(database)
    }


@on_sqlite
async def test_what_is_no_longer_true_is_not_told(
    desk: Desk, database: Database, room: str
) -> None:
    """A receiver that comes back late does not ring guests who sit at their table."""
    port = free_port()
    store = await add_store(desk, room, f"http://127.0.0.1:{port}/hook")
    async with notifying(desk):
        first, second = await join(desk, store), await join(desk, store)
        for party in (first, second):
            await desk.act(store.id, party.id, Action.CALL, by="host")

        async def tried() -> bool:
            found = await rows(database)
            return len(found) == 2 and all(one.error for one in found)

        await until(tried)
        await desk.act(store.id, first.id, Action.SEAT, by="host")
        async with receiving(Receiver(port=port)) as receiver:
            found = await settled(database, 2)
    assert [("called", 2)] == receiver.kinds()
    assert [("dropped", "no longer true"), ("sent", None)] == [
        (one.state, one.error) for one in found
    ]


@on_sqlite
async def test_it_is_given_up_after_a_day(desk: Desk, database: Database, room: str) -> None:
    """What nobody took for 24 hours is dropped, with the last error."""
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
    """A guest who erased name and phone before the notice was sent is told about without them."""
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
async def test_a_second_call_is_told_again(desk: Desk, room: str) -> None:
    """Called, taken back, and called again: the guest hears of it twice, as two notices."""
    async with hooked(desk, room) as (store, receiver):
        party = await join(desk, store)
        await desk.act(store.id, party.id, Action.CALL, by="host")
        await receiver.until(1)
        await desk.act(store.id, party.id, Action.UNDO, by="host")
        await desk.act(store.id, party.id, Action.CALL, by="host")
        first, second = await receiver.until(2)
    assert first.notice["id"] != second.notice["id"]


async def test_two_processes_tell_once(database: Database, valkey: Server, room: str) -> None:
    """Several processes watch and send at once, and every notice is sent once."""
    async with AsyncExitStack() as stack:
        receiver = await stack.enter_async_context(receiving())
        desks = [await stack.enter_async_context(desk_on(database, valkey.url)) for _ in range(3)]
        for one in desks:
            await stack.enter_async_context(notifying(one))
        store = await add_store(desks[0], room, receiver.url)
        for _ in range(12):
            await join(desks[0], store)
        for n in range(12):
            await desks[n % 3].call_next(store.id, LINE, by="host")
        found = await settled(database, len(await _calls(database, 12)))
    told = [kind for kind in receiver.kinds() if kind[0] == "called"]
    assert [("called", n) for n in range(1, 13)] == sorted(told)
    assert len(receiver.got) == sum(one.state == "sent" for one in found)


async def _calls(database: Database, count: int) -> list[Any]:
    """Wait until all calls are in the outbox; return all of it."""

    async def noted() -> bool:
        return [one.kind for one in await rows(database)].count("called") == count

    await until(noted)
    return await rows(database)


@on_sqlite
async def test_nobody_is_told_without_a_webhook(desk: Desk, database: Database, room: str) -> None:
    """Without an address nothing is noted; set later, it tells whoever is called then."""
    async with receiving() as receiver, notifying(desk):
        store = await add_store(desk, room, None)
        await join(desk, store)
        await desk.call_next(store.id, LINE, by="host")
        await desk.change_store(store.id, webhook_url=receiver.url)
        await receiver.until(1)
    assert 1 == len(await rows(database))


KILLED = """
import asyncio, os, signal, sys
from pathlib import Path
from waitroom.desk.record.database import open_database
from waitroom.desk.notify.outbox import Outbox

async def main(url, store):
    async with open_database(url, Path(".")) as database:
        outbox = Outbox(database)
        await outbox.note([(store, "dine-in")])
        if "claim" in sys.argv:
            assert await outbox.claim(store, 10, 1_000)
        print("now", flush=True)
        os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main(sys.argv[1], sys.argv[2]))
"""


@pytest.mark.parametrize("point", ["noted", "claim"])
async def test_a_process_killed_before_it_sent(
    desk: Desk, database: Database, database_url: str, room: str, point: str
) -> None:
    """Killed with the notice in the outbox, or in its hand: another process sends it."""
    async with receiving() as receiver:
        store = await add_store(desk, room, receiver.url)
        await join(desk, store)
        await desk.call_next(store.id, LINE, by="host")
        words = [sys.executable, "-c", KILLED, database_url, store.id, point]
        died = await asyncio.to_thread(
            subprocess.run, words, capture_output=True, text=True, timeout=60
        )
        assert (-signal.SIGKILL, "now\n") == (died.returncode, died.stdout), died.stderr
        assert ["waiting"] == [one.state for one in await rows(database)]
        async with notifying(desk):
            await receiver.until(1)
            await settled(database, 1)
    assert [("called", 1)] == receiver.kinds()


async def test_a_crash_and_a_flush(tmp_path: Path) -> None:
    """Guests are called while nobody watches and before Redis loses everything, its events too;
    the next process tells them all the same.
    """
    with start_server("valkey", tmp_path / "own") as server:
        async with (
            receiving() as receiver,
            open_database(None, tmp_path) as database,
            desk_on(database, server.url) as desk,
        ):
            store = await add_store(desk, "noodle", receiver.url)
            parties = [await join(desk, store) for _ in range(7)]
            async with notifying(desk):
                await desk.call_next(store.id, LINE, by="host")
                await receiver.until(1)
            await desk.call_next(store.id, LINE, by="host")
            server.command("FLUSHALL")
            async with desk_on(database, server.url) as another, notifying(another):
                await receiver.until(4)
                await another.repair()
                await another.act(store.id, parties[3].id, Action.CALL, by="host")
                await receiver.until(6)
    expected = [("called", 1), ("called", 2), ("called", 4), ("near", 5), ("near", 6), ("near", 7)]
    assert expected == sorted(receiver.kinds())


async def test_while_redis_is_away(tmp_path: Path) -> None:
    """A call that only the record has is told too, from the next lap on."""
    with start_server("valkey", tmp_path / "own") as server:
        async with (
            receiving() as receiver,
            open_database(None, tmp_path) as database,
            desk_on(database, server.url) as desk,
        ):
            store = await add_store(desk, "noodle", receiver.url)
            await join(desk, store)
            async with notifying(desk, lap_s=0.5):
                server.kill()
                await desk.call_next(store.id, LINE, by="host")
                await receiver.until(1)
                server.restart()


@on_sqlite
async def test_nothing_secret_is_logged(
    desk: Desk, room: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Neither phones nor secrets nor the receiver's address, also where it fails."""
    caplog.set_level(logging.DEBUG)
    async with receiving(Receiver(answers=[500])) as receiver, notifying(desk):
        store = await add_store(desk, room, f"{receiver.url}?token=hush-hush")
        await join(desk, store)
        await desk.call_next(store.id, LINE, by="host")
        await receiver.until(2)
    ours = [one.getMessage() for one in caplog.records if one.name.startswith("waitroom.desk")]
    assert f"the webhook of store {store.id} failed: answered 500" in ours
    for secret in (PHONE[-4:], SECRET, "hush-hush", "Sora"):
        assert secret not in caplog.text
