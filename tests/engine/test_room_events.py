"""What a room reports about itself: that it changed, opened and ended, and who had which place."""

from __future__ import annotations

import json

import pytest

from tests.support.clock import Clock, crowd
from waitroom.engine import Engine, keys
from waitroom.models import Mode, Policy
from waitroom.moments import from_ms

SOON_S = 60


async def raw(engine: Engine, room: str) -> list[dict[str, str]]:
    """Return all events as they are stored."""
    entries = await engine.backend.client.xrange(keys.room_key(room, "events"))
    return [
        {name.decode(): value.decode() for name, value in entry.items()} for _, entry in entries
    ]


async def kinds(engine: Engine, room: str) -> list[str]:
    """Return what happened, in order."""
    return [event.kind for event in (await engine.events(room, "0-0")).events]


async def test_a_change_tells_what_it_changed(engine: Engine, room: str) -> None:
    """The event has the new version, and the old and new value of each field that differs."""
    await engine.create(room, Policy(capacity=5))
    assert [] == await raw(engine, room)
    await engine.configure(room, capacity=7, message="Soon")
    (event,) = await raw(engine, room)
    assert ("room.changed", "2") == (event["kind"], event["version"])
    assert ["capacity", "5", "7", "message", "", "Soon"] == json.loads(event["changed"])
    (read,) = (await engine.events(room, "0-0")).events
    assert (2, (), ()) == (read.version, read.ids, read.places)


@pytest.mark.parametrize(("field", "kind"), [("opens_at", "opened"), ("ends_at", "ended")])
async def test_a_moment_is_told_once(
    engine: Engine, clock: Clock, room: str, field: str, kind: str
) -> None:
    """The opening and the end are reported once, even in an empty room, and on time."""
    at = from_ms(clock.now_ms + SOON_S * 1000)
    await engine.create(room, Policy(**{field: at}))  # type: ignore[arg-type]
    assert clock.now_ms + SOON_S * 1000 == (await engine.advance(room)).due_ms
    assert [] == await kinds(engine, room)
    clock.step(SOON_S)
    for _ in range(3):
        await engine.advance(room)
        clock.step(1)
    (event,) = await raw(engine, room)
    assert f"room.{kind}" == event["kind"]
    assert str(clock.now_ms - 3000) == event["moment"]
    clock.step(-30)
    await engine.advance(room)
    assert 1 == len(await raw(engine, room))


@pytest.mark.parametrize("field", ["opens_at", "ends_at"])
async def test_a_moment_before_the_room_is_not_told(
    engine: Engine, clock: Clock, room: str, field: str
) -> None:
    """A room created after its opening or end reports neither."""
    at = from_ms(clock.now_ms - 1000)
    await engine.create(room, Policy(**{field: at}))  # type: ignore[arg-type]
    await engine.advance(room)
    assert [] == await kinds(engine, room)


async def test_an_idle_rooms_moment_stays(engine: Engine, clock: Clock, room: str) -> None:
    """A room that has long been idle keeps its opening event as long as any other."""
    opens_at = from_ms(clock.now_ms + 7_200_000)
    await engine.create(room, Policy(opens_at=opens_at, idle_ttl_s=600))
    clock.step(7_200)
    assert clock.now_ms + 600_000 == (await engine.advance(room)).due_ms
    assert ["room.opened"] == await kinds(engine, room)
    clock.step(600)
    await engine.advance(room)
    assert [] == await kinds(engine, room)


async def test_polls_tell_nothing(engine: Engine, clock: Clock, room: str) -> None:
    """A poll that is the first to see the opening leaves it to the next step to report it."""
    await engine.create(room, Policy(opens_at=from_ms(clock.now_ms + 1000), capacity=1))
    (person,) = await crowd(engine, room, 1)
    clock.step(1)
    await engine.poll(room, person.ticket)
    assert [] == await kinds(engine, room)
    await engine.advance(room)
    assert ["called", "room.opened"] == await kinds(engine, room)


async def test_places_of_those_called(engine: Engine, room: str) -> None:
    """Whoever is called, in whichever way, is reported with the place that they had."""
    await engine.create(room, Policy(capacity=1))
    tickets = await crowd(engine, room, 4)
    places = [engine.ring.read(room, each.ticket).place for each in tickets]
    ids = [each.id for each in tickets]
    await engine.call(room, ids[3], force=True)
    await engine.admit(room, 2, force=True)
    called = [
        (event.ids, event.places)
        for event in (await engine.events(room, "0-0")).events
        if event.kind == "called"
    ]
    assert [
        ((ids[0],), (places[0],)),
        ((ids[3],), (places[3],)),
        (tuple(ids[1:3]), tuple(places[1:3])),
    ] == called


async def test_events_are_numbered(engine: Engine, clock: Clock, room: str) -> None:
    """Numbers continue through tidying, a clear, and a room that is recreated after a drop."""
    await engine.create(room, Policy(idle_ttl_s=60))
    await engine.configure(room, mode=Mode.PAUSED)
    clock.step(86_400)
    await engine.advance(room)
    assert [] == await raw(engine, room)
    await engine.configure(room, mode=Mode.OPEN)
    await engine.clear(room)
    assert ["2", "3"] == [event["n"] for event in await raw(engine, room)]
    await engine.drop(room)
    await engine.create(room, Policy())
    await engine.configure(room, mode=Mode.PAUSED)
    assert ["4"] == [event["n"] for event in await raw(engine, room)]
