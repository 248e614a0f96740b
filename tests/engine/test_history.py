"""History: spans of one and ten minutes, written once, kept through idle times, honest on gaps."""

from __future__ import annotations

import asyncio
import dataclasses
from typing import Any

import pytest

from tests.support.clock import Clock, advance_all, crowd, open_engine
from tests.support.servers import Server
from waitroom import moments
from waitroom.engine import Engine, keys
from waitroom.errors import BrokenRoom, InvalidRoomName, UnknownRoom
from waitroom.history import HistoryPoint, Step
from waitroom.models import BeforeOpen, Mode, Policy

pytestmark = pytest.mark.every_kind

PAUSED = Policy(mode=Mode.PAUSED, presence_s=None, ticket_ttl_s=None)
DAY_S = 86_400
STREAMS = {Step.MINUTE: "minutes", Step.TEN: "tens"}


async def sample_for(engine: Engine, clock: Clock, room: str, seconds: int) -> None:
    """Do what a ticker does for some time: a sample now and then, and history every minute."""
    for _ in range(seconds // 10):
        await engine.sample(room)
        clock.step(10)
        if clock.now_ms % 60_000 == 0:
            await engine.keep_history(room, clock.now_ms)


async def past(engine: Engine, clock: Clock, room: str, step: Step) -> list[HistoryPoint]:
    """Return everything that is known."""
    return [*await engine.history(room, 0, clock.now_ms, step)]


async def kept(engine: Engine, room: str) -> dict[Step, int]:
    """Return how many spans are written."""
    client = engine.backend.client
    return {step: await client.xlen(keys.room_key(room, name)) for step, name in STREAMS.items()}


async def test_a_point_has_everything(engine: Engine, clock: Clock, room: str) -> None:
    """A minute has its last numbers, longest line, waits, and the mode and limits at the time."""
    policy = Policy(capacity=1, batch=5, every_s=10, max_entries=40, per_s=60, session_s=None)
    await engine.create(room, policy)
    await engine.join(room, enter=True)
    clock.step(10)
    people = await crowd(engine, room, 3)
    await engine.sample(room, told_s=120)
    start_ms = clock.now_ms - 10_000
    clock.step(20)
    first = (await engine.list(room)).tickets[0]
    await engine.admit(room, 1, force=True)
    last = next(person for person in people if person.id != first.id)
    await engine.leave(room, last.ticket)
    await engine.sample(room)
    clock.step(30)
    next_ms = await engine.keep_history(room, clock.now_ms)
    assert start_ms + 600_000 == next_ms
    (point,) = await engine.history(room, start_ms, start_ms, Step.MINUTE)
    expected = HistoryPoint(
        at_ms=start_ms,
        span_ms=60_000,
        waiting=1,
        called=1,
        inside=1,
        most_waiting=3,
        joined=4,
        called_total=2,
        entered=1,
        finished=0,
        left=1,
        kicked=0,
        expired=0,
        no_show=0,
        abandoned=0,
        waited_s=20,
        told_s=120,
        mode=Mode.OPEN,
        capacity=1,
        per_minute=30.0,
    )
    assert expected == point
    assert policy.per_minute == point.per_minute


async def test_waits_that_came_true(engine: Engine, clock: Clock, room: str) -> None:
    """A wait is recorded when somebody is called from the head, and told once."""
    await engine.create(room, Policy(mode=Mode.MANUAL))
    await crowd(engine, room, 2)
    clock.step(7)
    samples = [await engine.sample(room)]
    await engine.admit(room, 1)
    clock.step(5)
    samples += [await engine.sample(room)]
    clock.step(5)
    samples += [await engine.sample(room)]
    assert [None, 7, None] == [sample and sample.waited_s for sample in samples]


async def test_drawn_places_wait_from_the_opening(engine: Engine, clock: Clock, room: str) -> None:
    """A drawn place says nothing about arrival, so its wait begins when the room opens."""
    opens_ms = clock.now_ms + 60_000
    policy = Policy(capacity=1, before_open=BeforeOpen.DRAW, opens_at=moments.from_ms(opens_ms))
    await engine.create(room, policy)
    await crowd(engine, room, 2)
    clock.step(75)
    await advance_all(engine, room)
    sample = await engine.sample(room)
    assert sample is not None
    assert 15 == sample.waited_s


async def test_tens_are_made_of_minutes(engine: Engine, clock: Clock, room: str) -> None:
    """Ten minutes have the longest line of them all, and the numbers of the last."""
    await engine.create(room, PAUSED)
    start_ms = clock.now_ms
    people = await crowd(engine, room, 5)
    await sample_for(engine, clock, room, 60)
    for person in people[2:]:
        await engine.leave(room, person.ticket)
    await sample_for(engine, clock, room, 560)
    assert {Step.MINUTE: 10, Step.TEN: 1} == await kept(engine, room)
    ten, now = await past(engine, clock, room, Step.TEN)
    assert (start_ms, 600_000) == (ten.at_ms, ten.span_ms)
    assert (5, 2, 3) == (ten.most_waiting, ten.waiting, ten.left)
    assert (start_ms + 600_000, 2) == (now.at_ms, now.waiting)
    minutes = await past(engine, clock, room, Step.MINUTE)
    assert [start_ms + 60_000 * n for n in range(11)] == [point.at_ms for point in minutes]
    assert [5] + 10 * [2] == [point.waiting for point in minutes]


async def test_two_processes_write_once(
    engine: Engine, server: Server, clock: Clock, room: str
) -> None:
    """All processes make the same spans, and the server keeps the first of each."""
    await engine.create(room, PAUSED)
    await crowd(engine, room, 3)
    async with open_engine(server.url, clock) as other:
        for _ in range(12 * 25):
            await engine.sample(room)
            clock.step(5)
        ways = (engine, other) * 4
        await asyncio.gather(*(way.keep_history(room, clock.now_ms) for way in ways))
        assert {Step.MINUTE: 25, Step.TEN: 2} == await kept(engine, room)
        assert await past(engine, clock, room, Step.TEN) == await past(other, clock, room, Step.TEN)


async def test_an_idle_room_is_not_written(engine: Engine, clock: Clock, room: str) -> None:
    """Quiet spans are not stored but known, and outlive the tidying of an idle room."""
    await engine.create(room, dataclasses.replace(PAUSED, idle_ttl_s=3_600))
    person = await engine.join(room)
    start_ms = clock.now_ms
    await sample_for(engine, clock, room, 60)
    await engine.leave(room, person.ticket)
    await sample_for(engine, clock, room, 600)
    stored = await kept(engine, room)
    assert {Step.MINUTE: 2, Step.TEN: 1} == stored
    clock.step(5 * 3_600)
    await advance_all(engine, room)
    assert not await engine.backend.client.exists(keys.room_key(room, "series"))
    assert stored == await kept(engine, room)
    minutes = await past(engine, clock, room, Step.MINUTE)
    assert [start_ms + 60_000 * n for n in range(311)] == [point.at_ms for point in minutes]
    assert 2 * [False] + 309 * [True] == [point.idle for point in minutes]
    assert {(0, 1, 1)} == {(p.waiting, p.joined, p.left) for p in minutes[1:]}
    tens = await past(engine, clock, room, Step.TEN)
    assert [False] + 30 * [True] == [point.idle for point in tens]


async def test_a_quiet_time_ends(engine: Engine, clock: Clock, room: str) -> None:
    """The time between two visits is quiet, and none of it is missing."""
    await engine.create(room, PAUSED)
    person = await engine.join(room)
    await engine.leave(room, person.ticket)
    await sample_for(engine, clock, room, 60)
    clock.step(600)
    await engine.join(room)
    await sample_for(engine, clock, room, 60)
    minutes = await past(engine, clock, room, Step.MINUTE)
    assert [False] + 10 * [True] + [False] == [point.idle for point in minutes]


async def test_gaps_stay_gaps(engine: Engine, clock: Clock, room: str) -> None:
    """Where people waited, or came and went unseen, nothing is invented."""
    await engine.create(room, PAUSED)
    start_ms = clock.now_ms
    person = await engine.join(room)
    await sample_for(engine, clock, room, 60)
    clock.step(300)  # somebody waited, and no ticker was there
    await sample_for(engine, clock, room, 60)
    await engine.leave(room, person.ticket)
    await sample_for(engine, clock, room, 60)
    clock.step(300)  # nobody was here, but two came and went
    for _ in range(2):
        passing = await engine.join(room)
        await engine.leave(room, passing.ticket)
    clock.step(300)
    await engine.join(room)
    await sample_for(engine, clock, room, 60)
    minutes = await past(engine, clock, room, Step.MINUTE)
    starts = [(point.at_ms - start_ms) // 60_000 for point in minutes]
    assert [0, 6, 7, 18] == starts
    assert not any(point.idle for point in minutes)


async def test_a_change_of_the_policy_is_no_gap(engine: Engine, clock: Clock, room: str) -> None:
    """A change of a setting in an empty room is a point, with quiet times around it."""
    await engine.create(room, PAUSED)
    await engine.leave(room, (await engine.join(room)).ticket)
    await sample_for(engine, clock, room, 60)
    clock.step(300)
    await engine.configure(room, mode="open", capacity=7)
    await sample_for(engine, clock, room, 60)
    clock.step(120)
    minutes = await past(engine, clock, room, Step.MINUTE)
    assert 9 == len(minutes)
    assert [6, 3] == [[p.mode for p in minutes].count(mode) for mode in (Mode.PAUSED, Mode.OPEN)]
    assert [None, 7] == [minutes[5].capacity, minutes[6].capacity]


async def test_clear_keeps_it_and_drop_does_not(
    engine: Engine, server: Server, clock: Clock, room: str
) -> None:
    """Emptying a room is part of its history; a room of the same name starts again."""
    await engine.create(room, PAUSED)
    await crowd(engine, room, 2)
    await sample_for(engine, clock, room, 660)
    stored = await kept(engine, room)
    await engine.clear(room)
    assert stored == await kept(engine, room)
    await engine.sample(room)
    clock.step(60)
    async with open_engine(server.url, clock) as other:
        await other.stats(room)
        await engine.drop(room)
        assert {Step.MINUTE: 0, Step.TEN: 0} == await kept(engine, room)
        await other.keep_history(room, clock.now_ms)  # planned before the drop
        with pytest.raises(UnknownRoom):
            await engine.history(room, 0, clock.now_ms, Step.TEN)
        assert {Step.MINUTE: 0, Step.TEN: 0} == await kept(engine, room)


async def test_a_write_that_comes_after_the_drop(
    engine: Engine, clock: Clock, room: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that had read the samples before the drop leaves nothing behind."""
    await engine.create(room, PAUSED)
    await engine.join(room)
    await engine.sample(room)
    clock.step(60)
    write = engine._history._write

    async def late(*args: Any) -> None:
        await engine.drop(room)
        await write(*args)

    monkeypatch.setattr(engine._history, "_write", late)
    await engine.keep_history(room, clock.now_ms)
    assert {Step.MINUTE: 0, Step.TEN: 0} == await kept(engine, room)


async def test_after_a_total_loss(engine: Engine, clock: Clock, room: str) -> None:
    """History is lost with everything else, and starts again without inventing anything."""
    await engine.create(room, PAUSED)
    person = await engine.join(room)
    await sample_for(engine, clock, room, 660)
    client = engine.backend.client
    lost = [*keys.script_keys(room), *(keys.room_key(room, name) for name in STREAMS.values())]
    await client.delete(*lost)
    assert [] == await past(engine, clock, room, Step.TEN)
    await engine.poll(room, person.ticket)
    back_ms = clock.now_ms
    await sample_for(engine, clock, room, 60)
    minutes = await past(engine, clock, room, Step.MINUTE)
    assert back_ms <= minutes[0].at_ms + 60_000
    assert {1} == {point.waiting for point in minutes}


async def test_a_clock_that_goes_back(engine: Engine, clock: Clock, room: str) -> None:
    """No span is written twice or changed; writing resumes when the clock has caught up."""
    await engine.create(room, PAUSED)
    await engine.join(room)
    start_ms = clock.now_ms
    await sample_for(engine, clock, room, 300)
    before = await past(engine, clock, room, Step.MINUTE)
    clock.step(-150)
    await engine.join(room)
    await sample_for(engine, clock, room, 300)
    minutes = await past(engine, clock, room, Step.MINUTE)
    assert before[:5] == minutes[:5]
    times = [point.at_ms for point in minutes]
    assert sorted(set(times)) == times
    assert (start_ms, 2) == (times[0], minutes[-1].waiting)


async def test_a_clock_that_was_ahead(
    engine: Engine, server: Server, clock: Clock, room: str
) -> None:
    """Spans of the future are not shown, and do not prevent writing the present."""
    await engine.create(room, PAUSED)
    await engine.join(room)
    start_ms = clock.now_ms
    await sample_for(engine, clock, room, 60)
    clock.step(40 * DAY_S)
    await sample_for(engine, clock, room, 660)
    clock.step(-40 * DAY_S - 660)
    async with open_engine(server.url, clock) as other:
        for way in (engine, other) * 6:
            await engine.join(room)
            await sample_for(way, clock, room, 110)
        minutes = await past(engine, clock, room, Step.MINUTE)
        assert minutes == await past(other, clock, room, Step.MINUTE)
    assert [start_ms + 60_000 * n for n in range(23)] == [point.at_ms for point in minutes]
    assert [1, *(1 + -(-60 * n // 110) for n in range(1, 23))] == [p.joined for p in minutes]
    tens = await past(engine, clock, room, Step.TEN)
    assert [start_ms + 600_000 * n for n in range(3)] == [point.at_ms for point in tens]
    assert tens[1].joined == minutes[19].joined


@pytest.mark.parametrize("step", list(Step))
async def test_what_is_too_old_is_not_shown(
    engine: Engine, clock: Clock, room: str, step: Step
) -> None:
    """Minutes are known for 48 hours, tens for 30 days; older ones do not count as quiet either."""
    await engine.create(room, PAUSED)
    await engine.leave(room, (await engine.join(room)).ticket)
    await sample_for(engine, clock, room, 660)
    clock.step(step.kept_ms / 1000)
    points = await past(engine, clock, room, step)
    assert points
    assert {True} == {point.idle for point in points}
    assert clock.now_ms - step.kept_ms - step.span_ms <= points[0].at_ms
    assert len(points) <= step.kept_ms // step.span_ms + 1


async def test_streams_expire(engine: Engine, clock: Clock, room: str) -> None:
    """History that nobody adds to expires when its last span is too old to be shown."""
    await engine.create(room, PAUSED)
    await engine.join(room)
    await sample_for(engine, clock, room, 660)
    for step, name in STREAMS.items():
        left_ms = await engine.backend.client.pttl(keys.room_key(room, name))
        assert step.kept_ms - 600_000 < left_ms <= step.kept_ms


async def test_part_of_it(engine: Engine, clock: Clock, room: str) -> None:
    """Spans that begin between two moments are returned, and none for an empty time."""
    await engine.create(room, PAUSED)
    await engine.join(room)
    start_ms = clock.now_ms
    await sample_for(engine, clock, room, 600)
    for since, until, expected in (
        (2, 4, [2, 3, 4]),
        (9, 99, [9]),
        (4, 3, []),
        (-9, -1, []),
        (50, 99, []),
    ):
        span = (start_ms + 60_000 * since, start_ms + 60_000 * until)
        points = await engine.history(room, *span, Step.MINUTE)
        shown = [(point.at_ms - start_ms) // 60_000 for point in points]
        assert expected == shown


async def test_another_version(engine: Engine, clock: Clock, room: str) -> None:
    """An entry packed by a version with another format is left out: unknown, not an error."""
    await engine.create(room, PAUSED)
    await engine.join(room)
    start_ms = clock.now_ms
    for n, octets in ((0, b""), (1, b"\x02" * 114), (2, b"\x01")):
        key, entry_id = keys.room_key(room, "minutes"), f"{start_ms + 60_000 * n}-0"
        await engine.backend.client.execute_command("XADD", key, entry_id, "v", octets)
    clock.step(180)
    await sample_for(engine, clock, room, 60)
    minutes = await past(engine, clock, room, Step.MINUTE)
    assert [start_ms + 180_000] == [point.at_ms for point in minutes]


async def test_rooms(engine: Engine, clock: Clock, room: str) -> None:
    """Unknown rooms have no history, bad names are refused, a foreign key is named as such."""
    with pytest.raises(UnknownRoom):
        await past(engine, clock, room, Step.TEN)
    with pytest.raises(InvalidRoomName):
        await engine.keep_history("a b", 0)
    await engine.create(room, PAUSED)
    assert None is await engine.keep_history(room, clock.now_ms)
    assert [] == await past(engine, clock, room, Step.TEN)
    await engine.backend.client.set(keys.room_key(room, "tens"), "x")
    with pytest.raises(BrokenRoom):
        await past(engine, clock, room, Step.TEN)
