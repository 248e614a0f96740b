"""kick: an operator removes tickets wherever they are."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.clock import Clock, crowd, polled_rank
from waitroom.engine import Engine, Join, keys
from waitroom.errors import (
    Banned,
    InvalidInput,
    SessionOver,
    TurnPassed,
    UnknownRoom,
)
from waitroom.models import Mode, Policy, Reason, State, TicketView


async def test_wherever_they_are(engine: Engine, room: str) -> None:
    """One call removes waiting, called and inside people, and counts them."""
    await engine.create(room, Policy(capacity=2))
    inside = await engine.join(room, enter=True)
    called, waiting = await crowd(engine, room, 2)
    assert 3 == await engine.kick(room, [inside.id, called.id, waiting.id])
    stats = await engine.stats(room)
    assert (0, 0, 0, 3) == (stats.waiting, stats.called, stats.inside, stats.counters["kicked"])


async def test_stray_poll(engine: Engine, room: str) -> None:
    """A stray poll does not restore a kicked person; an explicit join starts at the end."""
    await engine.create(room, Policy(mode=Mode.PAUSED))
    first, _ = await crowd(engine, room, 2)
    await engine.kick(room, [first.id])
    assert State.GONE is (await engine.poll(room, first.ticket)).state
    assert 2 == (await engine.join(room, first.ticket)).position


async def swept(engine: Engine, room: str, clock: Clock) -> tuple[TicketView, TicketView]:
    """Return somebody who was dropped for silence, and somebody who waits behind them."""
    await engine.create(room, Policy(mode=Mode.PAUSED, presence_s=10))
    absent, present = await crowd(engine, room, 2)
    for _ in range(13):
        clock.step(1)
        await engine.poll(room, present.ticket)
        await engine.advance(room)
    assert [present.id] == [line.id for line in (await engine.list(room)).tickets]
    return absent, present


@pytest.mark.attack
async def test_who_is_absent(engine: Engine, room: str, clock: Clock) -> None:
    """Anybody who does not poll is kicked all the same: their ticket restores no place."""
    absent, _ = await swept(engine, room, clock)
    assert 0 == await engine.kick(room, [absent.id])
    view = await engine.poll(room, absent.ticket)
    assert (State.GONE, Reason.KICKED) == (view.state, view.reason)
    with pytest.raises(TurnPassed) as refused:
        await engine.enter(room, absent.ticket)
    assert Reason.KICKED == refused.value.reason
    again = await engine.join(room, absent.ticket)
    assert (State.WAITING, 2, True) == (again.state, again.position, again.new)
    await engine.leave(room, again.ticket)
    for ticket in (absent.ticket, again.ticket):
        assert Reason.LEFT is (await engine.poll(room, ticket)).reason


@pytest.mark.attack
async def test_who_was_forgotten(engine: Engine, room: str) -> None:
    """After a loss nobody is in the room yet; a poll does not restore anybody kicked then."""
    await engine.create(room, Policy(mode=Mode.PAUSED, recover_s=5))
    first, second = await crowd(engine, room, 2)
    await engine.backend.client.delete(*(keys.room_key(room, name) for name in keys.ROOM_KEYS))
    await engine.kick(room, [first.id])
    assert Reason.KICKED is (await engine.poll(room, first.ticket)).reason
    assert 1 == await polled_rank(engine, room, second.ticket)


@pytest.mark.attack
async def test_a_lost_session_is_not_vouched_for(engine: Engine, room: str, clock: Clock) -> None:
    """A session that was lost and then kicked is over for every gate."""
    await engine.create(room, Policy(renewable=True, recover_s=60))
    person = await engine.join(room, enter=True)
    await engine.backend.client.delete(*(keys.room_key(room, name) for name in keys.ROOM_KEYS))
    await engine.kick(room, [person.id])
    assert await engine.has_ended(room, person.id, person.sid or 0)
    with pytest.raises(SessionOver):
        await engine.renew_session(
            room, person.id, person.sid or 0, vouched_until_ms=clock.now_ms + 9_000
        )
    assert 0 == (await engine.stats(room)).inside


@pytest.mark.parametrize("state", ["waiting", "called", "inside"])
async def test_they_are_told(engine: Engine, room: str, clock: Clock, state: str) -> None:
    """Wherever they were, people are told that they were kicked, for a day."""
    await engine.create(room, Policy(mode=Mode.MANUAL, ticket_ttl_s=None, idle_ttl_s=None))
    person = await engine.join(room)
    if state != "waiting":
        await engine.admit(room, 1)
    if state == "inside":
        await engine.enter(room, person.ticket)
    await engine.kick(room, [person.id])
    clock.step(86_399)
    assert Reason.KICKED is (await engine.poll(room, person.ticket)).reason
    with pytest.raises(SessionOver) as over:
        await engine.finish(room, person.ticket)
    assert Reason.KICKED == over.value.reason
    clock.step(2)
    await engine.advance(room)
    later = Reason.LEFT if state == "waiting" else Reason.PASSED
    assert later is (await engine.poll(room, person.ticket)).reason
    assert 0 == await engine.backend.client.exists(keys.room_key(room, "kicked"))


@pytest.mark.attack
async def test_banned(engine: Engine, room: str, clock: Clock) -> None:
    """A banned visitor or ticket cannot join again, whatever happens, until the ban is lifted."""
    await engine.create(room, Policy(mode=Mode.PAUSED, idle_ttl_s=5))
    known = await engine.join(room, visitor="ann")
    stranger = await engine.join(room)
    assert 2 == await engine.kick(room, [known.id, stranger.id], ban=True)
    for _ in range(3):
        with pytest.raises(Banned):
            await engine.join(room, visitor="ann")
        with pytest.raises(Banned):
            await engine.join(room, stranger.ticket, enter=True)
        assert State.GONE is (await engine.poll(room, stranger.ticket)).state
        clock.step(700)  # the room is tidied and cleared, and the ban holds
        await engine.advance(room)
        await engine.clear(room)
    await engine.kick(room, [known.id])
    assert State.WAITING is (await engine.join(room, visitor="ann")).state
    assert State.WAITING is (await engine.join(room)).state  # a stranger is somebody else


async def test_notes_are_bounded(engine: Engine, room: str) -> None:
    """Only so many kicked people are told so; bans are never forgotten, and places stay gone."""
    await engine.create(room, Policy(mode=Mode.PAUSED))
    first, second, third = await crowd(engine, room, 3)
    await engine.kick(room, [first.id], ban=True)
    await engine.kick(room, [second.id])
    kicked = keys.room_key(room, "kicked")
    others = {f"x{n}": 9e14 for n in range(100_000)}
    await engine.backend.client.zadd(kicked, others)
    await engine.kick(room, [third.id])
    assert 100_001 == await engine.backend.client.zcard(kicked)
    assert Reason.KICKED is (await engine.poll(room, first.ticket)).reason
    for person in (second, third):
        assert State.GONE is (await engine.poll(room, person.ticket)).state
    with pytest.raises(Banned):
        await engine.join(room, first.ticket)


async def test_session_is_revoked(engine: Engine, room: str) -> None:
    """A kicked session cannot be renewed, and its id is recorded for gates."""
    await engine.create(room, Policy(renewable=True))
    person = await engine.join(room, enter=True)
    await engine.kick(room, [person.id])
    with pytest.raises(SessionOver):
        await engine.renew(room, person.ticket)
    sids = await engine.backend.client.zrange(keys.room_key(room, "done"), 0, -1)
    assert [str(person.sid).encode()] == sids


async def test_next_is_called(engine: Engine, room: str) -> None:
    """A place freed by a kick is reassigned in the same call."""
    await engine.create(room, Policy(capacity=1))
    first, second = await crowd(engine, room, 2)
    await engine.kick(room, [first.id])
    assert State.CALLED is (await engine.poll(room, second.ticket)).state


async def test_who_is_not_there(engine: Engine, room: str) -> None:
    """An unknown id does not count, and an id named twice counts once."""
    await engine.create(room, Policy(mode=Mode.PAUSED))
    person = await engine.join(room)
    assert 1 == await engine.kick(room, [person.id, person.id, "A" * 16])


async def test_nobody(engine: Engine, room: str) -> None:
    """An empty list removes nobody."""
    await engine.create(room, Policy(mode=Mode.PAUSED))
    assert 0 == await engine.kick(room, [])


async def test_repeat(engine: Engine, room: str) -> None:
    """The same `op_id` returns the first number, and leaves people who joined again alone."""
    await engine.create(room, Policy(mode=Mode.PAUSED))
    person = await engine.join(room)
    assert 1 == await engine.kick(room, [person.id], op_id="one")
    await engine.join(room, person.ticket)
    assert 1 == await engine.kick(room, [person.id], op_id="one")
    assert 1 == (await engine.stats(room)).waiting


async def test_more_than_a_script_may_move(engine: Engine, room: str) -> None:
    """A long list is processed in steps."""
    await engine.create(room, Policy(mode=Mode.PAUSED))
    views: list[TicketView] = []
    for _ in range(2):
        answers = await engine.join_many(room, [Join()] * 300)
        views += [answer for answer in answers if isinstance(answer, TicketView)]
    assert 600 == await engine.kick(room, [person.id for person in views])


@pytest.mark.parametrize("ticket_id", ["", "x" * 65, "대기", b"x", None, 7], ids=repr)
async def test_bad_ids(engine: Engine, room: str, ticket_id: Any) -> None:
    """One bad id makes the whole call fail: nobody is removed."""
    await engine.create(room, Policy(mode=Mode.PAUSED))
    person = await engine.join(room)
    with pytest.raises(InvalidInput):
        await engine.kick(room, [person.id, ticket_id])
    assert 1 == (await engine.stats(room)).waiting


async def test_unknown_room(engine: Engine, room: str) -> None:
    """Nobody can be kicked out of a room that does not exist."""
    with pytest.raises(UnknownRoom):
        await engine.kick(room, ["A" * 16])


async def test_event(engine: Engine, room: str) -> None:
    """A kick is an ending with its reason."""
    await engine.create(room, Policy(mode=Mode.PAUSED))
    person = await engine.join(room)
    await engine.kick(room, [person.id])
    ((_, fields),) = await engine.backend.client.xrange(keys.room_key(room, "events"))
    assert (b"ended", b"kicked") == (fields[b"kind"], fields[b"reason"])


async def test_one_string_is_no_list(engine: Engine, room: str) -> None:
    """A single id given as a string is refused, not split into letters."""
    await engine.create(room, Policy())
    with pytest.raises(InvalidInput):
        await engine.kick(room, "abcdefgh")
