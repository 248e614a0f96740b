"""The batcher: sends at once when idle, gathers while busy, and fails each waiter cleanly."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from tests.support.clock import Clock, crowd, open_engine
from tests.support.servers import Server
from waitroom.engine import Engine
from waitroom.engine.batcher import IN_FLIGHT, MOST_PENDING, Batcher
from waitroom.errors import Busy
from waitroom.models import MEMBERS_PER_SCRIPT, Mode, Policy


@dataclass(slots=True)
class Sender:
    """Takes batches and answers with ten times each item, once it is allowed to."""

    batches: list[list[int]] = field(default_factory=list)
    open: asyncio.Event = field(default_factory=asyncio.Event)
    error: BaseException | None = None
    under_way: int = 0
    most_under_way: int = 0

    async def __call__(self, items: list[int]) -> Sequence[int | Exception]:
        """Take a batch."""
        self.batches.append(items)
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)
        try:
            await self.open.wait()
            if self.error is not None:
                raise self.error
            return [ValueError(item) if item < 0 else item * 10 for item in items]
        finally:
            self.under_way -= 1


async def turns(number: int = 5) -> None:
    """Let the loop run a few turns."""
    for _ in range(number):
        await asyncio.sleep(0)


async def test_idle_sends_at_once() -> None:
    """A single item is sent in the next turn of the loop, without a timer."""
    send = Sender()
    batcher = Batcher(send)
    batcher.submit(1)
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert [[1]] == send.batches
    send.open.set()
    await batcher.drain()


async def test_ready_callers_share_a_call() -> None:
    """Items submitted in one turn of the loop go out together, and are answered in order."""
    send = Sender()
    send.open.set()
    batcher = Batcher(send)
    assert [0, 10, 20] == await asyncio.gather(*(batcher.submit(n) for n in range(3)))
    assert [[0, 1, 2]] == send.batches


async def test_what_gathers_goes_out_together() -> None:
    """While two calls are under way, items gather, and go out as one call when one returns."""
    send = Sender()
    batcher = Batcher(send)
    futures = []
    for n in range(6):
        futures.append(batcher.submit(n))
        await turns()
    assert [[0], [1]] == send.batches
    send.open.set()
    assert [0, 10, 20, 30, 40, 50] == await asyncio.gather(*futures)
    assert [[0], [1], [2, 3, 4, 5]] == send.batches


async def test_in_flight() -> None:
    """Never more than two calls are under way."""
    send = Sender()
    batcher = Batcher(send, most=3)
    futures = [batcher.submit(n) for n in range(20)]
    await turns()
    assert IN_FLIGHT == len(send.batches)
    send.open.set()
    await asyncio.gather(*futures)
    assert 2 == IN_FLIGHT == send.most_under_way


async def test_most_per_call() -> None:
    """A call takes at most 500 items, and the rest follows in order."""
    send = Sender()
    send.open.set()
    batcher = Batcher(send)
    await asyncio.gather(*(batcher.submit(n) for n in range(1_201)))
    assert [500, 500, 201] == [len(batch) for batch in send.batches]
    assert list(range(1_201)) == [item for batch in send.batches for item in batch]
    assert 500 == MEMBERS_PER_SCRIPT


async def test_failing_call() -> None:
    """If a call fails, each of its waiters gets the error; the next call works."""
    send = Sender(error=OSError("away"))
    send.open.set()
    batcher = Batcher(send)
    results = await asyncio.gather(*(batcher.submit(n) for n in range(3)), return_exceptions=True)
    assert ["away"] * 3 == [str(result) for result in results]
    send.error = None
    assert 40 == await batcher.submit(4)


async def test_failing_item() -> None:
    """An answer that is an error is raised only to its own waiter."""
    send = Sender()
    send.open.set()
    batcher = Batcher(send)
    results = await asyncio.gather(*map(batcher.submit, (1, -1, 2)), return_exceptions=True)
    assert [10, "ValueError(-1)", 20] == [
        result if isinstance(result, int) else repr(result) for result in results
    ]


async def test_answers_of_another_length() -> None:
    """A call with too few answers fails its waiters: nobody waits for ever."""

    async def send(items: list[int]) -> Sequence[int]:
        return items[:-1]

    batcher = Batcher(send)
    futures = [batcher.submit(n) for n in range(2)]
    results = await asyncio.wait_for(asyncio.gather(*futures, return_exceptions=True), 60)
    assert any(isinstance(result, Exception) for result in results)


async def test_cancelled_before_sending() -> None:
    """Items whose caller gave up before the call are not sent; the others are."""
    send = Sender()
    batcher = Batcher(send)
    for n in range(2):  # both places in flight are taken
        batcher.submit(n)
        await turns()
    waiting = [batcher.submit(n) for n in (2, 3)]
    waiting[0].cancel()
    send.open.set()
    assert 30 == await waiting[1]
    assert [3] == send.batches[-1]


async def test_all_cancelled() -> None:
    """If all callers gave up, nothing is sent, and the batcher continues."""
    send = Sender()
    send.open.set()
    batcher = Batcher(send)
    batcher.submit(1).cancel()
    await turns()
    assert [] == send.batches
    assert 20 == await batcher.submit(2)


async def test_cancelled_under_way() -> None:
    """A caller that gives up during the call does not disturb the others."""
    send = Sender()
    batcher = Batcher(send)
    first, second = batcher.submit(1), batcher.submit(2)
    await turns()
    first.cancel()
    send.open.set()
    assert 20 == await second
    assert [[1, 2]] == send.batches


async def test_cancelled_waiter_of_an_engine(engine: Engine, room: str) -> None:
    """A poll whose caller went away does not disturb those that share its call."""
    await engine.create(room, Policy(mode=Mode.PAUSED))
    people = await crowd(engine, room, 3)
    tasks = [asyncio.ensure_future(engine.poll(room, person.ticket)) for person in people]
    await asyncio.sleep(0)
    tasks[1].cancel()
    results = await asyncio.gather(*tasks, return_exceptions=True)
    assert [1, None, 3] == [getattr(result, "position", None) for result in results]


async def test_idle() -> None:
    """A batcher is idle when nothing is queued or under way."""
    send = Sender()
    batcher = Batcher(send)
    assert batcher.idle
    future = batcher.submit(1)
    assert not batcher.idle
    await turns()
    assert not batcher.idle
    send.open.set()
    await future
    await turns()
    assert batcher.idle


async def test_drain() -> None:
    """`drain` returns when everything submitted is answered."""
    send = Sender()
    send.open.set()
    batcher = Batcher(send, most=1)
    futures = [batcher.submit(n) for n in range(5)]
    await batcher.drain()
    assert all(future.done() for future in futures)


async def test_fail() -> None:
    """All waiters get the error now, queued or under way; the calls' own answers are dropped."""
    send = Sender()
    batcher = Batcher(send)
    futures = []
    for n in range(4):  # two under way, two queued
        futures.append(batcher.submit(n))
        await turns()
    batcher.fail(OSError("away"))
    assert [True] * 4 == [future.done() for future in futures]
    assert ["away"] * 4 == [str(future.exception()) for future in futures]
    assert 2 == send.under_way
    later = batcher.submit(5)
    await turns()
    assert not later.done()
    send.open.set()
    assert 50 == await later
    assert [[0], [1], [5]] == send.batches


