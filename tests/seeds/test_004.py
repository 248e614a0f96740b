"""Seed 004, traffic control by zone: a threshold per minute."""

from __future__ import annotations

from bisect import bisect_right

import pytest

from tests.acceptance.tools import load_scripts
from tests.support.clock import Clock, advance_all, crowd, open_engine
from tests.support.servers import Cluster, Server
from waitroom.engine import Engine, Join, keys
from waitroom.errors import RoomClosed, WaitroomError
from waitroom.models import BeforeOpen, Mode, State, TicketView, preset
from waitroom.moments import from_ms


def views(answers: list[TicketView | WaitroomError]) -> list[TicketView]:
    """Return answers that must not be errors."""
    people = [answer for answer in answers if isinstance(answer, TicketView)]
    assert len(answers) == len(people)
    return people


def scripts_run(server: Server) -> int:
    """Return how many scripts a server has run."""
    text = server.command("INFO", "commandstats").decode()
    lines = [line for line in text.splitlines() if line.startswith("cmdstat_eval")]
    return sum(int(line.partition("calls=")[2].partition(",")[0]) for line in lines)


def busiest(moments: list[int], window_ms: int) -> int:
    """Return the largest number of moments in any window."""
    moments = sorted(moments)
    return max(bisect_right(moments, at + window_ms - 1) - i for i, at in enumerate(moments))


async def rush(
    engine: Engine, clock: Clock, room: str, people: int, seconds: int
) -> tuple[list[int], list[str]]:
    """Make people burst in, poll every 6 s and enter when called; return when, and who in order."""
    waiting: list[TicketView] = []
    moments: list[int] = []
    order: list[str] = []
    for person in views(await engine.join_many(room, [Join(enter=True)] * people)):
        if person.state is State.INSIDE:
            moments.append(clock.now_ms)
        else:
            waiting.append(person)
    for second in range(seconds):
        clock.step(1)
        await advance_all(engine, room)
        if waiting and second % 3 == 2:
            seen = views(await engine.poll_many(room, [person.ticket for person in waiting]))
            for person in seen:
                if person.state is State.CALLED:
                    await engine.enter(room, person.ticket)
                    moments.append(clock.now_ms)
                    order.append(person.id)
            waiting = [person for person in seen if person.state is State.WAITING]
    return moments, order


@pytest.mark.seed("004-01")
async def test_one_call(engine: Engine, server: Server, room: str) -> None:
    """004-01: one call joins, is a heartbeat, and answers entry or position: one script."""
    await engine.create(room, preset("per-minute", max_entries=1))
    # A script that the server does not know yet is sent twice: by its hash, then in full.
    await load_scripts(engine.backend.client, engine.backend.facts.scripts_take_flags)
    before = scripts_run(server)
    first = await engine.join(room, enter=True)
    second = await engine.join(room, enter=True)
    again = await engine.join(room, second.ticket, enter=True)
    assert 3 == scripts_run(server) - before
    assert (State.INSIDE, 1, 1) == (first.state, second.position, again.position)


@pytest.mark.seed("004-01")
async def test_one_call_is_a_heartbeat(engine: Engine, clock: Clock, room: str) -> None:
    """004-01: anybody who repeats that call stays in line."""
    await engine.create(room, preset("per-minute", mode=Mode.PAUSED))
    person = await engine.join(room, enter=True)
    for second in range(120):
        clock.step(1)
        await engine.advance(room)
        if second % 30 == 29:
            person = await engine.join(room, person.ticket, enter=True)
    assert (1, False) == (person.position, person.new)


@pytest.mark.seed("004-02")
async def test_quiet_minute(engine: Engine, clock: Clock, room: str) -> None:
    """004-02: if nobody waits and the minute has room people enter at once, up to the threshold."""
    await engine.create(room, preset("per-minute"))
    states = []
    for _ in range(101):
        states.append((await engine.join(room, enter=True)).state)
        clock.step(0.01)
    assert [State.INSIDE] * 100 + [State.WAITING] == states


@pytest.mark.seed("004-03")
async def test_threshold(engine: Engine, clock: Clock, room: str) -> None:
    """004-03: in a rush of 400, no 60 s see more than 100 entries, and all 100 are used."""
    await engine.create(room, preset("per-minute"))
    moments, order = await rush(engine, clock, room, 400, 240)
    assert 400 == len(moments)
    assert 100 == busiest(moments, 60_000)
    assert 300 == len(set(order))


@pytest.mark.seed("004-03")
async def test_slots(engine: Engine, clock: Clock, room: str) -> None:
    """004-03: while people wait each slot of 6 s calls a tenth of the threshold, by rank."""
    await engine.create(room, preset("per-minute", mode=Mode.PAUSED))
    people = await crowd(engine, room, 60)
    await engine.configure(room, mode=Mode.OPEN)
    called = []
    for _ in range(5):
        called.append(await advance_all(engine, room))
        clock.step(3)
        called.append(await advance_all(engine, room))
        clock.step(3)
    assert [10, 0] * 5 == called
    states = [(await engine.poll(room, person.ticket)).state for person in people]
    assert [State.CALLED] * 50 + [State.WAITING] * 10 == states


