"""kick: an operator removes tickets wherever they are."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.clock import crowd
from waitroom.engine import Engine, Join, keys
from waitroom.errors import InvalidInput, SessionOver, UnknownRoom, UpgradeNeeded
from waitroom.models import Mode, Policy, State, TicketView


async def test_wherever_they_are(engine: Engine, room: str) -> None:
    """Waiting, called and inside are removed by one call, and counted."""
    await engine.create(room, Policy(capacity=2))
    inside = await engine.join(room, enter=True)
    called, waiting = await crowd(engine, room, 2)
    assert 3 == await engine.kick(room, [inside.id, called.id, waiting.id])
    stats = await engine.stats(room)
    assert (0, 0, 0, 3) == (stats.waiting, stats.called, stats.inside, stats.counters["kicked"])


async def test_stray_poll(engine: Engine, room: str) -> None:
    """Who was kicked is not back in line by a stray poll; an explicit join starts at the end."""
    await engine.create(room, Policy(mode=Mode.PAUSED))
    first, _ = await crowd(engine, room, 2)
    await engine.kick(room, [first.id])
    assert State.GONE is (await engine.poll(room, first.ticket)).state
    assert 2 == (await engine.join(room, first.ticket)).position


async def test_session_is_revoked(engine: Engine, room: str) -> None:
    """A kicked session cannot be renewed, and its id is noted for gates."""
    await engine.create(room, Policy(renewable=True))
    person = await engine.join(room, enter=True)
    await engine.kick(room, [person.id])
    with pytest.raises(SessionOver):
        await engine.renew(room, person.ticket)
    sids = await engine.backend.client.zrange(keys.room_key(room, "done"), 0, -1)
    assert [str(person.sid).encode()] == sids


async def test_next_is_called(engine: Engine, room: str) -> None:
    """A place freed by a kick is given away by the same call."""
    await engine.create(room, Policy(capacity=1))
    first, second = await crowd(engine, room, 2)
    await engine.kick(room, [first.id])
    assert State.CALLED is (await engine.poll(room, second.ticket)).state


async def test_who_is_not_there(engine: Engine, room: str) -> None:
    """Unknown ids and ids named twice count once or not at all."""
    await engine.create(room, Policy(mode=Mode.PAUSED))
    person = await engine.join(room)
    assert 1 == await engine.kick(room, [person.id, person.id, "A" * 16])


async def test_nobody(engine: Engine, room: str) -> None:
    """An empty list removes nobody."""
    await engine.create(room, Policy(mode=Mode.PAUSED))
    assert 0 == await engine.kick(room, [])


async def test_repeat(engine: Engine, room: str) -> None:
    """The same `op_id` answers the first number, and leaves alone who joined again."""
    await engine.create(room, Policy(mode=Mode.PAUSED))
    person = await engine.join(room)
    assert 1 == await engine.kick(room, [person.id], op_id="one")
    await engine.join(room, person.ticket)
    assert 1 == await engine.kick(room, [person.id], op_id="one")
    assert 1 == (await engine.stats(room)).waiting


async def test_more_than_a_script_may_move(engine: Engine, room: str) -> None:
    """A long list is worked off in steps."""
    await engine.create(room, Policy(mode=Mode.PAUSED))
    views: list[TicketView] = []
    for _ in range(2):
        answers = await engine.join_many(room, [Join()] * 300)
        views += [answer for answer in answers if isinstance(answer, TicketView)]
    assert 600 == await engine.kick(room, [person.id for person in views])


@pytest.mark.parametrize("ticket_id", ["", "x" * 65, "대기", b"x", None, 7], ids=repr)
async def test_bad_ids(engine: Engine, room: str, ticket_id: Any) -> None:
    """One bad id refuses the whole call: nobody is removed."""
    await engine.create(room, Policy(mode=Mode.PAUSED))
    person = await engine.join(room)
    with pytest.raises(InvalidInput):
        await engine.kick(room, [person.id, ticket_id])
    assert 1 == (await engine.stats(room)).waiting


async def test_unknown_room(engine: Engine, room: str) -> None:
    """Nobody can be kicked out of a room that is not there."""
    with pytest.raises(UnknownRoom):
        await engine.kick(room, ["A" * 16])


async def test_event(engine: Engine, room: str) -> None:
    """A kick is an end with its reason."""
    await engine.create(room, Policy(mode=Mode.PAUSED))
    person = await engine.join(room)
    await engine.kick(room, [person.id])
    ((_, fields),) = await engine.backend.client.xrange(keys.room_key(room, "events"))
    assert (b"ended", b"kicked") == (fields[b"kind"], fields[b"reason"])


async def test_newer_schema(engine: Engine, room: str) -> None:
    """Nobody is kicked out of a room that a newer Waitroom wrote."""
    await engine.create(room, Policy(mode=Mode.PAUSED))
    await engine.backend.client.hset(keys.room_key(room, "meta"), "schema", 2)
    with pytest.raises(UpgradeNeeded):
        await engine.kick(room, ["A" * 16])


async def test_one_string_is_no_list(engine: Engine, room: str) -> None:
    """A single id given as a string is refused, not taken apart into letters."""
    await engine.create(room, Policy())
    with pytest.raises(InvalidInput):
        await engine.kick(room, "abcdefgh")
