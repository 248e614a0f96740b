"""check: is a session inside now? By its deadline, read-only, many at a time."""

from __future__ import annotations

import asyncio
import statistics
from typing import Any

import pytest

from tests.acceptance.tools import load_scripts
from tests.engine.test_batcher import calls
from tests.support.clock import Clock, crowd, open_engine
from tests.support.servers import Server
from waitroom.engine import Engine, keys
from waitroom.errors import (
    BrokenRoom,
    InvalidInput,
    InvalidRoomName,
    UnknownRoom,
)
from waitroom.models import Policy, TicketView


async def enter(engine: Engine, room: str) -> tuple[TicketView, int]:
    """Go inside; return the view and the session."""
    view = await engine.join(room, enter=True)
    assert view.sid is not None
    return view, view.sid


async def test_inside(engine: Engine, room: str) -> None:
    """A session is inside from the moment of its entry, only under its own number."""
    await engine.create(room, Policy())
    person, sid = await enter(engine, room)
    other, _ = await enter(engine, room)
    assert True is await engine.check(room, person.id, sid)
    assert False is await engine.check(room, person.id, sid + 1)
    assert False is await engine.check(room, other.id, sid)
    assert False is await engine.check(room, "-" * 16, sid)


async def test_waiting_and_called(engine: Engine, room: str) -> None:
    """Neither a waiting nor a called person is inside, whatever session they claim."""
    await engine.create(room, Policy(capacity=1))
    called, waiting = await crowd(engine, room, 2)
    assert [False, False] == await engine.check_many(room, [(called.id, 0), (waiting.id, 1)])


async def test_deadline(engine: Engine, clock: Clock, room: str) -> None:
    """A session is over at its end, swept or not."""
    await engine.create(room, Policy(session_s=60))
    person, sid = await enter(engine, room)
    clock.step(59.999)
    assert await engine.check(room, person.id, sid)
    clock.step(0.001)
    assert not await engine.check(room, person.id, sid)
    await engine.advance(room)
    assert not await engine.check(room, person.id, sid)


async def test_without_an_end(engine: Engine, clock: Clock, room: str) -> None:
    """A session without an end stays inside."""
    await engine.create(room, Policy(session_s=None))
    person, sid = await enter(engine, room)
    clock.step(10**7)
    assert await engine.check(room, person.id, sid)


async def test_renewed(engine: Engine, clock: Clock, room: str) -> None:
    """An extended session is inside for longer."""
    await engine.create(room, Policy(session_s=60, renewable=True))
    person, sid = await enter(engine, room)
    clock.step(40)
    await engine.renew(room, person.ticket)
    clock.step(40)
    assert await engine.check(room, person.id, sid)


@pytest.mark.parametrize("how", ["finish", "leave", "kick", "clear"])
async def test_ended_before_its_time(engine: Engine, room: str, how: str) -> None:
    """A session that was ended or revoked is over at once, even for somebody who comes back."""
    await engine.create(room, Policy())
    person, sid = await enter(engine, room)
    if how == "kick":
        await engine.kick(room, [person.id])
    elif how == "clear":
        await engine.clear(room)
    else:
        await getattr(engine, how)(room, person.ticket)
    assert not await engine.check(room, person.id, sid)
    again = await engine.join(room, person.ticket, enter=True)
    assert not await engine.check(room, person.id, sid)
    assert await engine.check(room, person.id, again.sid or 0)


async def test_a_clock_that_goes_back(engine: Engine, clock: Clock, room: str) -> None:
    """A session that is over does not come back when the clock does."""
    await engine.create(room, Policy(session_s=60))
    person, sid = await enter(engine, room)
    clock.step(61)
    await engine.join(room)  # a call that records the time
    clock.step(-30)
    assert not await engine.check(room, person.id, sid)


async def test_after_a_loss(engine: Engine, clock: Clock, room: str) -> None:
    """A lost session is unknown until a gate vouches for it."""
    await engine.create(room, Policy(renewable=True))
    person, sid = await enter(engine, room)
    await engine.backend.client.delete(*keys.script_keys(room))
    assert not await engine.check(room, person.id, sid)
    await engine.renew(room, person.ticket, sid=sid, vouched_until_ms=clock.now_ms + 60_000)
    assert await engine.check(room, person.id, sid)


async def test_writes_nothing(engine: Engine, clock: Clock, room: str) -> None:
    """A check is no sign of life and changes nothing: the keys are the same as before."""
    await engine.create(room, Policy(capacity=1))
    person, sid = await enter(engine, room)
    waiting = await engine.join(room)
    client = engine.backend.client
    names = [name for name in keys.script_keys(room) if await client.exists(name)]
    before = [await client.dump(name) for name in names]
    clock.step(100)
    await engine.check_many(room, [(person.id, sid), (waiting.id, 1)])
    assert before == [await client.dump(name) for name in names]


