"""renew: a session is extended from now, if the policy lets activity extend it."""

from __future__ import annotations

import pytest

from tests.support.clock import Clock, open_engine
from tests.support.servers import Server
from waitroom.engine import Engine, keys
from waitroom.errors import InvalidTicket, NotRenewable, SessionOver
from waitroom.models import Policy, State, TicketView


@pytest.fixture
async def inside(engine: Engine, room: str) -> TicketView:
    """Return a ticket inside a room that renews, for 60 s."""
    await engine.create(room, Policy(session_s=60, renewable=True, capacity=1))
    return await engine.join(room, enter=True)


async def lose(engine: Engine, room: str) -> None:
    """Delete the room's data, as a flush would."""
    await engine.backend.client.delete(*keys.script_keys(room))


async def test_extends(engine: Engine, clock: Clock, room: str, inside: TicketView) -> None:
    """A renewed session ends `session_s` from now, and keeps its id."""
    clock.step(40)
    renewed = await engine.renew(room, inside.ticket)
    assert (clock.now_ms + 60_000, inside.sid) == (renewed.session_ends_at_ms, renewed.sid)
    clock.step(59)
    assert State.INSIDE is (await engine.poll(room, inside.ticket)).state


async def test_never_shortens(engine: Engine, clock: Clock, room: str, inside: TicketView) -> None:
    """A policy with shorter sessions does not shorten a running one."""
    await engine.configure(room, session_s=10)
    renewed = await engine.renew(room, inside.ticket)
    assert clock.now_ms + 60_000 == renewed.session_ends_at_ms


async def test_not_renewable(engine: Engine, room: str, inside: TicketView) -> None:
    """If the policy does not extend sessions, the end stays the same."""
    await engine.configure(room, renewable=False)
    with pytest.raises(NotRenewable):
        await engine.renew(room, inside.ticket)
    seen = await engine.poll(room, inside.ticket)
    assert inside.session_ends_at_ms == seen.session_ends_at_ms


async def test_after_the_end(engine: Engine, clock: Clock, room: str, inside: TicketView) -> None:
    """A session that ran out is not renewed, even if no sweep has run."""
    clock.step(60)
    with pytest.raises(SessionOver):
        await engine.renew(room, inside.ticket)


async def test_after_finish(engine: Engine, room: str, inside: TicketView) -> None:
    """A session that was finished is not renewed."""
    await engine.finish(room, inside.ticket)
    with pytest.raises(SessionOver):
        await engine.renew(room, inside.ticket)


async def test_other_session(engine: Engine, room: str, inside: TicketView) -> None:
    """A session is renewed only with its own id."""
    assert inside.sid is not None
    assert inside.sid == (await engine.renew(room, inside.ticket, sid=inside.sid)).sid
    with pytest.raises(SessionOver):
        await engine.renew(room, inside.ticket, sid=inside.sid + 1)


async def test_while_waiting(engine: Engine, room: str, inside: TicketView) -> None:
    """A waiting person has no session to renew, and a gate's word changes nothing."""
    waiting = await engine.join(room)
    with pytest.raises(SessionOver):
        await engine.renew(room, waiting.ticket, sid=7, vouched_until_ms=2**45)
    assert inside.id != waiting.id
    assert 1 == (await engine.poll(room, waiting.ticket)).position


async def test_no_end(engine: Engine, room: str) -> None:
    """A session without an end is renewed without one."""
    await engine.create(room, Policy(session_s=None, renewable=True))
    person = await engine.join(room, enter=True)
    assert None is (await engine.renew(room, person.ticket)).session_ends_at_ms


@pytest.mark.attack
async def test_never_past_longest_s(
    engine: Engine, clock: Clock, room: str, inside: TicketView
) -> None:
    """However often it is extended, a session and its pass end `longest_s` after entering."""
    await engine.configure(room, longest_s=150)
    entered_ms = clock.now_ms
    ends = []
    for _ in range(4):
        clock.step(40)
        try:
            ends.append((await engine.renew(room, inside.ticket)).session_ends_at_ms)
        except SessionOver:
            ends.append(None)
    assert [entered_ms + ms for ms in (100_000, 140_000, 150_000)] + [None] == ends
    assert State.GONE is (await engine.poll(room, inside.ticket)).state