@pytest.mark.seed("004-03")
async def test_threshold_of_one(engine: Engine, clock: Clock, room: str) -> None:
    """004-03: a threshold of 1 lets one in per minute, not ten."""
    await engine.create(room, preset("per-minute", max_entries=1, batch=1))
    moments, _ = await rush(engine, clock, room, 4, 240)
    assert 4 == len(moments)
    assert 1 == busiest(moments, 60_000)


@pytest.mark.seed("004-05")
@pytest.mark.parametrize("mode", [Mode.OPEN, Mode.PAUSED])
async def test_silent_are_removed(engine: Engine, clock: Clock, room: str, mode: Mode) -> None:
    """004-05: without a poll for 60 s people are removed, in bounded steps, even if paused."""
    await engine.create(room, preset("per-minute", mode=Mode.PAUSED))
    for _ in range(3):
        await engine.join_many(room, [Join()] * 400)
    present = await engine.join(room)
    await engine.configure(room, mode=mode, max_entries=1, batch=1, recover_s=0)
    largest = 0
    for _ in range(32):  # a lap over all who wait takes about a minute, in steps
        clock.step(4)
        if State.CALLED is (await engine.poll(room, present.ticket)).state:
            await engine.enter(room, present.ticket)
        for _ in range(3):
            largest = max(largest, (await engine.advance(room)).abandoned)
    stats = await engine.stats(room)
    assert 1_200 <= stats.counters["abandoned"] + stats.counters["called_total"] <= 1_201
    assert 0 < largest <= 500
    assert State.GONE is not (await engine.poll(room, present.ticket)).state


@pytest.mark.seed("004-06")
async def test_never_twice(engine: Engine, room: str) -> None:
    """004-06: the same token is never there twice, and is found by its name in a sorted set."""
    await engine.create(room, preset("per-minute", mode=Mode.PAUSED))
    await crowd(engine, room, 3)
    for _ in range(3):
        last = await engine.join(room, visitor="kim")
    assert (4, 4) == (last.position, last.waiting)
    client = engine.backend.client
    assert b"zset" == await client.type(keys.room_key(room, "waiting"))
    assert 3 == await client.zrank(keys.room_key(room, "waiting"), last.id)


@pytest.mark.seed("004-08")
async def test_active_and_blocked(engine: Engine, room: str) -> None:
    """004-08: a blocked zone lets nobody in and keeps the line; an active one continues."""
    await engine.create(room, preset("per-minute", mode=Mode.PAUSED))
    person = await engine.join(room, enter=True)
    assert (State.WAITING, 0) == (person.state, await advance_all(engine, room))
    await engine.configure(room, mode=Mode.OPEN)
    assert 1 == await advance_all(engine, room)
    assert State.INSIDE is (await engine.enter(room, person.ticket)).state


@pytest.mark.seed("004-08")
async def test_faulty(engine: Engine, room: str) -> None:
    """004-08: a faulty zone refuses newcomers with a reason; waiting people keep their place."""
    await engine.create(room, preset("per-minute", mode=Mode.PAUSED))
    person = await engine.join(room)
    await engine.configure(room, mode=Mode.CLOSED)
    with pytest.raises(RoomClosed) as caught:
        await engine.join(room)
    assert "room_closed" == caught.value.code
    assert 1 == (await engine.poll(room, person.ticket)).position


@pytest.mark.seed("004-08")
async def test_activation_time(engine: Engine, clock: Clock, room: str) -> None:
    """004-08: before its activation time everybody passes; from then on the threshold applies."""
    opens = clock.now_ms + 60_000
    policy = preset(
        "per-minute", max_entries=2, opens_at=from_ms(opens), before_open=BeforeOpen.PASS
    )
    await engine.create(room, policy)
    early = views(await engine.join_many(room, [Join(enter=True)] * 5))
    clock.step(61)
    late = views(await engine.join_many(room, [Join(enter=True)] * 3))
    assert [State.INSIDE] * 5 == [person.state for person in early]
    assert [State.INSIDE] * 2 + [State.WAITING] == [person.state for person in late]


@pytest.mark.seed("004-09")
async def test_absent_heads(engine: Engine, clock: Clock, room: str) -> None:
    """004-09: ten people gone from the head do not delay those behind them by a single slot."""
    await engine.create(room, preset("per-minute", mode=Mode.PAUSED, presence_s=12))
    await crowd(engine, room, 10)
    others = await crowd(engine, room, 190)
    for _ in range(4):
        clock.step(4)
        await engine.poll_many(room, [person.ticket for person in others])
    await engine.configure(room, mode=Mode.OPEN)
    assert 10 == await advance_all(engine, room)
    assert State.CALLED is (await engine.poll(room, others[9].ticket)).state


@pytest.mark.seed("004-10")
async def test_cluster(cluster: Cluster, clock: Clock, room: str) -> None:
    """004-10: all keys of a zone share a hash tag, so that zones work on a real Cluster."""
    async with open_engine(cluster.url, clock) as engine:
        for zone in range(6):
            name = f"{room}-{zone}"
            await engine.create(name, preset("per-minute", max_entries=1))
            first = await engine.join(name, enter=True)
            second = await engine.join(name, enter=True)
            assert (State.INSIDE, State.WAITING) == (first.state, second.state)
            names = keys.script_keys(name)
            slots = {await engine.backend.client.cluster_keyslot(key) for key in names}
            assert 1 == len(slots)
