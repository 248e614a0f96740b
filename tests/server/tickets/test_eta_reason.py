"""Every view of a ticket says why its estimate moved, if the room shows it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.clients import ask, live, request
from tests.support.serving import ADMIN_KEY, Serving, serving
from waitroom.client import Client
from waitroom.estimate.reasons import Reason


@pytest.fixture(scope="module", params=["true", "false"], ids=["lane", "plain"])
def served(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Serving]:
    """Run a server, with the lane or without."""
    with serving(tmp_path_factory.mktemp("reason"), lane=request.param) as server:
        yield server


def change(server: Serving, room: str, **policy: Any) -> None:
    """Change a room as an operator does."""
    headers = {"Authorization": f"Bearer {ADMIN_KEY}", "Content-Type": "application/json"}
    body = json.dumps({"policy": policy}).encode()
    reply = ask(server.port, request("PATCH", f"/v1/admin/rooms/{room}", headers, body))
    assert 200 == reply.status, reply


async def test_every_way_says_why(served: Serving) -> None:
    """Stream, status, join and the plain page say it; a paused room has nothing to explain."""
    room = served.new_room(batch=4, every_s=60, presence_s=None)
    async with Client(served.base) as client:
        tickets = [await client.join(room) for _ in range(60)]
        path = f"/v1/rooms/{room}/tickets/{tickets[-1].ticket}/events"
        async with live(served.port, path) as stream:
            assert None is (await stream.until("ticket", state="waiting")).data["eta_reason"]
            async with asyncio.timeout(60):  # until this process has seen the line
                while (await client.room(room)).waiting < 40:
                    pass
            change(served, room, batch=2)
            told = await stream.until("ticket", eta_reason=str(Reason.SLOWER_ADMISSION))
            assert told.data["eta_s"]

            again, new = await client.status(tickets[-1]), await client.join(room)
            assert [Reason.SLOWER_ADMISSION] * 2 == [again.eta_reason, new.eta_reason]
            cookie = {"cookie": f"waitroom-ticket-{room}={new.ticket}"}
            page = ask(served.port, request("GET", f"/rooms/{room}", cookie))
            assert b"People are let in more slowly now" in page.body

            change(served, room, mode="paused")
            told = await stream.until("ticket", eta_s=None)
            assert (None, "waiting") == (told.data["eta_reason"], told.data["state"])


async def test_others_have_none(served: Serving) -> None:
    """People who are called or inside have no estimate, and no reason."""
    room = served.new_room(capacity=1, session_s=600)
    async with Client(served.base) as client:
        called = await client.join(room)
        inside = await client.enter(called)
        assert [None, None] == [called.eta_reason, inside.eta_reason]
