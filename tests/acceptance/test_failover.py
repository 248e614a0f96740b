"""The primary dies and a Sentinel promotes its replica: visitors wait, and nobody is lost."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path

from tests.support.clients import HOST, Wire
from tests.support.figures import say
from tests.support.servers import start_replica, start_sentinel, start_server, wait_for
from tests.support.serving import Serving, serving

PAUSE_S = 0.02
PEOPLE = 20


class Crowd:
    """People who join one after another, and poll as often as they are asked to."""

    def __init__(self, server: Serving, room: str) -> None:
        self.words: Counter[str] = Counter()
        self.tickets: list[str] = []
        self._port, self._path = server.port, f"/v1/rooms/{room}/tickets"

    async def poll(self, ticket: str) -> dict[str, object]:
        """Poll a ticket once."""
        async with Wire(self._port) as wire:
            reply = await wire.ask("GET", f"{self._path}/{ticket}")
            self.words[f"poll {reply.status}"] += 1
            return dict(reply.json())

    async def join(self, wire: Wire) -> None:
        """Take a place."""
        reply = await wire.ask("POST", self._path)
        self.words[f"join {reply.status}"] += 1
        self.tickets.append(reply.json()["ticket"])

    async def come(self) -> None:
        """Join and poll until cancelled."""
        async with Wire(self._port) as wire:
            while True:
                await self.join(wire)
                reply = await wire.ask("GET", f"{self._path}/{self.tickets[-1]}")
                self.words[f"poll {reply.status}"] += 1
                self.words["stale"] += bool(reply.json().get("stale"))
                await asyncio.sleep(PAUSE_S)


async def test_a_failover_loses_nobody(tmp_path: Path) -> None:
    """Polls and joins have 0 errors, and afterwards everybody has their own place."""
    with (
        start_server("valkey", tmp_path / "primary") as primary,
        start_replica(primary, tmp_path / "replica") as replica,
        start_sentinel(primary, tmp_path / "sentinel") as sentinel,
        serving(
            tmp_path, redis_url=f"redis+sentinel://{HOST}:{sentinel.port}/room", poll_within_s=0.3
        ) as server,
    ):
        wait_for(
            lambda: b"num-slaves\r\n$1\r\n1" in sentinel.command("SENTINEL", "MASTER", "room"),
            "a sentinel that knows the replica",
        )
        crowd = Crowd(server, server.new_room(mode="paused", recover_s=0, presence_s=None))
        coming = [asyncio.create_task(crowd.come()) for _ in range(4)]
        try:
            await _until(crowd, PEOPLE)
            await asyncio.to_thread(primary.kill)
            await asyncio.to_thread(
                wait_for,
                lambda: b"role:master" in replica.command("INFO", "replication"),
                "a primary",
            )
            await _until(crowd, len(crowd.tickets) + PEOPLE)
        finally:
            for task in coming:
                task.cancel()
            await asyncio.gather(*coming, return_exceptions=True)
        for ticket in crowd.tickets:  # this brings back people lost with the last writes
            await crowd.poll(ticket)
        views = [await crowd.poll(ticket) for ticket in crowd.tickets]
        assert {"waiting"} == {view["state"] for view in views}
        assert list(range(1, len(views) + 1)) == sorted(
            int(str(view["position"])) for view in views
        )
        assert {"poll 200", "join 201", "stale"} >= set(crowd.words), crowd.words
        assert "Traceback" not in server.said()
        say(f"a failover under {crowd.words.total()} calls: {len(views)} people, 0 lost")


async def _until(crowd: Crowd, number: int) -> None:
    async with asyncio.timeout(120):
        while len(crowd.tickets) < number:  # noqa: ASYNC110
            await asyncio.sleep(PAUSE_S)
