"""Live events: told in time, shared between streams, limited, and ended cleanly."""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.clients import HOST, Live, ask, live, metric, request, rss_bytes, scrape
from tests.support.servers import Server as Backend
from tests.support.serving import ADMIN_KEY, SECRET, Serving, serving
from waitroom.models import Policy
from waitroom.server.http import event_stream
from waitroom.server.lifecycle import open_server
from waitroom.server.rooms import live_streams
from waitroom.settings import Settings

PER_ADDRESS, IN_ALL = 30, 40


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """Run a server with few streams, which trusts this machine about addresses."""
    limits = {"streams_per_address": PER_ADDRESS, "streams": IN_ALL, "proxies": "127.0.0.0/8"}
    with serving(tmp_path_factory.mktemp("events"), **limits) as server:
        yield server


def operate(server: Serving, method: str, path: str, **body: Any) -> Any:
    """Do what an operator does."""
    headers = {"Authorization": f"Bearer {ADMIN_KEY}", "Content-Type": "application/json"}
    data = json.dumps(body).encode()
    reply = ask(server.port, request(method, f"/v1/admin/rooms{path}", headers, data))
    assert reply.status in (200, 201), reply
    return reply.json()


def new_room(server: Serving, **policy: Any) -> str:
    """Make a room."""
    name = f"t-{secrets.token_hex(6)}"
    operate(server, "POST", "", name=name, policy=policy)
    return name


def join(server: Serving, room: str) -> str:
    """Take a place, and return the path of its events."""
    reply = ask(server.port, request("POST", f"/v1/rooms/{room}/tickets"))
    return f"/v1/rooms/{room}/tickets/{reply.json()['ticket']}/events"


async def test_a_person_is_told(served: Serving) -> None:
    """At once where they are, then that they are called; `gone` is the last event."""
    room = new_room(served, mode="manual", enter_within_s=60)
    first, second = join(served, room), join(served, room)
    async with live(served.port, first) as first_stream, live(served.port, second) as second_stream:
        assert (200, "text/event-stream", "no-store") == (
            first_stream.status,
            dict(first_stream.headers)["content-type"],
            dict(first_stream.headers)["cache-control"],
        )
        await first_stream.until("ticket", state="waiting", position=1, waiting=2)
        await second_stream.until("ticket", state="waiting", position=2)
        operate(served, "POST", f"/{room}/admit", count=1)
        called = await first_stream.until("ticket", state="called")
        assert called.data["enter_by"]
        ids = [path.split("/")[5][24:40] for path in (first, second)]
        operate(served, "POST", f"/{room}/kick", ticket_ids=ids)
        gone = await first_stream.until("gone", status=410)
        assert (True, None) == (bool(gone.data["reason"]), await first_stream.next())
        await second_stream.until("gone", status=410)


async def test_a_change_of_the_room_is_told(served: Serving) -> None:
    """When an operator changes the policy, every stream gets the room's public view."""
    room = new_room(served, mode="paused")
    async with live(served.port, join(served, room)) as stream:
        await stream.until("ticket", state="waiting")
        first = (await stream.until("room")).data
        assert (room, "paused", True) == (first["title"], first["mode"], first["accepts"])
        operate(served, "PATCH", f"/{room}", policy={"title": "Later", "mode": "closed"})
        view = (await stream.until("room", title="Later")).data
        assert ("Later", "closed", False) == (view["title"], view["mode"], view["accepts"])


async def test_what_the_organiser_says_is_told(served: Serving) -> None:
    """Texts and links are in the room's event, and so is the time of the message."""
    room = new_room(served, mode="paused")
    async with live(served.port, join(served, room)) as stream:
        first = (await stream.until("room")).data
        assert [None] * 4 == [first[name] for name in ("message", "message_at", "ready", "go_to")]
        texts: dict[str, Any] = {
            "message": "Ten minutes late.\nSorry!",
            "ready": "Card",
            "go_to": "/shop",
        }
        operate(served, "PATCH", f"/{room}", policy=texts)
        said = (await stream.until("room", **texts)).data["message_at"]
        assert said is not None
        operate(served, "PATCH", f"/{room}", policy={"title": "Later", "ready": None})
        later = (await stream.until("room", title="Later")).data
        assert (texts["message"], said, None) == (
            later["message"],
            later["message_at"],
            later["ready"],
        )
        operate(served, "PATCH", f"/{room}", policy={"message": None})
        assert (await stream.until("room", message=None)).data["message_at"] is None


async def test_a_dropped_room_ends_its_streams(served: Serving) -> None:
    """People who waited in a dropped room are told so."""
    room = new_room(served, mode="paused")
    async with live(served.port, join(served, room)) as stream:
        await stream.until("ticket", state="waiting")
        key = {"Authorization": f"Bearer {ADMIN_KEY}"}
        assert 204 == ask(served.port, request("DELETE", f"/v1/admin/rooms/{room}", key)).status
        assert 404 == (await stream.until("gone")).data["status"]
        assert await stream.next() is None


async def test_a_reconnect_misses_nothing(served: Serving) -> None:
    """The first event after a reconnect includes what happened while nobody listened."""
    room = new_room(served, mode="manual")
    path = join(served, room)
    async with live(served.port, path) as stream:
        await stream.until("ticket", state="waiting")
    operate(served, "POST", f"/{room}/admit", count=1)
    async with live(served.port, path, {"Last-Event-ID": "7"}) as stream:
        assert "called" == (await stream.until("ticket")).data["state"]