async def test_fail_leaves_the_answered_alone() -> None:
    """Waiters that have an answer, or gave up, keep that."""
    send = Sender()
    batcher = Batcher(send)
    under_way = batcher.submit(1)
    await turns()
    under_way.cancel()
    batcher.fail(OSError("away"))
    assert under_way.cancelled()
    send.open.set()
    assert 20 == await batcher.submit(2)
    batcher.fail(OSError("away"))
    await batcher.drain()
    assert batcher.idle


async def test_who_waits_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Returns those that have waited that long, under way or queued, but not answered ones."""
    send = Sender()
    batcher = Batcher(send, most=2, in_flight=1)
    assert [] == [*batcher.waiting(0.0)]
    first, _, _ = (batcher.submit(number) for number in (1, 2, 3))
    assert [] == [*batcher.waiting(0.0)], "nothing is under way yet"
    await turns()
    first.cancel()
    since = time.monotonic()
    with monkeypatch.context() as patch:  # a minute later, whatever the machine does
        patch.setattr(time, "monotonic", lambda: since + 60)
        batcher.submit(4)
        assert [2, 3, 4] == [item for item, _ in batcher.waiting(0.0)]
        assert [2, 3] == [item for item, _ in batcher.waiting(60)]
        assert [] == [*batcher.waiting(3600)]
        for item, future in batcher.waiting(0.0):
            future.set_result(-item)  # set by somebody else who knows the answer
    send.open.set()
    await batcher.drain()
    assert [[1, 2]] == send.batches, "the others were answered before their turn"


async def test_the_next_call_goes_out_before_the_answers_of_the_last() -> None:
    """With one call at a time the server would be idle while we answer; order is kept."""
    send = Sender()
    batcher = Batcher(send, in_flight=1)
    seen: list[int] = []
    first = [batcher.submit(number) for number in (1, 2)]
    first[0].add_done_callback(lambda _: seen.append(len(send.batches)))
    await turns()
    second = [batcher.submit(number) for number in (3, 4)]
    send.open.set()
    assert [10, 20, 30, 40] == await asyncio.gather(*first, *second)
    assert ([[1, 2], [3, 4]], 1) == (send.batches, send.most_under_way)
    assert [2] == seen


async def test_most_pending() -> None:
    """Only a limited number wait for a call; a further one is refused at once, others are not."""
    send = Sender()
    batcher = Batcher(send, most=1, in_flight=1, most_pending=3)
    under_way = batcher.submit(0)
    await turns()
    queued = [batcher.submit(n) for n in (1, 2, 3)]
    refused = batcher.submit(4)
    assert refused.done()
    with pytest.raises(Busy):
        await refused
    send.open.set()
    assert [0, 10, 20, 30] == await asyncio.gather(under_way, *queued)
    assert 50 == await batcher.submit(5)
    assert 20_000 == MOST_PENDING


async def calls(server: Server) -> int:
    """Return how many scripts a server has run."""
    text = server.command("INFO", "commandstats").decode()
    lines = [line for line in text.splitlines() if line.startswith("cmdstat_eval")]
    return sum(int(line.partition("calls=")[2].partition(",")[0]) for line in lines)


async def test_ten_thousand_polls(server: Server, clock: Clock, room: str) -> None:
    """10,000 concurrent polls of one room are 20 script calls, and each gets its own answer."""
    async with open_engine(server.url, clock) as engine:
        await engine.create(room, Policy(mode=Mode.PAUSED))
        people = await crowd(engine, room, 1_000)
        before = await calls(server)
        views = await asyncio.gather(
            *(engine.poll(room, people[n % 1_000].ticket) for n in range(10_000))
        )
        assert 20 <= await calls(server) - before <= 22
    assert [n % 1_000 + 1 for n in range(10_000)] == [view.position for view in views]


async def test_joins_are_few_calls(server: Server, clock: Clock, room: str) -> None:
    """2,000 concurrent joins are 4 script calls, and nobody shares a place."""
    async with open_engine(server.url, clock) as engine:
        await engine.create(room, Policy(mode=Mode.PAUSED))
        before = await calls(server)
        people = await crowd(engine, room, 2_000)
        assert 4 <= await calls(server) - before <= 5
    assert list(range(1, 2_001)) == sorted(person.position or 0 for person in people)


async def test_joins_keep_the_order_of_arrival(engine: Engine, room: str) -> None:
    """Concurrent calls do not overtake each other: places follow the order of asking."""
    await engine.create(room, Policy(mode=Mode.PAUSED))
    people = await crowd(engine, room, 3_000)
    assert list(range(1, 3_001)) == [person.position for person in people]


async def test_rooms_do_not_mix(engine: Engine, room: str) -> None:
    """Concurrent polls of different rooms get their own answers."""
    rooms = [f"{room}-{n}" for n in range(3)]
    tickets = []
    for n, name in enumerate(rooms):
        await engine.create(name, Policy(mode=Mode.PAUSED))
        tickets.append((await crowd(engine, name, n + 1))[-1].ticket)
    polls = [engine.poll(name, ticket) for name, ticket in zip(rooms, tickets, strict=True)]
    assert [1, 2, 3] == [view.position for view in await asyncio.gather(*polls)]


@pytest.mark.parametrize("times", [2])
async def test_failing_server(engine: Engine, room: str, times: int) -> None:
    """A failing call fails each poll with the same clear error, and the next one works."""
    await engine.create(room, Policy(mode=Mode.PAUSED))
    person = await engine.join(room)
    good, engine._runner.visitors = engine._runner.visitors, None
    results = await asyncio.gather(
        *(engine.poll(room, person.ticket) for _ in range(times)), return_exceptions=True
    )
    assert [True] * times == [isinstance(result, Exception) for result in results]
    engine._runner.visitors = good
    assert 1 == (await engine.poll(room, person.ticket)).position
