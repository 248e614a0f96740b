"""The hub of the desk's streams: who is told what, and when a stream ends. Needs no connection.

`test_stream.py` tests the same over HTTP.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.desk.desks import DINE, do, join, new_store, opened
from tests.support.clock import Clock
from tests.support.servers import Server
from waitroom.desk.desk import Desk
from waitroom.desk.models import Action
from waitroom.errors import BackendUnavailable, TooMany, Unauthorized
from waitroom.server.counters.worker import Counters
from waitroom.server.desk import hub as hub_module
from waitroom.server.desk.hub import DeskHub
from waitroom.server.desk.stream import Guest, Host, Listener
from waitroom.server.http.event_stream import OpenStreams
from waitroom.server.rooms.backend_health import BackendHealth

SOON_S = 30.0


@pytest.fixture
async def desk(tmp_path: Path, valkey: Server) -> AsyncIterator[Desk]:
    """Open a desk with its own record."""
    async with opened(None, tmp_path, valkey.url, Clock()) as desk:
        yield desk


@pytest.fixture
def health(desk: Desk) -> BackendHealth:
    """Return what the hub knows about Redis; the test decides it."""
    return BackendHealth(desk.engine, Counters(), 1.0)


@pytest.fixture
async def hub(desk: Desk, health: BackendHealth) -> AsyncIterator[DeskHub]:
    """Run a hub that accepts three streams."""
    hub = DeskHub(desk, health, OpenStreams(3, 3, Counters()))
    yield hub
    await hub.stop()


async def fine() -> None:
    """Accept a host's key."""


async def event_of(listener: Listener, kind: str, **fields: Any) -> dict[str, Any]:
    """Wait until a stream is told an event with these fields, and return its data."""
    async with asyncio.timeout(SOON_S):
        while True:
            await listener.wake.wait()
            for chunk in listener.take().decode().split("\n\n"):
                name, _, data = chunk.partition("\ndata: ")
                body = json.loads(data) if data else {}
                if name.endswith(f"event: {kind}") and fields.items() <= body.items():
                    return dict(body)


async def test_guests_and_hosts_are_told_of_a_change(desk: Desk, hub: DeskHub) -> None:
    """A guest is told their place, a host the line: at once, and after every change."""
    store = await new_store(desk)
    party = await join(desk, store)
    guest = Guest(store=store.id, token=desk.token(party))
    host = Host(store=store.id, check=fine)
    for listener in (guest, host):
        hub.open(listener)
    await event_of(guest, "place", status="WAITING", position=1)
    line = await event_of(host, "line")
    assert [party.id] == [each["id"] for each in line["parties"]]
    await do(desk, party, Action.CALL)
    await event_of(guest, "place", status="CALLED", position=0)
    # The line of before may come once more, for a stream that was new then.
    while ["CALLED"] != [each["status"] for each in (await event_of(host, "line"))["parties"]]:
        pass


async def test_away_and_back(desk: Desk, hub: DeskHub, health: BackendHealth) -> None:
    """While Redis is away guests are told once, and hosts get the line from the record."""
    store = await new_store(desk)
    party = await join(desk, store)
    guest = Guest(store=store.id, token=desk.token(party))
    host = Host(store=store.id, check=fine)
    health.away = True
    for listener in (guest, host):
        hub.open(listener)
    assert BackendUnavailable.code == (await event_of(guest, "away"))["code"]
    line = await event_of(host, "line")
    assert [party.id] == [each["id"] for each in line["parties"]]
    health.away = False
    await event_of(guest, "place", status="WAITING", position=1)


async def test_a_revoked_key_ends_its_stream(
    desk: Desk, hub: DeskHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A host whose key is no longer valid is told so, and nothing after that."""
    monkeypatch.setattr(hub_module, "KEYS_S", 0.0)

    async def revoked() -> None:
        raise Unauthorized("revoked")

    host = Host(store=(await new_store(desk)).id, check=revoked)
    hub.open(host)
    assert Unauthorized.code == (await event_of(host, "gone"))["code"]
    assert host.ended


async def test_an_unknown_store_ends_its_streams(hub: DeskHub) -> None:
    """Nobody waits for events of a store that does not exist."""
    host = Host(store="no-such-store", check=fine)
    hub.open(host)
    assert "unknown_store" == (await event_of(host, "gone"))["code"]


async def test_too_many_streams(desk: Desk, hub: DeskHub) -> None:
    """A stream above the limit is refused; one that is closed makes room."""
    store = (await new_store(desk)).id
    hosts = [Host(store=store, check=fine) for _ in range(4)]
    for host in hosts[:3]:
        hub.open(host)
    with pytest.raises(TooMany):
        hub.open(hosts[3])
    hub.close(hosts[0])
    hub.open(hosts[3])


async def test_the_end_sends_everybody_off(desk: Desk, health: BackendHealth) -> None:
    """A stopping hub tells its streams to reconnect, perhaps to another process."""
    hub = DeskHub(desk, health, OpenStreams(3, 3, Counters()))
    store = await new_store(desk)
    party = await join(desk, store, line_name=DINE)
    guest = Guest(store=store.id, token=desk.token(party))
    hub.open(guest)
    await hub.stop()
    await event_of(guest, "reconnect")
    assert guest.ended