async def test_streams_are_bounded(served: Serving) -> None:
    """An address and the process each have a limit; the next gets 429, until one is closed."""
    room = new_room(served, mode="paused")
    path = join(served, room)
    async with contextlib.AsyncExitStack() as stack:

        async def opened(address: str) -> Live:
            return await stack.enter_async_context(
                live(served.port, path, {"X-Forwarded-For": address})
            )

        mine = [await opened("192.0.2.1") for _ in range(PER_ADDRESS)]
        assert {200} == {stream.status for stream in mine}
        refused = await opened("192.0.2.1")
        assert (429, True) == (refused.status, int(dict(refused.headers)["retry-after"]) > 0)
        assert 429 == (await opened("::ffff:192.0.2.1")).status
        others = [await opened("192.0.2.2") for _ in range(IN_ALL - PER_ADDRESS)]
        assert ({200}, 429) == (
            {stream.status for stream in others},
            (await opened("192.0.2.3")).status,
        )
        assert IN_ALL == metric(scrape(served.port), "waitroom_streams_open")
    async with asyncio.timeout(60):
        while metric(scrape(served.port), "waitroom_streams_open"):  # noqa: ASYNC110 - another process
            await asyncio.sleep(0.05)
    async with live(served.port, path, {"X-Forwarded-For": "192.0.2.1"}) as stream:
        assert 200 == stream.status


async def test_streams_share_one_loop(served: Serving) -> None:
    """Thirty streams of a room cost the backend no more calls than one does."""
    room = new_room(served, mode="paused")
    paths = [join(served, room) for _ in range(PER_ADDRESS)]
    async with contextlib.AsyncExitStack() as stack:
        streams = [await stack.enter_async_context(live(served.port, path)) for path in paths]
        for stream in streams:
            await stream.until("ticket", state="waiting")
        began, before = time.monotonic(), _polls(served)
        calls, items = 0.0, 0.0
        async with asyncio.timeout(60):  # within 4 s, unless the server is held up
            while items < PER_ADDRESS / 2 or time.monotonic() - began < 4:
                await asyncio.sleep(0.2)
                calls, items = (new - old for new, old in zip(_polls(served), before, strict=True))
        assert calls <= (time.monotonic() - began) / live_streams.LOOK_S + 1
        assert items >= 1.5 * calls, "they are polled for their holders, and together"


def _polls(server: Serving) -> tuple[float, float]:
    text = scrape(server.port)
    name = "waitroom_backend_call_items"
    return metric(text, f"{name}_count", verb="poll"), metric(text, f"{name}_sum", verb="poll")


async def test_a_slow_reader_costs_nothing(served: Serving) -> None:
    """A slow reader only gets the newest: memory stays flat, and others are told in time."""
    room = new_room(served, mode="paused")
    paths = [join(served, room) for _ in range(20)]
    (worker,) = served.workers
    with contextlib.ExitStack() as stack:
        for path in paths[1:]:
            client = stack.enter_context(socket.socket())
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1_024)
            client.connect((HOST, served.port))
            client.sendall(request("GET", path, close=False))
        async with live(served.port, paths[0]) as reader:
            await reader.until("ticket", state="waiting")
            before = rss_bytes(worker)
            for number in range(4):
                operate(served, "PATCH", f"/{room}", policy={"title": f"{number}" * 120})
                view = (await reader.until("room", title=f"{number}" * 120)).data
                assert "paused" == view["mode"]
            assert rss_bytes(worker) - before < 8_000_000


async def test_no_stream_stays_silent(
    valkey: Backend, tmp_path: Path, room: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If nothing changes, something is sent before a proxy would cut the connection."""
    assert event_stream.LONGEST_PAUSE_S <= 15
    monkeypatch.setattr(live_streams, "LONGEST_PAUSE_S", 0.5)
    monkeypatch.setattr(live_streams, "LOOK_S", 0.1)
    settings = Settings(redis_url=valkey.url, secret=SECRET, data_dir=tmp_path)
    async with open_server(settings) as server:
        await server.engine.create("quiet-" + room[:8], Policy(mode="paused"))  # type: ignore[arg-type]
        view = await server.engine.join("quiet-" + room[:8])
        ticket = await server.engine.read_ticket("quiet-" + room[:8], view.ticket)
        stream = server.live_streams.open("quiet-" + room[:8], ticket, "192.0.2.1")
        heard: list[bytes] = []
        async with asyncio.timeout(30):
            while sum(b"event: ticket" in chunk for chunk in heard) < 2:
                await stream.wake.wait()
                heard.append(stream.take())
        assert b"event: ticket" in heard[0]
        assert all(chunk == b": \n\n" or b"event: " in chunk for chunk in heard)
        server.live_streams.close("quiet-" + room[:8], stream)


@pytest.mark.last
async def test_sigterm_sends_them_elsewhere(served: Serving) -> None:
    """Each stream gets `reconnect` with its own pause, then its end; then the process is gone."""
    room = new_room(served, mode="paused")
    async with contextlib.AsyncExitStack() as stack:
        streams = [
            await stack.enter_async_context(live(served.port, join(served, room))) for _ in range(5)
        ]
        for stream in streams:
            await stream.until("ticket", state="waiting")
        served.process.terminate()
        events = [await stream.until("reconnect") for stream in streams]
        assert {None} == {await stream.next() for stream in streams}
        pauses = {event.retry_ms for event in events}
        assert len(pauses) > 1, "all would come back at once"
    assert 0 == await asyncio.to_thread(served.process.wait, 60)
