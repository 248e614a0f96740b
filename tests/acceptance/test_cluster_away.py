"""Cluster nodes die under a server: each takes its own rooms down, and no others."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from redis.crc import key_slot

from tests.support.clients import Wire
from tests.support.counts import count
from tests.support.servers import Cluster, start_cluster
from tests.support.serving import ADMIN, Serving, serving
from waitroom.engine import keys

PAUSE_S = 0.02
SLOTS_PER_NODE = 5_461


def node_of(key: str) -> int:
    """Return the number of the node that holds a key."""
    return min(2, key_slot(key.encode()) // SLOTS_PER_NODE)


def room_node(room: str) -> int:
    """Return the number of the node that holds a room."""
    return node_of(keys.room_key(room, "meta"))


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    """Run a Cluster that keeps working without one of its nodes."""
    config = {"cluster_require_full_coverage": "no", "appendonly": "yes", "appendfsync": "always"}
    with start_cluster(tmp_path / "cluster", **config) as cluster:
        yield cluster


@pytest.fixture
def served(tmp_path: Path, cluster: Cluster) -> Iterator[Serving]:
    """Run a server on it."""
    settings = {"poll_within_s": 0.3, "answer_within_s": 5, "away_after_s": 1}
    with serving(tmp_path, redis_url=cluster.url, **settings) as server:
        yield server


class Visitors:
    """One visitor per room who polls, and one who keeps joining; `async with`."""

    def __init__(self, server: Serving, rooms: list[str]) -> None:
        self.words: dict[str, Counter[str]] = {room: Counter() for room in rooms}
        self._server = server
        self._tasks: list[asyncio.Task[None]] = []

    def forget(self) -> None:
        """Start counting again."""
        for words in self.words.values():
            words.clear()

    async def _visit(self, room: str) -> None:
        tickets = f"/v1/rooms/{room}/tickets"
        async with Wire(self._server.port) as wire:
            ticket = (await wire.ask("POST", tickets)).json()["ticket"]
            while True:
                for method, path in (("GET", f"{tickets}/{ticket}"), ("POST", tickets)):
                    reply = await wire.ask(method, path)
                    self.words[room][str(reply.status)] += 1
                await asyncio.sleep(PAUSE_S)

    async def __aenter__(self) -> Visitors:
        self._tasks = [asyncio.create_task(self._visit(room)) for room in self.words]
        await self.until(set(self.words), {"200"})
        return self

    async def __aexit__(self, *exc: object) -> None:
        for task in self._tasks:
            task.cancel()
        for result in await asyncio.gather(*self._tasks, return_exceptions=True):
            if not isinstance(result, asyncio.CancelledError):
                raise AssertionError("a visitor failed") from result

    async def until(self, rooms: set[str], wanted: set[str]) -> None:
        """Wait until each room has given one of these answers."""
        async with asyncio.timeout(120):
            while not all(wanted & set(self.words[room]) for room in rooms):  # noqa: ASYNC110
                await asyncio.sleep(PAUSE_S)


async def test_a_node_takes_only_its_own_rooms(cluster: Cluster, served: Serving) -> None:
    """The node with the list of rooms dies: other rooms have 0 errors, and operators see them."""
    rooms = [f"hall-{number}" for number in range(9)]
    for room in rooms:
        served.new_room(room, mode="paused")
    dead_node = node_of(keys.ROOMS)
    dead = {room for room in rooms if room_node(room) == dead_node}
    living = set(rooms) - dead
    assert dead
    assert {0, 1, 2} - {dead_node} == {room_node(room) for room in living}
    async with Visitors(served, rooms) as visitors, Wire(served.port) as operator:
        visitors.forget()
        cluster.nodes[dead_node].kill()
        await visitors.until(dead, {"503"})
        body = (await operator.ask("GET", "/v1/admin/rooms", ADMIN)).json()
        assert living == {room["name"] for room in body["rooms"]}
        assert dead == {room["name"] for room in body["problems"]}
        for room in living:
            assert 200 == (await operator.ask("GET", f"/v1/admin/rooms/{room}", ADMIN)).status
        assert (await operator.ask("GET", "/healthz")).json()["backend"] == "up"
        await asyncio.sleep(count("away_seconds"))
        seen = {room: set(words) for room, words in visitors.words.items()}
        assert {room: {"200", "201"} for room in living} == {room: seen[room] for room in living}
        assert all(seen[room] <= {"200", "201", "503"} for room in dead), seen
        await asyncio.to_thread(cluster.nodes[dead_node].restart)
        visitors.forget()
        await visitors.until(dead, {"201"})
        assert all(set(words) <= {"200", "201", "503"} for words in visitors.words.values())


async def test_the_whole_cluster_goes_and_comes_back(cluster: Cluster, served: Serving) -> None:
    """Every node dies: no 500, and everybody is served again once the nodes are back."""
    rooms = [f"hall-{number}" for number in range(3)]
    for room in rooms:
        served.new_room(room, mode="paused")
    async with Visitors(served, rooms) as visitors:
        for node in cluster.nodes:
            node.kill()
        await visitors.until(set(rooms), {"503"})
        await asyncio.sleep(count("away_seconds"))
        for node in cluster.nodes:
            await asyncio.to_thread(node.restart)
        visitors.forget()
        await visitors.until(set(rooms), {"201"})
        statuses = {status for words in visitors.words.values() for status in words}
        assert statuses <= {"200", "201", "503"}
    assert "Traceback" not in served.said()
