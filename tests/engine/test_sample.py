"""sample: a room's numbers over time, recorded once whoever asks; reading series and events."""

from __future__ import annotations

import asyncio
import dataclasses
from typing import Any

import pytest

from tests.support.clock import Clock, crowd, open_engine
from tests.support.servers import Server
from waitroom.engine import Engine, keys
from waitroom.errors import BrokenRoom, InvalidInput, InvalidRoomName, UnknownRoom
from waitroom.models import Event, Mode, Policy, Reason, Sample

NUMBERS = [spec.name for spec in dataclasses.fields(Sample) if spec.default is dataclasses.MISSING]
PAUSED = Policy(mode=Mode.PAUSED, presence_s=None)


async def meta(engine: Engine, room: str) -> Any:
    """Return the fields of `meta` that a change of the room would change."""
    return await engine.backend.client.hmget(keys.room_key(room, "meta"), "rev", "active_at")


async def test_numbers(engine: Engine, clock: Clock, room: str) -> None:
    """A sample has who is where, by deadlines, and the counters so far."""
    await engine.create(room, Policy(capacity=3, session_s=60, enter_within_s=None))
    await engine.join(room, enter=True)
    clock.step(30)
    person = await engine.join(room, enter=True)
    people = await crowd(engine, room, 4)
    await engine.leave(room, people[-1].ticket)
    await engine.finish(room, person.ticket)
    clock.step(30)
    own = {"waited_s": 0, "mode": Mode.OPEN, "capacity": 3}
    zeros: dict[str, Any] = dict.fromkeys(NUMBERS, 0) | own
    numbers = {"waiting": 1, "called": 2, "joined": 6, "called_total": 4, "entered": 2}
    expected = Sample(**zeros | numbers | {"at_ms": clock.now_ms, "finished": 1, "left": 1})
    assert expected == await engine.sample(room)
    assert (expected,) == await engine.series(room)


async def test_once_in_five_seconds(engine: Engine, clock: Clock, room: str) -> None:
    """The next sample is due 5 s after the last one, to the millisecond."""
    await engine.create(room, PAUSED)
    await engine.join(room)
    assert await engine.sample(room)
    clock.step(4.999)
    assert None is await engine.sample(room)
    clock.step(0.001)
    assert await engine.sample(room)
    assert 2 == len(await engine.series(room))


async def test_many_at_once(engine: Engine, server: Server, clock: Clock, room: str) -> None:
    """When several processes ask at once, one writes."""
    await engine.create(room, PAUSED)
    await engine.join(room)
    async with open_engine(server.url, clock) as other:
        samples = await asyncio.gather(*(process.sample(room) for process in (engine, other) * 20))
        assert 1 == len([sample for sample in samples if sample])
        assert await engine.series(room) == await other.series(room)


async def test_it_is_no_change(engine: Engine, room: str) -> None:
    """A sample does not count as a change of the room, written or not."""
    await engine.create(room, PAUSED)
    await engine.join(room)
    before = await meta(engine, room)
    await engine.sample(room)
    await engine.sample(room)
    assert before == await meta(engine, room)


async def test_it_is_capped(engine: Engine, clock: Clock, room: str) -> None:
    """Two hours of samples are kept, and little more."""
    await engine.create(room, PAUSED)
    await engine.join(room)
    for _ in range(1_700):
        assert await engine.sample(room)
        clock.step(5)
    assert 1_440 <= await engine.backend.client.xlen(keys.room_key(room, "series")) < 1_600
    assert 1_440 == len(await engine.series(room, limit=1_440))


async def test_empty_rooms(engine: Engine, clock: Clock, room: str) -> None:
    """A room that nobody ever joined is not sampled; one that was left is, once more."""
    await engine.create(room, PAUSED)
    assert None is await engine.sample(room)
    person = await engine.join(room)
    assert await engine.sample(room)
    clock.step(1)
    await engine.leave(room, person.ticket)
    clock.step(4)
    last = await engine.sample(room)
    assert last
    assert (0, 1) == (last.waiting, last.left)
    for _ in range(3):
        clock.step(60)
        assert None is await engine.sample(room)


async def test_tidied_rooms_stay_tidy(engine: Engine, clock: Clock, room: str) -> None:
    """When an empty room's leftovers go, its samples go too, and no new one is made."""
    await engine.create(room, Policy(mode=Mode.PAUSED, idle_ttl_s=700))
    person = await engine.join(room)
    await engine.leave(room, person.ticket)
    clock.step(5)
    assert await engine.sample(room)
    clock.step(700)
    await engine.advance(room)
    assert () == await engine.series(room)
    assert None is await engine.sample(room)
    assert None is (await engine.advance(room)).due_ms


async def test_a_clock_that_goes_back(engine: Engine, clock: Clock, room: str) -> None:
    """Samples continue in room time, in order, each with the clock's time."""
    await engine.create(room, PAUSED)
    await engine.join(room)
    times = []
    for step in (0, 5, -3_600, 5, 5):
        clock.step(step)
        if await engine.sample(room):
            times.append(clock.now_ms)
    assert 4 == len(times)
    assert times == [sample.at_ms for sample in await engine.series(room)]


async def test_after_a_loss(engine: Engine, room: str) -> None:
    """Samples that outlive the rest of the room are followed by new ones."""
    await engine.create(room, PAUSED)
    person = await engine.join(room)
    assert await engine.sample(room)
    lost = [key for key in keys.script_keys(room) if not key.endswith(":series")]
    await engine.backend.client.delete(*lost)
    await engine.poll(room, person.ticket)
    again = await engine.sample(room)
    assert again
    assert (1, 0) == (again.waiting, again.joined)
    assert 2 == len(await engine.series(room))


