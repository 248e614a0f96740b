"""FLUSHALL while everybody is there: policy, places and order come back by themselves.

The test restores nothing. Three engines, each with its own memory, stand for three processes.
"""

from __future__ import annotations

import asyncio
import random
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

import pytest

from tests.acceptance.tools import members, place_of
from tests.support.clock import Clock, advance_all, open_engine
from tests.support.counts import count
from tests.support.figures import say
from tests.support.servers import Server
from waitroom.engine import Engine, Join
from waitroom.errors import InvalidTicket
from waitroom.models import Policy, State, TicketView
from waitroom.tickets import KeyRing, Ticket

ROOM = "lost"
RECOVER_S = 75
POLICY = Policy(capacity=50, session_s=900, recover_s=RECOVER_S, renewable=True)


@dataclass(slots=True)
class Scene:
    """People before the loss, and three processes."""

    engines: list[Engine]
    clock: Clock
    draw: random.Random
    inside: list[TicketView] = field(default_factory=list)
    served: list[TicketView] = field(default_factory=list)
    waiting: list[TicketView] = field(default_factory=list)
    told: dict[str, int] = field(default_factory=dict)
    """The last position that each ticket was told."""

    numbers: int = 0
    """How many positions have been told."""

    def any(self) -> Engine:
        """Return one of the processes."""
        return self.draw.choice(self.engines)

    async def join(self, people: int, enter: bool = False) -> list[TicketView]:
        """Make people join, 250 at a time, each time at a different process."""
        views: list[TicketView] = []
        for start in range(0, people, 250):
            joins = [Join(enter=enter)] * min(250, people - start)
            for view in await self.any().join_many(ROOM, joins):
                assert isinstance(view, TicketView)
                self.hear(view)
                views.append(view)
            self.clock.step(0.01)
        return views

    async def poll(self, views: list[TicketView]) -> list[TicketView]:
        """Let people poll, 100 at a time, each time at a different process, all at once."""
        chunks = [views[start : start + 100] for start in range(0, len(views), 100)]
        answers = await asyncio.gather(
            *(self.any().poll_many(ROOM, [view.ticket for view in some]) for some in chunks)
        )
        present = []
        for answer in (answer for some in answers for answer in some):
            assert isinstance(answer, TicketView)
            self.hear(answer)
            present.append(answer)
        return present

    def hear(self, view: TicketView) -> None:
        """Record what a ticket is told: a number never rises, and a missing one has a reason."""
        if view.position is None:
            assert view.restoring == (view.state is State.WAITING)
            return
        assert not view.restoring
        assert view.position <= self.told.get(view.id, view.position), "a number rose"
        self.told[view.id] = view.position
        self.numbers += 1

    async def build(self, people: int) -> None:
        """Fill the room; forty people have been served, by different processes."""
        await self.engines[0].create(ROOM, POLICY)
        views = await self.join(people, enter=True)
        self.inside, self.waiting = views[:50], views[50:]
        for _ in range(40):
            self.clock.step(0.5)
            done, engine = self.inside.pop(0), self.any()
            await engine.finish(ROOM, done.ticket)
            self.served.append(done)
            came = self.waiting.pop(0)
            self.inside.append(await engine.enter(ROOM, came.ticket))
        assert all(view.state is State.WAITING for view in await self.poll(self.waiting))

    async def lose(self) -> None:
        """FLUSHALL."""
        await self.engines[0].backend.client.flushall()


async def _open(stack: AsyncExitStack, url: str, clock: Clock, processes: int = 3) -> list[Engine]:
    return [await stack.enter_async_context(open_engine(url, clock)) for _ in range(processes)]


async def test_flushall_while_everybody_polls(apart: Server, clock: Clock) -> None:
    """The policy is back, nobody is called or told a number before `recover_s`; then in order."""
    async with AsyncExitStack() as stack:
        scene = Scene(await _open(stack, apart.url, clock), clock, random.Random(3))
        await scene.lose()
        await scene.build(count("flush_people"))
        client = scene.engines[0].backend.client
        before = await members(client, ROOM, "waiting")
        epoch = (await scene.engines[0].room(ROOM)).epoch
        await scene.lose()
        hit = len(scene.waiting)

        lost_at, newcomers, numbers = clock.now_us, list[TicketView](), scene.numbers
        order = [*scene.waiting, *scene.served]
        scene.draw.shuffle(order)
        for second in range(60):  # a hidden tab polls once a minute
            newcomers += await scene.join(scene.draw.randrange(1, 4), enter=True)
            for view in await scene.poll(order[second::60]):
                is_waiting = view.state is State.WAITING
                assert is_waiting == (view.id in before), "a served person is back in line"
            assert 0 == sum([await advance_all(engine, ROOM) for engine in scene.engines])
            clock.step(1)

        assert numbers == scene.numbers, "a position was told before everybody was back"
        assert all(view.state is State.WAITING for view in newcomers)
        after = await members(client, ROOM, "waiting")
        assert list(before.items()) == list(after.items())[: len(before)]
        assert {view.id for view in newcomers} == set(list(after)[len(before) :])
        assert len(set(after.values())) == len(after), "a place was given twice"
        info = await scene.engines[2].room(ROOM)
        assert (POLICY, epoch) == (info.policy, info.epoch)
        # Sessions that a gate vouches for during the hold keep their places.
        for view in scene.inside[:10]:
            until = view.session_ends_at_ms
            kept = await scene.any().renew(ROOM, view.ticket, sid=view.sid, vouched_until_ms=until)
            assert (State.INSIDE, view.sid) == (kept.state, kept.sid)

        called = await _until_called(scene)
        assert clock.now_us - lost_at >= RECOVER_S * 1e6
        assert clock.now_us - lost_at <= (RECOVER_S + 5) * 1e6, "jammed"
        assert 40 == called
        assert list(before)[:40] == sorted(
            await members(client, ROOM, "called"), key=before.__getitem__
        )
        assert [*after][40:] == [*await members(client, ROOM, "waiting")]
        await scene.poll([*scene.waiting, *newcomers])
        assert {*[*after][40:]} <= {*scene.told}
        say(
            f"1 FLUSHALL hit {hit} people in line and {len(newcomers)} newcomers; 0 lost, "
            f"and none of {scene.numbers} numbers rose"
        )