async def test_other_process(engine: Engine, server: Server, clock: Clock, room: str) -> None:
    """A process that has never seen the room answers the same."""
    await engine.create(room, Policy())
    person, sid = await enter(engine, room)
    async with open_engine(server.url, clock) as other:
        assert await other.check(room, person.id, sid)


async def test_many_at_once(server: Server, clock: Clock, room: str) -> None:
    """1,000 concurrent checks take 2 script calls, and each gets its own answer."""
    async with open_engine(server.url, clock) as engine:
        await engine.create(room, Policy())
        sessions = [await enter(engine, room) for _ in range(10)]
        # A script that the server does not know yet is sent twice.
        await load_scripts(engine.backend.client, engine.backend.facts.scripts_take_flags)
        before = await calls(server)
        asked = [(n, *sessions[n % 10]) for n in range(1_000)]
        answers = await asyncio.gather(
            *(engine.check(room, view.id, sid + n % 3) for n, view, sid in asked)
        )
        assert 2 == await calls(server) - before
    assert [n % 3 == 0 for n in range(1_000)] == answers


async def test_ids_of_another_length(engine: Engine, room: str) -> None:
    """Text that cannot be an id is not inside, and does not shift the other answers."""
    await engine.create(room, Policy())
    person, sid = await enter(engine, room)
    odd = ["", "x", "x" * 17, "é" * 16, "x" * 10_000, "\0" * 16, " " * 16]
    sessions = [session for text in odd for session in ((text, sid), (person.id, sid))]
    assert [False, True] * len(odd) == await engine.check_many(room, sessions)


@pytest.mark.parametrize("sid", [-1, 2**63, True, None, "5", 1.5])
async def test_bad_sessions(engine: Engine, room: str, sid: Any) -> None:
    """An invalid session is refused before the server is asked."""
    with pytest.raises(InvalidInput, match="sid"):
        await engine.check(room, "x" * 16, sid)
    with pytest.raises(InvalidInput, match="sid"):
        await engine.check_many(room, [("x" * 16, 5), ("x" * 16, sid)])


async def test_bad_ids(engine: Engine, room: str) -> None:
    """Anything but text is not an id, and one call takes 1 to 500."""
    for ticket_id in (None, 5, b"x" * 16):
        with pytest.raises(InvalidInput, match="ticket id"):
            await engine.check(room, ticket_id, 5)  # type: ignore[arg-type]
    for number in (0, 501):
        with pytest.raises(InvalidInput, match="sessions"):
            await engine.check_many(room, [("x" * 16, 5)] * number)


async def test_rooms(engine: Engine, server: Server, clock: Clock, room: str) -> None:
    """In an unknown or dropped room nobody is inside, and the error says so; so for a bad name."""
    with pytest.raises(UnknownRoom):
        await engine.check(room, "x" * 16, 5)
    with pytest.raises(InvalidRoomName):
        await engine.check("a b", "x" * 16, 5)
    await engine.create(room, Policy())
    async with open_engine(server.url, clock) as other:
        assert not await other.check(room, "x" * 16, 5)
        await engine.drop(room)
        with pytest.raises(UnknownRoom):
            await other.check(room, "x" * 16, 5)


async def test_wrong_type(engine: Engine, room: str) -> None:
    """A key that somebody else has written is an error, not an answer."""
    await engine.create(room, Policy())
    await engine.backend.client.set(keys.room_key(room, "sids"), "x")
    with pytest.raises(BrokenRoom):
        await engine.check(room, "x" * 16, 5)


async def test_beside_sessions_that_are_over(engine: Engine, clock: Clock, room: str) -> None:
    """Among unswept sessions some are over and some are not: each by its own end."""
    await engine.create(room, Policy(session_s=60))
    sessions = []
    for _ in range(4):
        view, sid = await enter(engine, room)
        sessions.append((view.id, sid))
        clock.step(20)
    assert [False, False, True, True] == await engine.check_many(room, sessions)


async def _spent_us(server: Server) -> int:
    """Return how long a server's scripts have taken in total."""
    text = server.command("INFO", "commandstats").decode()
    lines = [line for line in text.splitlines() if line.startswith("cmdstat_evalsha:")]
    return sum(int(line.partition("usec=")[2].partition(",")[0]) for line in lines)


@pytest.mark.parametrize("asked", [1, 100])
async def test_cheaper_than_a_poll(engine: Engine, server: Server, room: str, asked: int) -> None:
    """Checks cost the server less than as many polls, one by one and together."""
    await engine.create(room, Policy(capacity=600))
    inside = [await enter(engine, room) for _ in range(600)]
    waiting = [person.ticket for person in await crowd(engine, room, 600)][-asked:]
    sessions = [(view.id, sid) for view, sid in inside][-asked:]
    polls, checks = [], []
    for _ in range(101):
        start = await _spent_us(server)
        await engine.poll_many(room, waiting)
        polled = await _spent_us(server)
        await engine.check_many(room, sessions)
        polls.append(polled - start)
        checks.append(await _spent_us(server) - polled)
    assert statistics.median(checks) < statistics.median(polls)
