"""A rolling upgrade and back: the previous version and this one on one backend, with a crowd.

Every visitor asks a different running server each time: one version gives a place, and the other
polls, calls, enters, checks and ends it.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import signal
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from tests.acceptance.checks import (
    called_ids,
    lost,
    moments,
    most_in_window,
    overtaken,
    replay,
    twice,
)
from tests.acceptance.tools import Log
from tests.support.clients import Reply, Wire
from tests.support.clock import open_engine
from tests.support.counts import count
from tests.support.previous import previous
from tests.support.servers import start_server
from tests.support.serving import (
    ADMIN,
    PROGRAM,
    SECRET,
    Serving,
    await_ready,
    end,
    launch_program,
)
from waitroom.engine.keys import room_key
from waitroom.tickets import KeyRing

ROOM = "hall"
TICKETS = f"/v1/rooms/{ROOM}/tickets"
CAPACITY, MAX_ENTRIES, PER_S = 5, 20, 1
SESSION_S, ENTER_WITHIN_S = 600, 300
POLICY = {
    "capacity": CAPACITY,
    "max_entries": MAX_ENTRIES,
    "per_s": PER_S,
    "session_s": SESSION_S,
    "enter_within_s": ENTER_WITHIN_S,
    "presence_s": 600,
}
OPERATOR = ADMIN | {"content-type": "application/json"}


@dataclass(slots=True)
class Fleet:
    """Which servers run, by name, and what the crowd has done at each."""

    running: dict[str, Serving] = field(default_factory=dict)
    open_to: list[str] = field(default_factory=list)
    under_way: Counter[str] = field(default_factory=Counter)
    entered_at: Counter[str] = field(default_factory=Counter)
    places: dict[str, int] = field(default_factory=dict)
    crossed: int = 0
    """Sessions that one version opened and the other ended."""

    done: bool = False
    moved: asyncio.Condition = field(default_factory=asyncio.Condition)
    """Notified after every answer."""

    async def ask(
        self, name: str, method: str, path: str, headers: dict[str, str], body: bytes | None = None
    ) -> Reply:
        """Ask one of them; the test fails if the answer is not a success."""
        self.under_way[name] += 1
        try:
            async with Wire(self.running[name].port) as wire:
                answer = await wire.ask(method, path, headers, body)
        finally:
            async with self.moved:
                self.under_way[name] -= 1
                self.moved.notify_all()
        assert 200 <= answer.status < 300, f"{name}: {method} {path}: {answer}"
        return answer

    def any(self) -> str:
        """Choose a server."""
        return random.choice(self.open_to)

    async def visit(self) -> None:
        """Act as one person after another: join, wait, enter, show the pass, leave."""
        ring = KeyRing.from_text(SECRET)
        while not self.done:
            view = (await self.ask(self.any(), "POST", TICKETS, {}, b"")).json()
            mine = {"authorization": f"Bearer {view['ticket']}"}
            ticket = ring.read(ROOM, view["ticket"])
            self.places[ticket.id] = ticket.place
            while view["state"] != "called":
                await asyncio.sleep(0.02)
                view = (await self.ask(self.any(), "GET", f"{TICKETS}/me", mine)).json()
            door = self.any()
            view = (await self.ask(door, "POST", f"{TICKETS}/me/enter", mine, b"")).json()
            self.entered_at[door] += 1
            check = {"authorization": f"Bearer {view['pass']}"}
            await self.ask(self.any(), "GET", f"/v1/check?room={ROOM}", check)
            way_out = self.any()
            await self.ask(way_out, "DELETE", f"{TICKETS}/me", mine)
            self.crossed += door != way_out

    async def start(self, name: str, folder: Path, program: Sequence[str], url: str) -> None:
        """Start a server, and send people there once it is ready."""
        (folder / name).mkdir(exist_ok=True)
        self.running[name] = launch_program(program, folder / name, redis_url=url)
        await asyncio.to_thread(await_ready, self.running[name])
        self.open_to.append(name)

    async def stop(self, name: str) -> None:
        """Send nobody there any more, as a balancer does, and stop it once it has answered."""
        self.open_to.remove(name)
        async with self.moved:
            await self.moved.wait_for(lambda: not self.under_way[name])
        server = self.running.pop(name)
        server.process.send_signal(signal.SIGTERM)
        assert 0 == await asyncio.to_thread(server.process.wait, 60)

    async def go_on(self, crowd: list[asyncio.Task[None]]) -> None:
        """Wait until this many more people have gone inside at each running server."""
        wanted = {name: self.entered_at[name] + count("upgrade_entries") for name in self.open_to}

        def is_through() -> bool:
            if failed := [task for task in crowd if task.done()]:
                failed[0].result()
            return all(self.entered_at[name] >= number for name, number in wanted.items())

        async with self.moved:
            await self.moved.wait_for(is_through)

    async def change(self, name: str, **policy: object) -> None:
        """Change the room at one server; every running server then shows the same policy."""
        path = f"/v1/admin/rooms/{ROOM}"
        body = json.dumps({"policy": policy}).encode()
        await self.ask(name, "PATCH", path, OPERATOR, body)
        for other in self.open_to:
            shown = (await self.ask(other, "GET", path, OPERATOR)).json()["policy"]
            assert policy == {key: shown[key] for key in policy}, other

    @contextlib.asynccontextmanager
    async def crowd(self) -> AsyncIterator[list[asyncio.Task[None]]]:
        """Let people come and go while the block runs; at its end everybody is through."""
        tasks = [asyncio.create_task(self.visit()) for _ in range(4 * CAPACITY)]
        try:
            yield tasks
            self.done = True
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            for server in self.running.values():
                end(server)


async def test_there_and_back(tmp_path: Path) -> None:
    """Nobody is lost, called twice or overtaken, and no limit is exceeded, in either direction."""
    old = previous(tmp_path / "previous")
    fleet = Fleet()
    with start_server("valkey", tmp_path / "backend") as backend:
        async with open_engine(backend.url) as engine:
            log = Log(engine.backend.client, ROOM)
            meta: Any = partial(engine.backend.client.hget, room_key(ROOM, "meta"))
            await fleet.start("old", tmp_path, old, backend.url)
            room = json.dumps({"name": ROOM, "policy": POLICY}).encode()
            await fleet.ask("old", "POST", "/v1/admin/rooms", OPERATOR, room)
            written = await meta("schema")
            async with log.follow(), fleet.crowd() as crowd:
                await fleet.go_on(crowd)
                await fleet.start("new", tmp_path, PROGRAM, backend.url)
                await fleet.go_on(crowd)
                await fleet.change("new", title="changed by the new one")
                await fleet.change("old", title="changed by the old one", capacity=CAPACITY)
                await fleet.stop("old")
                await fleet.go_on(crowd)
                assert written == await meta("schema")
                await fleet.start("old", tmp_path, old, backend.url)
                await fleet.go_on(crowd)
                await fleet.change("old", title="and back")
                await fleet.stop("new")
                await fleet.go_on(crowd)
            assert written == await meta("schema")
    events = log.events
    assert [] == twice(called_ids(events))
    assert [] == overtaken(called_ids(events), fleet.places)
    assert [] == lost(fleet.places, events)
    assert {"left"} == {event.reason for event in events if event.kind == "ended"}
    found = replay(events, SESSION_S * 1000, ENTER_WITHIN_S * 1000)
    assert [] == found.wrong
    assert CAPACITY == found.peak
    assert MAX_ENTRIES >= most_in_window(moments(events, "entered"), PER_S * 1_000_000)
    assert fleet.crossed > 0
