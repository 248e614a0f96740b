"""finish: a session ends early, and its place goes to the next person in the same call."""

from __future__ import annotations

import pytest

from tests.support.clock import Clock, crowd
from waitroom.engine import Engine, keys
from waitroom.errors import InvalidTicket, SessionOver
from waitroom.models import Mode, Policy, Reason, State


async def test_finished(engine: Engine, room: str) -> None:
    """A finished ticket is gone, with that reason, and counted."""
    await engine.create(room, Policy())
    person = await engine.join(room, enter=True)
    gone = await engine.finish(room, person.ticket)
    assert (State.GONE, Reason.FINISHED) == (gone.state, gone.reason)
    stats = await engine.stats(room)
    assert (0, 1) == (stats.inside, stats.counters["finished"])


async def test_next_is_called(engine: Engine, room: str) -> None:
    """The same call calls the first person in line, and nobody else."""
    await engine.create(room, Policy(capacity=1))
    inside = await engine.join(room, enter=True)
    second, third = await crowd(engine, room, 2)
    await engine.finish(room, inside.ticket)
    assert State.CALLED is (await engine.poll(room, second.ticket)).state
    assert 1 == (await engine.poll(room, third.ticket)).position


async def test_next_is_not_called_against_the_policy(engine: Engine, room: str) -> None:
    """A freed place in a manual room is not reassigned by itself."""
    await engine.create(room, Policy(mode=Mode.MANUAL))
    first, second = await crowd(engine, room, 2)
    await engine.admit(room, 1)
    await engine.enter(room, first.ticket)
    await engine.finish(room, first.ticket)
    assert State.WAITING is (await engine.poll(room, second.ticket)).state


async def test_twice(engine: Engine, room: str) -> None:
    """A second `finish` without a session id finds no session."""
    await engine.create(room, Policy())
    person = await engine.join(room, enter=True)
    await engine.finish(room, person.ticket)
    with pytest.raises(SessionOver):
        await engine.finish(room, person.ticket)


async def test_same_call_twice(engine: Engine, room: str) -> None:
    """The same `finish` sent twice, by `op_id` or by session id, gets the same answer."""
    await engine.create(room, Policy())
    person = await engine.join(room, enter=True)
    first = await engine.finish(room, person.ticket, sid=person.sid, op_id="one")
    assert first == await engine.finish(room, person.ticket, op_id="one")
    assert first == await engine.finish(room, person.ticket, sid=person.sid)
    assert 1 == (await engine.stats(room)).counters["finished"]


async def test_other_session(engine: Engine, room: str) -> None:
    """The id of a visitor's earlier session does not end their current one."""
    await engine.create(room, Policy())
    old = await engine.join(room, visitor="kim", enter=True)
    await engine.finish(room, old.ticket)
    new = await engine.join(room, visitor="kim", enter=True)
    await engine.finish(room, new.ticket, sid=old.sid)
    assert State.INSIDE is (await engine.poll(room, new.ticket)).state


async def test_after_the_end(engine: Engine, clock: Clock, room: str) -> None:
    """A session that ran out cannot be finished; it counts as expired."""
    await engine.create(room, Policy(session_s=60))
    person = await engine.join(room, enter=True)
    clock.step(60)
    with pytest.raises(SessionOver):
        await engine.finish(room, person.ticket)
    counters = (await engine.stats(room)).counters
    assert (0, 1) == (counters["finished"], counters["expired"])


async def test_while_waiting(engine: Engine, room: str) -> None:
    """A waiting person has no session to finish, and stays."""
    await engine.create(room, Policy(mode=Mode.PAUSED))
    person = await engine.join(room)
    with pytest.raises(SessionOver):
        await engine.finish(room, person.ticket)
    assert 1 == (await engine.poll(room, person.ticket)).position


async def test_session_is_noted_until_its_pass_ends(
    engine: Engine, clock: Clock, room: str
) -> None:
    """The id of a finished session is kept until its pass would have ended, then pruned."""
    await engine.create(room, Policy(session_s=60))
    person = await engine.join(room, enter=True)
    await engine.finish(room, person.ticket)
    done = keys.room_key(room, "done")
    ends = person.session_ends_at_ms
    assert ends == await engine.backend.client.zscore(done, str(person.sid))
    clock.step(61)
    await engine.advance(room)
    assert 0 == await engine.backend.client.zcard(done)


async def test_events(engine: Engine, room: str) -> None:
    """The end and the call of the next person are events, in this order."""
    await engine.create(room, Policy(capacity=1))
    inside = await engine.join(room, enter=True)
    second = await engine.join(room)
    await engine.finish(room, inside.ticket)
    entries = await engine.backend.client.xrange(keys.room_key(room, "events"))
    assert [(b"ended", inside.id.encode(), b"finished"), (b"called", second.id.encode(), None)] == [
        (fields[b"kind"], fields[b"ids"], fields.get(b"reason")) for _, fields in entries[2:]
    ]


async def test_bad_input(engine: Engine, room: str) -> None:
    """A forged ticket finishes nothing."""
    await engine.create(room, Policy())
    with pytest.raises(InvalidTicket):
        await engine.finish(room, "x" * 90)