async def test_longest_s_bounds_a_session_without_an_end(
    engine: Engine, clock: Clock, room: str
) -> None:
    """Without `session_s` a session lasts `longest_s` from the start; renewing changes nothing."""
    await engine.create(room, Policy(session_s=None, renewable=True, longest_s=60))
    person = await engine.join(room, enter=True)
    assert clock.now_ms + 60_000 == person.session_ends_at_ms
    clock.step(30)
    again = await engine.renew(room, person.ticket)
    assert person.session_ends_at_ms == again.session_ends_at_ms


async def test_longest_s_cuts_nobody_short(
    engine: Engine, clock: Clock, room: str, inside: TicketView
) -> None:
    """A session that was given longer before keeps its end, and is not extended."""
    clock.step(30)
    await engine.configure(room, longest_s=10)
    kept = await engine.renew(room, inside.ticket)
    assert inside.session_ends_at_ms == kept.session_ends_at_ms


@pytest.mark.attack
async def test_longest_s_after_a_loss(
    engine: Engine, clock: Clock, room: str, inside: TicketView
) -> None:
    """A vouched session still knows when it began: a loss does not restart it."""
    await engine.configure(room, longest_s=100)
    entered_ms = clock.now_ms
    clock.step(50)
    await lose(engine, room)
    until = inside.session_ends_at_ms
    await engine.renew(room, inside.ticket, sid=inside.sid, vouched_until_ms=until)
    again = await engine.renew(room, inside.ticket, sid=inside.sid)
    assert entered_ms + 100_000 == again.session_ends_at_ms


async def test_vouched_after_a_loss(engine: Engine, room: str, inside: TicketView) -> None:
    """While admission holds after a loss, a session that a gate vouches for is readmitted."""
    await lose(engine, room)
    until = inside.session_ends_at_ms
    back = await engine.renew(room, inside.ticket, sid=inside.sid, vouched_until_ms=until)
    assert (State.INSIDE, inside.sid, until) == (back.state, back.sid, back.session_ends_at_ms)


async def test_vouched_keeps_its_place_taken(
    engine: Engine, clock: Clock, room: str, inside: TicketView
) -> None:
    """A vouched session counts against the capacity when the hold is over."""
    await lose(engine, room)
    until = clock.now_ms + 600_000
    await engine.renew(room, inside.ticket, sid=inside.sid, vouched_until_ms=until)
    newcomer = await engine.join(room)
    for _ in range(16):
        clock.step(5)
        await engine.advance(room)
    assert None is (await engine.stats(room)).hold_until_ms
    assert State.WAITING is (await engine.poll(room, newcomer.ticket)).state


async def test_vouched_too_late(
    engine: Engine, clock: Clock, room: str, inside: TicketView
) -> None:
    """A pass that has ended is not readmitted."""
    await lose(engine, room)
    with pytest.raises(SessionOver):
        await engine.renew(room, inside.ticket, sid=inside.sid, vouched_until_ms=clock.now_ms - 1)


async def test_vouched_without_a_loss(
    engine: Engine, clock: Clock, room: str, inside: TicketView
) -> None:
    """Without a loss, a gate's word does not revive a session that is over."""
    await engine.finish(room, inside.ticket)
    with pytest.raises(SessionOver):
        await engine.renew(
            room, inside.ticket, sid=inside.sid, vouched_until_ms=clock.now_ms + 9_000
        )


async def test_by_another_process(
    engine: Engine, server: Server, clock: Clock, room: str, inside: TicketView
) -> None:
    """Any process renews any session."""
    clock.step(10)
    async with open_engine(server.url, clock) as other:
        await other.renew(room, inside.ticket)
    assert clock.now_ms + 60_000 == (await engine.poll(room, inside.ticket)).session_ends_at_ms


async def test_bad_input(engine: Engine, room: str, inside: TicketView) -> None:
    """A forged ticket renews nothing."""
    with pytest.raises(InvalidTicket):
        await engine.renew(room, inside.ticket[:-1])