async def test_wrong_type(engine: Engine, room: str) -> None:
    """A key that somebody else wrote is named, before anything is written."""
    await engine.create(room, PAUSED)
    await engine.join(room)
    await engine.backend.client.set(keys.room_key(room, "series"), "x")
    with pytest.raises(BrokenRoom, match="`series`"):
        await engine.sample(room)
    with pytest.raises(BrokenRoom):
        await engine.series(room)


async def test_rooms(engine: Engine, server: Server, clock: Clock, room: str) -> None:
    """Unknown and dropped rooms have no samples and no events, and bad names are refused."""
    for ask in (engine.sample, engine.series, engine.events):
        with pytest.raises(UnknownRoom):
            await ask(room)
        with pytest.raises(InvalidRoomName):
            await ask("a b")
    await engine.create(room, PAUSED)
    async with open_engine(server.url, clock) as other:
        assert () == await other.series(room)
        await engine.drop(room)
        for ask in (other.series, other.events):
            with pytest.raises(UnknownRoom):
                await ask(room)


async def test_a_lost_room_is_still_one(engine: Engine, room: str) -> None:
    """A process that can restore a room reads nothing from it, without an error."""
    await engine.create(room, PAUSED)
    await engine.backend.client.delete(*keys.script_keys(room))
    assert () == await engine.series(room)
    assert ("0-0", ()) == dataclasses.astuple(await engine.events(room))
    assert "7-1" == (await engine.events(room, "7-1")).cursor


# Series ---------------------------------------------------------------------------------------


async def test_series(engine: Engine, clock: Clock, room: str) -> None:
    """The newest are returned, oldest first, and none from before a given moment."""
    await engine.create(room, PAUSED)
    await engine.join(room)
    times = []
    for _ in range(5):
        assert await engine.sample(room)
        times.append(clock.now_ms)
        clock.step(5)
    assert times == [sample.at_ms for sample in await engine.series(room)]
    assert times[3:] == [sample.at_ms for sample in await engine.series(room, limit=2)]
    for since, expected in ((times[2], times[2:]), (times[2] + 1, times[3:]), (-5, times)):
        assert expected == [sample.at_ms for sample in await engine.series(room, since_ms=since)]
    assert () == await engine.series(room, since_ms=10**30)


@pytest.mark.parametrize("limit", [0, -1, 2_001, True, "5"])
async def test_bad_limits(engine: Engine, room: str, limit: Any) -> None:
    """A page has a size."""
    with pytest.raises(InvalidInput, match="limit"):
        await engine.series(room, limit=limit)


# Events ---------------------------------------------------------------------------------------


async def test_events(engine: Engine, clock: Clock, room: str) -> None:
    """After a cursor come the later events, in order, each with whom it is about, and why."""
    await engine.create(room, Policy(capacity=1))
    start = await engine.events(room)
    assert ("0-0", ()) == (start.cursor, start.events)
    first, second, third = [await engine.join(room) for _ in range(3)]
    begin = await engine.events(room)
    assert () == begin.events
    await engine.enter(room, first.ticket)
    await engine.finish(room, first.ticket)
    await engine.kick(room, [third.id])
    page = await engine.events(room, begin.cursor)
    events = [(event.kind, event.ids, event.reason) for event in page.events]
    assert events == [
        ("entered", (first.id,), None),
        ("ended", (first.id,), Reason.FINISHED),
        ("called", (second.id,), None),
        ("ended", (third.id,), Reason.KICKED),
    ]
    assert {clock.now_us} == {event.at_us for event in page.events}
    assert (page.cursor, ()) == dataclasses.astuple(await engine.events(room, page.cursor))
    assert page.cursor == (await engine.events(room)).cursor
    assert 5 == len((await engine.events(room, start.cursor)).events)


async def test_pages_of_events(engine: Engine, room: str) -> None:
    """Page by page nothing is left out or repeated."""
    await engine.create(room, Policy())
    ids = [(await engine.join(room)).id for _ in range(5)]
    cursor = "0-0"
    events: list[Event] = []
    for size in (2, 2, 1, 0):
        page = await engine.events(room, cursor, 2)
        assert size == len(page.events)
        cursor, events = page.cursor, [*events, *page.events]
    assert ids == [event.ids[0] for event in events]


async def test_events_that_begin_anew(engine: Engine, room: str) -> None:
    """A cursor from before a loss, from a clock that was ahead, does not hide new events."""
    await engine.create(room, Policy())
    person = await engine.join(room)
    page = await engine.events(room, "99999999999999-0")
    assert [(person.id,)] == [event.ids for event in page.events]
    assert page.cursor == (await engine.events(room)).cursor


@pytest.mark.parametrize("cursor", ["", "x", "5", "-", "+", "$", "1-1-1", "1-x", f"{2**64}-0", 5])
async def test_bad_cursors(engine: Engine, room: str, cursor: Any) -> None:
    """An invalid cursor is refused before the server is asked."""
    with pytest.raises(InvalidInput, match="after"):
        await engine.events(room, cursor)


async def test_reasons_of_a_newer_version(engine: Engine, room: str) -> None:
    """An event with an unknown kind or reason is passed on without it."""
    await engine.create(room, Policy())
    fields = {"kind": "promoted", "at": 5, "ids": "", "reason": "merit"}
    await engine.backend.client.xadd(keys.room_key(room, "events"), fields)
    (event,) = (await engine.events(room, "0-0")).events
    assert ("promoted", 5, (), None) == (event.kind, event.at_us, event.ids, event.reason)
