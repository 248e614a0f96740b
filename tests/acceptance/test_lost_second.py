"""The last second is lost: a lagging replica is promoted, or the AOF lost its tail.

The engines keep their memory, on a virtual clock. What they acknowledged must come back, no place
may be given twice, and admission holds exactly once until the old order is back.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.acceptance import checks
from tests.acceptance.tools import everybody, members, place_of
from tests.support.clock import Clock, advance_all, open_engine
from tests.support.counts import count
from tests.support.figures import say
from tests.support.servers import (
    HOST,
    Server,
    fault_proxy,
    free_port,
    start_replica,
    start_server,
    wait_for,
)
from waitroom.engine import Engine, Join
from waitroom.engine.keys import room_key
from waitroom.models import Policy, TicketView

ROOM = "second"
POLICY = Policy(capacity=20, session_s=600, recover_s=75)


@dataclass(slots=True)
class Scene:
    """Three processes and their visitors; `places` is what the tickets say."""

    engines: list[Engine]
    clock: Clock
    draw: random.Random
    tickets: dict[str, str] = field(default_factory=dict)
    places: dict[str, int] = field(default_factory=dict)
    served: set[str] = field(default_factory=set)
    operations: int = 0

    def any(self) -> Engine:
        """Return one of the processes."""
        return self.draw.choice(self.engines)

    async def join(self, people: int) -> list[str]:
        """Make people join at some process; record what it acknowledges."""
        ids = []
        for view in await self.any().join_many(ROOM, [Join()] * people):
            assert isinstance(view, TicketView)
            self.tickets[view.id] = view.ticket
            self.places[view.id] = place_of(ROOM, view.ticket)
            ids.append(view.id)
        self.operations += people
        self.clock.step(0.01)
        return ids

    async def serve(self, people: int) -> None:
        """Let the called people enter, and some of those inside finish."""
        client = self.engines[0].backend.client
        for ticket_id in await members(client, ROOM, "called"):
            await self.any().enter(ROOM, self.tickets[ticket_id])
            self.served.add(ticket_id)
        for ticket_id in list(await members(client, ROOM, "inside"))[:people]:
            await self.any().finish(ROOM, self.tickets[ticket_id])
            self.served.add(ticket_id)
        self.operations += people

    async def poll(self, ids: list[str]) -> None:
        """Let people poll, 100 at a time, each time at a different process."""
        for start in range(0, len(ids), 100):
            some = [self.tickets[ticket_id] for ticket_id in ids[start : start + 100]]
            for view in await self.any().poll_many(ROOM, some):
                assert isinstance(view, TicketView)

    async def before(self, cut: Callable[[], Awaitable[None]]) -> None:
        """Fill the room, call `cut`, then let a second happen that will leave no trace."""
        await self.engines[0].create(ROOM, POLICY)
        people = count("lost_second_people")
        for _ in range(0, people, 100):
            await self.join(100)
        await self.serve(10)
        await self.poll(list(self.tickets))
        await cut()
        self.operations = 0
        for _ in range(10):
            await self.join(people // 50)
            await self.serve(1)
            self.clock.step(0.1)

    async def after(self) -> None:
        """Judge how the engines cope with a server that forgot the last second."""
        client = self.engines[0].backend.client
        holds, newcomers, clock = set(), list[str](), self.clock
        old = [*self.tickets]
        top = max(self.places.values())
        order = list(old)
        self.draw.shuffle(order)
        lost_at = clock.now_ms
        for second in range(60):
            newcomers += await self.join(self.draw.randrange(1, 4))
            await self.poll(order[second::60])
            assert 0 == sum([await advance_all(engine, ROOM) for engine in self.engines])
            holds.add(await self._hold(client))
            clock.step(1)
        assert 1 == len(holds), f"more than one hold: {holds}"
        assert holds.pop() >= lost_at + 75_000

        states = await everybody(client, ROOM)
        assert [] == checks.in_two_states(**states)
        waiting = states["waiting"]
        assert len(set(waiting.values())) == len(waiting), "a place was given twice"
        for ticket_id in waiting:
            assert self.places[ticket_id] == waiting[ticket_id], "a place was changed"
        assert min(self.places[ticket_id] for ticket_id in newcomers) > top
        # Anybody we never acknowledged as inside must be somewhere: nobody fell out.
        somewhere = waiting.keys() | states["inside"].keys() | states["called"].keys()
        gone = set(old) - somewhere
        assert gone <= self.served, f"{len(gone - self.served)} people lost"
        await self._goes_on(client, waiting)

    async def _hold(self, client: Any) -> int:
        return int(await client.hget(room_key(ROOM, "meta"), "hold_until") or 0)

    async def _goes_on(self, client: Any, waiting: dict[str, int]) -> None:
        await self.engines[1].configure(ROOM, capacity=60)
        for _ in range(20):
            self.clock.step(1)
            await self.poll(list(waiting)[:500])
            if called := await advance_all(self.any(), ROOM):
                assert list(waiting)[called:] == list(await members(client, ROOM, "waiting"))
                return
        raise AssertionError("jammed: nobody is called after the hold")


async def _scene(stack: AsyncExitStack, url: str) -> Scene:
    clock = Clock()
    engines = [await stack.enter_async_context(open_engine(url, clock)) for _ in range(3)]
    return Scene(engines, clock, random.Random(8))


async def test_a_lagging_replica_is_promoted(tmp_path: Path) -> None:
    """The replica's link is cut, a second later it is promoted: 0 lost, none twice, one hold."""
    with (
        start_server("valkey", tmp_path / "p") as primary,
        start_replica(primary, tmp_path / "r") as replica,
    ):
        async with AsyncExitStack() as stack:
            proxy = await stack.enter_async_context(fault_proxy(primary))
            scene = await _scene(stack, proxy.url)

            async def cut() -> None:
                _in_step(primary, replica)
                replica.command("REPLICAOF", HOST, free_port())

            await scene.before(cut)
            primary.kill()
            assert b"+OK\r\n" == replica.command("REPLICAOF", "NO", "ONE")
            proxy.server = replica
            proxy.cut_all()
            await scene.after()
    say(f"1 promotion lost {scene.operations} acknowledged operations; all came back")
    assert scene.operations > 0


