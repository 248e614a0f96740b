"""One laptop tries to make our own congestion look like an outage: it opens nothing.

Its connections renew one waiting ticket as fast as they can. The room would let everybody in while
the backend is away, but the backend is not away.
"""

from __future__ import annotations

import asyncio
import itertools
from collections import Counter
from collections.abc import Iterator

import pytest

from tests.support.clients import Wire, ask, request
from tests.support.counts import count
from tests.support.serving import ADMIN, Serving, serving

pytestmark = pytest.mark.attack


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """Run a server with the default limits, except for the time that a busy machine needs."""
    folder = tmp_path_factory.mktemp("congestion")
    with serving(folder, poll_within_s=0.3, answer_within_s=30, away_after_s=3) as server:
        yield server


class Attack:
    """Connections that keep renewing one ticket; `async with`."""

    def __init__(self, server: Serving, room: str, ticket: str, connections: int) -> None:
        self.words: Counter[str] = Counter()
        self._port, self._connections = server.port, connections
        self._path = f"/v1/rooms/{room}/tickets/{ticket}/renew"
        self._tasks: list[asyncio.Task[None]] = []

    async def _renew(self) -> None:
        async with Wire(self._port) as wire:
            while True:
                reply = await wire.ask("POST", self._path)
                self.words[f"{reply.status} {reply.code}"] += 1

    async def __aenter__(self) -> Attack:
        self._tasks = [asyncio.create_task(self._renew()) for _ in range(self._connections)]
        while self.words.total() < self._connections:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        return self

    async def __aexit__(self, *exc: object) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


async def test_congestion_opens_nothing(served: Serving) -> None:
    """Nobody is let in, honest visitors are answered, and the ticker goes on."""
    room = served.new_room(mode="paused", when_away="open", renewable=True)
    short = served.new_room(capacity=1, session_s=1, when_away="open")
    tickets = f"/v1/rooms/{room}/tickets"
    async with Wire(served.port) as honest:
        first = (await honest.ask("POST", tickets)).json()["ticket"]
        seen: Counter[str] = Counter()
        async with Attack(served, room, first, count("attack_connections")) as attack:
            for number in range(count("attack_rounds")):
                joined = await honest.ask("POST", tickets)
                assert (201, "waiting") == (joined.status, joined.json()["state"])
                polled = await honest.ask("GET", f"{tickets}/{joined.json()['ticket']}")
                assert (200, "waiting") == (polled.status, polled.json()["state"])
                assert 2 + number == polled.json()["position"]
                seen["honest"] += 1
            # When a session in the other room ends, the ticker must reassign its place.
            line = f"/v1/rooms/{short}/tickets"
            people = [(await honest.ask("POST", line)).json() for _ in range(2)]
            path = f"{line}/{people[0]['ticket']}/enter"
            assert 200 == (await honest.ask("POST", path)).status
            for attempt in itertools.count():
                state = (await honest.ask("GET", f"{line}/{people[1]['ticket']}")).json()["state"]
                if state == "called":
                    break
                assert attempt < 1_000, "the ticker stands still"
                await asyncio.sleep(0.05)
    assert {"410 session_over", "503 busy"} >= set(attack.words), attack.words
    metrics = ask(served.port, request("GET", "/metrics", ADMIN)).body.decode().splitlines()
    assert "waitroom_backend_errors_total 0.0" in metrics
    assert "waitroom_away_entries_total 0.0" in metrics
