"""find: everybody with a short code, in any state, without revealing the order of a draw."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.clock import Clock, crowd, open_engine
from tests.support.servers import start_server
from waitroom.engine import Engine, keys
from waitroom.errors import BackendUnavailable, InvalidInput, UnknownRoom
from waitroom.models import BeforeOpen, Mode, Policy, State
from waitroom.moments import from_ms
from waitroom.short_codes import code_of

pytestmark = pytest.mark.every_kind


async def test_every_state(engine: Engine, room: str) -> None:
    """Each person is found by their code where they are, as `list` shows them there."""
    await engine.create(room, Policy(capacity=2))
    inside = await engine.join(room, enter=True)
    called, waiting = await engine.join(room), await engine.join(room)
    for person, state in (
        (inside, State.INSIDE),
        (called, State.CALLED),
        (waiting, State.WAITING),
    ):
        listed = (await engine.list(room, state)).tickets
        page = await engine.find(room, code_of(person.id).lower())
        assert (listed, None, True) == (page.tickets, page.after, page.ordered)


async def test_a_large_room(engine: Engine, room: str) -> None:
    """All who share a code are found, even if a scan takes many steps."""
    await engine.create(room, Policy(mode=Mode.PAUSED))
    people = await crowd(engine, room, 1_500)
    twin = people[700].id[:5] + "twin_twin_t"
    await engine.backend.client.zadd(keys.room_key(room, "waiting"), {twin: 10**15})
    page = await engine.find(room, code_of(twin))
    assert {people[700].id, twin} == {ticket.id for ticket in page.tickets}


async def test_a_long_line(engine: Engine, room: str) -> None:
    """A line of several steps is searched completely."""
    await engine.create(room, Policy(mode=Mode.PAUSED))
    begin_us = 1_800_000_000_000_000
    line = {f"{number:05d}aaaaaaaaaaa": begin_us + 8 * number for number in range(1, 20_001)}
    await engine.backend.client.zadd(keys.room_key(room, "waiting"), line)
    for number in (1, 8_000, 8_001, 20_000):
        matches = await engine.ids_beginning([room], f"{number:05d}")
        assert {room: [f"{number:05d}aaaaaaaaaaa"]} == {
            name: list(ids) for name, ids in matches.by_room.items()
        }
    assert 50 == (await engine.ids_beginning([room], "0")).count


async def test_a_server_that_is_gone(tmp_path: Path, clock: Clock, room: str) -> None:
    """A search that fails raises the same error as every other call."""
    with start_server("valkey", tmp_path) as server:
        async with open_engine(server.url, clock) as engine:
            await engine.create(room, Policy())
            server.stop()
            with pytest.raises(BackendUnavailable):
                await engine.ids_in_events({room: ["aaaaa"]})


async def test_a_draw_stays_hidden(engine: Engine, clock: Clock, room: str) -> None:
    """Before the opening of a draw nobody's place is told."""
    opens_at = from_ms(clock.now_ms + 3_600_000)
    await engine.create(room, Policy(opens_at=opens_at, before_open=BeforeOpen.DRAW))
    people = await crowd(engine, room, 3)
    page = await engine.find(room, code_of(people[1].id))
    assert (people[1].id, None, False) == (page.tickets[0].id, page.tickets[0].place, page.ordered)


async def test_nobody(engine: Engine, room: str) -> None:
    """A code that nobody has finds nobody; an invalid code or room is refused."""
    with pytest.raises(UnknownRoom):
        await engine.find(room, "K7Q-4M2")
    await engine.create(room, Policy())
    assert () == (await engine.find(room, "K7Q-4M2")).tickets
    with pytest.raises(InvalidInput):
        await engine.find(room, "*")
