"""After a loss every view of a ticket says `restoring`, and gives numbers again when it is over."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.clients import ask, live, request
from tests.support.servers import Server, start_server
from tests.support.serving import Serving, serving
from waitroom.client import Client
from waitroom.engine.keys import room_key
from waitroom.errors import Holding


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Server]:
    """Run a Valkey that may be emptied."""
    (tmp_path / "store").mkdir()
    with start_server("valkey", tmp_path / "store") as server:
        yield server


@pytest.fixture
def fragile(tmp_path: Path, store: Server) -> Iterator[Serving]:
    """Run a Waitroom on it."""
    with serving(tmp_path, redis_url=store.url) as server:
        yield server


async def test_every_way_says_so(fragile: Serving, store: Server) -> None:
    """Status, join, stream, defer and the plain page; a number comes back without asking."""
    room = fragile.new_room(mode="paused", presence_s=None, recover_s=3_600, max_defers=1)
    async with Client(fragile.base) as client:
        first, second = await client.join(room), await client.join(room)
        path = f"/v1/rooms/{room}/tickets/{second.ticket}/events"
        async with live(fragile.port, path) as stream:
            view = (await stream.until("ticket")).data
            assert (2, None) == (view["position"], view.get("restoring"))
            store.command("FLUSHALL")
            view = (await stream.until("ticket", restoring=True)).data
            assert (None, None) == (view["position"], view["eta_s"])

            again, new = await client.status(first), await client.join(room)
            told = [(ticket.position, ticket.eta_s, ticket.restoring) for ticket in (again, new)]
            assert [(None, None, True)] * 2 == told
            with pytest.raises(Holding):
                await client.defer(second, 1)
            cookie = {"cookie": f"waitroom-ticket-{room}={new.ticket}"}
            page = request("GET", f"/rooms/{room}", cookie)
            assert b"We are restoring the line" in ask(fragile.port, page).body

            for field in ("hold_until", "restoring_until"):
                store.command("HSET", room_key(room, "meta"), field, 0)
            view = (await stream.until("ticket", position=2)).data
            assert "restoring" not in view
        places = [(await client.status(ticket)).position for ticket in (first, second, new)]
        assert [1, 2, 3] == places
