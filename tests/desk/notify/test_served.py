"""Webhooks of the real server, with workers that are killed."""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import suppress
from pathlib import Path

import httpx2

from tests.desk.receivers import Receiver, receiving
from tests.support.servers import free_port
from tests.support.serving import ADMIN, SECRET, Serving, await_ready, end, launch
from waitroom.desk.models import Store, WaitingType
from waitroom.desk.record.database import open_database
from waitroom.desk.record.record import Record

STORE, HOOK = "noodle", "whs_only-for-tests"
SITE = "https://wait.example"


async def _start(folder: Path) -> Serving:
    server = launch(folder, desk=True, workers=2, public_url=SITE)
    await asyncio.to_thread(await_ready, server, 60)
    return server


async def _kill(server: Serving) -> None:
    """Kill the server and its workers, as a failing machine does."""
    for pid in (server.process.pid, *server.workers):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    await asyncio.to_thread(server.process.wait)


async def test_a_server_killed_before_it_told(tmp_path: Path) -> None:
    """A guest is called while the receiver is away, and everything is killed: the next server
    notifies the guest, with a link to their page.
    """
    receiver = Receiver(port=free_port())
    async with open_database(None, tmp_path / "data") as database:
        types = (WaitingType(name="dine-in", title="Dine in"),)
        store = Store(
            id=STORE, title="Noodles", types=types, webhook_url=receiver.url, webhook_secret=HOOK
        )
        await Record(database).add_store(store)
    first = await _start(tmp_path)
    try:
        base = f"{first.base}/v1/stores/{STORE}"
        async with httpx2.AsyncClient(base_url=base, headers=ADMIN, timeout=20) as http:
            joined = await http.post("/parties", json={"type": "dine-in", "size": 2})
            token = joined.raise_for_status().json()["token"]
            called = await http.post("/line/call-next", json={"type": "dine-in"})
            assert "CALLED" == called.raise_for_status().json()["party"]["status"]
    finally:
        await _kill(first)
    async with receiving(receiver):
        second = await _start(tmp_path)
        try:
            (got,) = await receiver.until(1)
        finally:
            await asyncio.to_thread(end, second)
    assert ("called", 1) == (got.notice["kind"], got.notice["number"])
    assert f"{SITE}/desk/{STORE}/p/{token}" == got.notice["url"]
    assert got.signed_with(HOOK)
    for secret in (HOOK, SECRET, receiver.url):
        assert secret not in first.said() + second.said()
