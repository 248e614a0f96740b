"""Webhooks: guests are notified at least once, whatever dies in between."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from tests.desk.hooked import (
    LINE,
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
from tests.desk.receivers import receiving
from tests.support.servers import Server, start_server
from waitroom.desk.desk import Desk
from waitroom.desk.record.database import Database, open_database
from waitroom.desk.record.record import Action

# For tests that do not depend on the kind of database.
on_sqlite = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)


SITE = "https://wait.example"


@pytest.fixture
async def desk(database: Database, valkey: Server) -> AsyncIterator[Desk]:
    """Open a desk on the session's server."""
    async with desk_on(database, valkey.url) as desk:
        yield desk


async def test_a_call_is_told_and_signed(desk: Desk, database: Database, room: str) -> None:
    """Within about a second the receiver has everything that its vendor needs, signed."""
    async with hooked(desk, room, public_url=f"{SITE}/") as (store, receiver):
        party = await join(desk, store)
        called = await desk.call_next(store.id, LINE, by="host")
        (got,) = await receiver.until(1)
    assert called is not None
    notice = got.notice
    assert notice["at"].endswith("Z")
    assert {
        "id": got.headers["webhook-id"],
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
        "at": notice["at"],
    } == notice
    assert got.signed_with(SECRET)
    assert not got.signed_with(SECRET + "x")
    assert abs(int(got.headers["webhook-timestamp"]) - time.time()) < 60
    assert "application/json" == got.headers["content-type"]
    (row,) = await settled(database, 1)
    assert ("sent", 1, None) == (row.state, row.tries, row.error)


async def test_three_teams_ahead(desk: Desk, room: str) -> None:
    """Anybody who joined behind more than three teams is told as soon as three are left."""
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


@on_sqlite
async def test_a_second_call_is_told_again(desk: Desk, room: str) -> None:
    """Called, undone, and called again: the guest gets two notices."""
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
        for desk in desks:
            await stack.enter_async_context(notifying(desk))
        store = await add_store(desks[0], room, receiver.url)
        for _ in range(12):
            await join(desks[0], store)
        for n in range(12):
            await desks[n % 3].call_next(store.id, LINE, by="host")
        await until(lambda: _all_told(database, 12))
    notices = await rows(database)
    calls = [kind for kind in receiver.kinds() if kind[0] == "called"]
    assert [("called", n) for n in range(1, 13)] == sorted(calls)
    assert len(receiver.got) == sum(notice.state == "sent" for notice in notices)


async def _all_told(database: Database, calls: int) -> bool:
    """Tell whether all calls are in the outbox and nothing in it is still to be sent.

    Not how many notices there are: a process may note late that somebody is near, who has been
    called since, and then nobody is told of it.
    """
    notices = await rows(database)
    noted = [notice.kind for notice in notices].count("called")
    return noted == calls and all(notice.state != "waiting" for notice in notices)


@on_sqlite
async def test_nobody_is_told_without_a_webhook(desk: Desk, database: Database, room: str) -> None:
    """Without an address nothing is recorded; once set, anybody called then is notified."""
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
    """Killed with the notice in the outbox, or while sending it: another process sends it."""
    async with receiving() as receiver:
        store = await add_store(desk, room, receiver.url)
        await join(desk, store)
        await desk.call_next(store.id, LINE, by="host")
        words = [sys.executable, "-c", KILLED, database_url, store.id, point]
        died = await asyncio.to_thread(
            subprocess.run, words, capture_output=True, text=True, timeout=60
        )
        assert (-signal.SIGKILL, "now\n") == (died.returncode, died.stdout), died.stderr
        assert ["waiting"] == [notice.state for notice in await rows(database)]
        async with notifying(desk):
            await receiver.until(1)
            await settled(database, 1)
    assert [("called", 1)] == receiver.kinds()


async def test_a_crash_and_a_flush(tmp_path: Path) -> None:
    """Guests are called while nobody watches, before Redis loses everything, its events too; the
    next process still notifies them.
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
                # Noted as sent too, or the next process would tell them again.
                await settled(database, 2)
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
    """A call that only the record has is notified too, from the next lap on."""
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