def _in_step(primary: Server, replica: Server) -> None:
    def size(server: Server) -> bytes:
        return server.command("HGET", room_key(ROOM, "meta"), "rev")

    wait_for(lambda: size(primary) == size(replica), "the replica to be in step")


# Without fsync every acknowledged write is in the file: a slow disk could hold it back for seconds.
async def test_the_aof_lost_its_tail(tmp_path: Path) -> None:
    """The AOF is cut mid-command: 0 lost places, none given twice, one hold."""
    with start_server("valkey", tmp_path / "s", aof=True, appendfsync="no") as server:
        async with AsyncExitStack() as stack:
            scene, kept = await _scene(stack, server.url), 0

            def aof() -> Path:
                (path,) = (tmp_path / "s" / "appendonlydir").glob("*.incr.aof")
                return path

            async def cut() -> None:
                nonlocal kept
                kept = aof().stat().st_size

            await scene.before(cut)
            server.kill()
            lost = aof().stat().st_size - kept
            with aof().open("r+b") as file:
                file.truncate(kept + lost // 50)
            server.restart()
            await scene.after()
    say(f"{lost} bytes of the AOF with {scene.operations} acknowledged operations lost and healed")
    assert lost > 1_000


async def test_a_lost_change_of_the_policy_comes_back_twice(tmp_path: Path) -> None:
    """A promotion loses a `configure`, and minutes later another one does. Both come back."""
    with start_server("valkey", tmp_path / "s", aof=True, appendfsync="no") as server:
        async with AsyncExitStack() as stack:
            scene = await _scene(stack, server.url)
            engine, other = scene.engines[:2]
            await engine.create(ROOM, POLICY)
            for capacity in (30, 40):
                (aof,) = (tmp_path / "s" / "appendonlydir").glob("*.incr.aof")
                kept = aof.stat().st_size
                await engine.configure(ROOM, capacity=capacity)
                server.kill()
                with aof.open("r+b") as file:
                    file.truncate(kept)
                server.restart()
                scene.clock.step(100)
                await engine.advance(ROOM)
                assert capacity == (await other.room(ROOM)).policy.capacity