async def _until_called(scene: Scene) -> int:
    for _ in range(60):
        await scene.poll(scene.waiting[:500])
        if called := sum([await advance_all(engine, ROOM) for engine in scene.engines]):
            return called
        scene.clock.step(1)
    return 0


async def test_a_process_that_knows_less_is_the_first_to_restore(
    apart: Server, clock: Clock
) -> None:
    """Served people are not first again, though the first process had not seen them served."""
    async with AsyncExitStack() as stack:
        knows, lags, _ = await _open(stack, apart.url, clock)
        scene = Scene([knows], clock, random.Random(4))
        await scene.lose()
        await scene.build(100)
        await lags.poll(ROOM, scene.waiting[-1].ticket)
        done, came = scene.inside[0], scene.waiting[0]
        await knows.finish(ROOM, done.ticket)
        await knows.enter(ROOM, came.ticket)
        await knows.finish(ROOM, came.ticket)
        await scene.lose()

        await lags.poll(ROOM, came.ticket)  # this process last saw `came` waiting
        await scene.poll(scene.waiting[2:])  # now the others, at the process that knows
        called = dict[str, int]()
        for _ in range(RECOVER_S + 5):
            clock.step(1)
            await scene.poll(scene.waiting[2:])
            await advance_all(knows, ROOM)
            called = await members(knows.backend.client, ROOM, "called")
            if called:
                break
        assert called, "jammed"
        assert came.id not in called, "somebody who was served is called again, before others"
        view = await lags.poll(ROOM, came.ticket)
        assert State.GONE == view.state


async def test_a_second_loss_is_healed_like_the_first(apart: Server, clock: Clock) -> None:
    """Policy and state are lost twice within ten minutes, the second time only partly."""
    async with AsyncExitStack() as stack:
        engine, other, _ = await _open(stack, apart.url, clock)
        scene = Scene([engine, other], clock, random.Random(6))
        await scene.lose()
        await scene.build(100)
        before = await members(engine.backend.client, ROOM, "waiting")
        for keys in (["config", "meta"], ["config", "meta", "waiting", "seen"], ["config"]):
            clock.step(100)
            await engine.backend.client.delete(*(f"wr:{{{ROOM}}}:{name}" for name in keys))
            await scene.poll(scene.waiting)
            assert before == await members(engine.backend.client, ROOM, "waiting")
            assert POLICY == (await other.room(ROOM)).policy


async def test_tickets_that_must_not_come_back(apart: Server, clock: Clock) -> None:
    """After a loss, tickets that are forged, too old or another room's never reach Redis."""
    async with AsyncExitStack() as stack:
        engines = await _open(stack, apart.url, clock)
        scene = Scene(engines, clock, random.Random(5))
        await scene.lose()
        await scene.build(100)
        good = engines[0].ring.read(ROOM, scene.waiting[-1].ticket)
        await scene.lose()
        ring, text = engines[0].ring, scene.waiting[-1].ticket
        foreign = KeyRing([b"not the secret of these tests..!"])
        first = Ticket(ROOM, good.id, good.place - 10_000_000, good.epoch, good.issued_s)
        old = Ticket(ROOM, good.id, good.place, good.epoch, clock.now_us // 1_000_000 - 86_401)
        bad = {
            "forged place": foreign.sign(first),
            "changed": text[:-8] + ("AAAAAAAA" if text[-8:] != "AAAAAAAA" else "BBBBBBBB"),
            "too old": ring.sign(old),
            "other room": ring.sign(
                Ticket("elsewhere", good.id, good.place, good.epoch, good.issued_s)
            ),
        }
        for what, ticket in bad.items():
            for verb in (
                "poll",
                "enter",
                "renew",
                "leave",
                *(["join"] if what != "too old" else []),
            ):
                with pytest.raises(InvalidTicket):
                    await getattr(scene.any(), verb)(ROOM, ticket)
            (answer,) = await scene.any().poll_many(ROOM, [ticket])
            assert isinstance(answer, InvalidTicket), what
        assert 0 == int(await engines[0].backend.client.dbsize()), "a bad ticket reached the server"
        assert State.WAITING == (await scene.any().poll(ROOM, text)).state
        assert (
            place_of(ROOM, text)
            in (await members(engines[0].backend.client, ROOM, "waiting")).values()
        )
