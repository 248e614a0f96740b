"""list: a page of tickets in one state, for operators."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.clock import Clock, crowd
from waitroom.engine import Engine, keys
from waitroom.errors import InvalidInput, InvalidRoomName, UnknownRoom
from waitroom.models import Listed, Mode, Policy, State


async def test_waiting(engine: Engine, clock: Clock, room: str) -> None:
    """Waiting people are listed in order, with their place and when they were last seen."""
    await engine.create(room, Policy(mode=Mode.PAUSED))
    first = await engine.join(room)
    clock.step(2)
    await engine.poll(room, first.ticket)
    (line,) = (await engine.list(room)).tickets
    place = clock.now_us - 2_000_000
    assert Listed(first.id, State.WAITING, place, clock.now_ms) == line


async def test_called(engine: Engine, clock: Clock, room: str) -> None:
    """Called people are listed with the end of their turn."""
    await engine.create(room, Policy(enter_within_s=30))
    person = await engine.join(room)
    (line,) = (await engine.list(room, State.CALLED)).tickets
    assert Listed(person.id, State.CALLED, until_ms=clock.now_ms + 30_000) == line


async def test_inside(engine: Engine, clock: Clock, room: str) -> None:
    """People inside are listed with the end and the id of their session."""
    await engine.create(room, Policy(session_s=60))
    person = await engine.join(room, enter=True)
    (line,) = (await engine.list(room, State.INSIDE)).tickets
    until = clock.now_ms + 60_000
    assert Listed(person.id, State.INSIDE, until_ms=until, sid=person.sid) == line


async def test_nobody(engine: Engine, room: str) -> None:
    """An empty room has one empty page."""
    await engine.create(room, Policy())
    page = await engine.list(room)
    assert ((), None) == (page.tickets, page.after)


@pytest.mark.parametrize("state", [State.WAITING, State.CALLED, State.INSIDE])
async def test_pages(engine: Engine, room: str, state: State) -> None:
    """Page by page everybody is listed once, in every state."""
    await engine.create(room, Policy(mode=Mode.PAUSED if state is State.WAITING else Mode.OPEN))
    people = [await engine.join(room, enter=state is State.INSIDE) for _ in range(5)]
    ids: list[str] = []
    after = None
    for _ in range(3):
        page = await engine.list(room, state, after=after, limit=2)
        ids += [ticket.id for ticket in page.tickets]
        after = page.after
    assert None is after
    assert sorted(person.id for person in people) == sorted(ids)


async def test_by_arrival(engine: Engine, clock: Clock, room: str) -> None:
    """Waiting people can be selected by arrival time, both ends included."""
    await engine.create(room, Policy(mode=Mode.PAUSED))
    people = []
    for _ in range(4):
        people.append(await engine.join(room))
        clock.step(1)
    first_ms = clock.now_ms - 4_000
    page = await engine.list(room, since_ms=first_ms + 1_000, until_ms=first_ms + 2_000)
    assert [person.id for person in people[1:3]] == [ticket.id for ticket in page.tickets]


async def test_by_arrival_in_pages(engine: Engine, clock: Clock, room: str) -> None:
    """The range of arrival times applies on every page."""
    await engine.create(room, Policy(mode=Mode.PAUSED))
    for _ in range(4):
        await engine.join(room)
        clock.step(1)
    until_ms = clock.now_ms - 2_000
    page = await engine.list(room, limit=2, until_ms=until_ms)
    rest = await engine.list(room, limit=2, until_ms=until_ms, after=page.after)
    assert (2, 1, None) == (len(page.tickets), len(rest.tickets), rest.after)


async def test_changes_nothing(engine: Engine, room: str) -> None:
    """Listing is no sign of life and changes nothing: the room's meta stays the same."""
    await engine.create(room, Policy(mode=Mode.PAUSED))
    await crowd(engine, room, 2)
    meta = keys.room_key(room, "meta")
    before = await engine.backend.client.hgetall(meta)
    await engine.list(room)
    assert before == await engine.backend.client.hgetall(meta)


@pytest.mark.parametrize("limit", [0, -1, 501, True, 1.5, "9", None])
async def test_bad_limits(engine: Engine, room: str, limit: Any) -> None:
    """A page has 1 to 500 lines."""
    await engine.create(room, Policy())
    with pytest.raises(InvalidInput) as caught:
        await engine.list(room, limit=limit)
    assert "limit" == caught.value.field


@pytest.mark.parametrize("after", ["x", "-1", "1.5", "١٢", "²", "9" * 400])
@pytest.mark.parametrize("state", [State.WAITING, State.CALLED])
async def test_bad_cursors(engine: Engine, room: str, state: State, after: str) -> None:
    """Anything but a cursor of an earlier page is refused before the server is asked."""
    await engine.create(room, Policy())
    with pytest.raises(InvalidInput) as caught:
        await engine.list(room, state, after=after)
    assert "after" == caught.value.field


async def test_gone_is_no_list(engine: Engine, room: str) -> None:
    """People who are gone are not kept, so they cannot be listed."""
    await engine.create(room, Policy())
    with pytest.raises(InvalidInput) as caught:
        await engine.list(room, State.GONE)
    assert "state" == caught.value.field


async def test_rooms(engine: Engine, room: str) -> None:
    """Neither an unknown room nor a bad name can be listed."""
    with pytest.raises(UnknownRoom):
        await engine.list(room)
    with pytest.raises(InvalidRoomName):
        await engine.list("")
