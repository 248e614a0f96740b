"""People who were kicked, left or finished stay out after a loss, if a process remembers it."""

from __future__ import annotations

import asyncio

import pytest

from tests.support.clock import Clock, crowd, open_engine, polled_rank
from tests.support.servers import Server
from waitroom.engine import Engine, keys
from waitroom.engine.endings import MOST_KEPT, Endings
from waitroom.errors import Banned, SessionOver
from waitroom.models import Mode, Policy, Reason, State, TicketView
from waitroom.ticker import Ticker

PAUSED = Policy(mode=Mode.PAUSED)


async def lose(engine: Engine, room: str) -> None:
    """Lose everything the server has of a room."""
    await engine.backend.client.delete(*keys.script_keys(room))


async def end(engine: Engine, person: TicketView, how: str) -> None:
    """End a ticket in one of three ways."""
    if how == "kick":
        assert 1 == await engine.kick(person.room, [person.id])
    else:
        await getattr(engine, how)(person.room, person.ticket)


async def vouch(engine: Engine, person: TicketView) -> TicketView:
    """Vouch for a session as a gate does after a loss."""
    until_ms, sid = person.session_ends_at_ms, person.sid or 0
    return await engine.renew_session(person.room, person.id, sid, vouched_until_ms=until_ms)


@pytest.mark.attack
@pytest.mark.parametrize("how", ["kick", "leave"])
async def test_a_place_stays_lost(engine: Engine, room: str, how: str) -> None:
    """A poll after the loss brings back everybody except those taken out of the line."""
    await engine.create(room, PAUSED)
    first, out, last = await crowd(engine, room, 3)
    await end(engine, out, how)
    await lose(engine, room)
    views = [await engine.poll(room, person.ticket) for person in (out, first, last)]
    assert [State.GONE, State.WAITING, State.WAITING] == [view.state for view in views]
    assert 2 == (await engine.stats(room)).waiting


@pytest.mark.attack
@pytest.mark.parametrize("how", ["kick", "leave", "finish"])
async def test_a_session_stays_over(engine: Engine, room: str, how: str) -> None:
    """A gate cannot vouch for it during the hold, but can for people who were inside."""
    await engine.create(room, Policy(session_s=300))
    out, honest = [await engine.join(room, enter=True) for _ in range(2)]
    await end(engine, out, how)
    await lose(engine, room)
    with pytest.raises(SessionOver):
        await vouch(engine, out)
    assert [True, False] == [
        await engine.has_ended(room, view.id, view.sid or 0) for view in (out, honest)
    ]
    assert State.INSIDE is (await vouch(engine, honest)).state
    assert State.GONE is (await engine.poll(room, out.ticket)).state


@pytest.mark.attack
async def test_who_was_called_by_hand_and_served(engine: Engine, room: str) -> None:
    """Their place is after the watermark, and still does not come back."""
    await engine.create(room, Policy(mode=Mode.MANUAL, session_s=300))
    _, served = await crowd(engine, room, 2)
    await engine.call(room, served.id)
    await engine.enter(room, served.ticket)
    await engine.finish(room, served.ticket)
    await lose(engine, room)
    assert State.GONE is (await engine.poll(room, served.ticket)).state


@pytest.mark.attack
async def test_another_process_was_quicker(
    engine: Engine, server: Server, clock: Clock, room: str
) -> None:
    """It brought back the kicked person; the process that remembers removes them next."""
    await engine.create(room, PAUSED)
    first, out = await crowd(engine, room, 2)
    async with open_engine(server.url, clock) as other:
        await other.poll(room, first.ticket)
        await engine.kick(room, [out.id])
        await lose(engine, room)
        assert State.WAITING is (await other.poll(room, out.ticket)).state
        await engine.poll(room, first.ticket)
        assert State.GONE is (await other.poll(room, out.ticket)).state
        assert 1 == await polled_rank(other, room, first.ticket)


@pytest.mark.attack
async def test_a_failover_lost_the_kick(engine: Engine, clock: Clock, room: str) -> None:
    """The replica has them in line and inside; the process that kicked them does it again."""
    await engine.create(room, Policy(capacity=1, session_s=300))
    inside = await engine.join(room, enter=True)
    waiting, honest = await crowd(engine, room, 2)
    names = [keys.room_key(room, name) for name in keys.ROOM_KEYS]
    client = engine.backend.client
    replica = {name: await client.dump(name) for name in names}
    await engine.kick(room, [inside.id, waiting.id])
    await client.delete(*names)
    for name, value in replica.items():
        if value is not None:
            await client.restore(name, 0, value)
    clock.step(1)
    await engine.advance(room)
    states = [
        (await engine.poll(room, person.ticket)).state for person in (inside, waiting, honest)
    ]
    assert [State.GONE, State.GONE, State.WAITING] == states
    with pytest.raises(SessionOver):
        await vouch(engine, inside)


@pytest.mark.attack
@pytest.mark.parametrize("ban", [False, True])
async def test_somebody_else_kicked_them(
    engine: Engine, server: Server, clock: Clock, room: str, ban: bool
) -> None:
    """A command line that has ended, for example: anybody who saw the room since remembers it."""
    await engine.create(room, Policy(session_s=300, capacity=1))
    inside = await engine.join(room, enter=True)
    waiting, honest = await crowd(engine, room, 2)
    async with open_engine(server.url, clock) as other:
        assert 2 == await other.kick(room, [waiting.id, inside.id], ban=ban)
    await engine.note_kicks([room])
    await lose(engine, room)
    for person in (waiting, inside):
        assert Reason.KICKED is (await engine.poll(room, person.ticket)).reason
    assert State.WAITING is (await engine.poll(room, honest.ticket)).state
    with pytest.raises(SessionOver):
        await vouch(engine, inside)
    assert await engine.has_ended(room, inside.id, inside.sid or 0)
    if ban:
        with pytest.raises(Banned):
            await engine.join(room, waiting.ticket)
    else:
        assert (await engine.join(room, waiting.ticket)).new


async def test_a_ban_that_was_lifted_stays_lifted(engine: Engine, room: str) -> None:
    """The last thing the room said counts."""
    await engine.create(room, PAUSED)
    person = await engine.join(room)
    for ban in (True, False):
        await engine.kick(room, [person.id], ban=ban)
        await engine.note_kicks([room])
    await lose(engine, room)
    assert Reason.KICKED is (await engine.poll(room, person.ticket)).reason
    assert (await engine.join(room, person.ticket)).new


@pytest.mark.attack
async def test_a_look_at_a_room_that_has_forgotten(
    engine: Engine, server: Server, clock: Clock, room: str
) -> None:
    """It does not teach others that the kicks never happened."""
    await engine.create(room, PAUSED)
    first, out = await crowd(engine, room, 2)
    async with open_engine(server.url, clock) as other:
        await other.poll(room, first.ticket)
        async with open_engine(server.url, clock) as third:
            await third.kick(room, [out.id])
        await engine.note_kicks([room])
        await lose(engine, room)
        await other.poll(room, first.ticket)
        await engine.note_kicks([room])
        assert 1 == await polled_rank(engine, room, first.ticket)
        assert Reason.KICKED is (await engine.poll(room, out.ticket)).reason


async def test_rooms_that_are_not_there(engine: Engine, room: str) -> None:
    """Lost, broken or unknown: nothing is learnt, and nothing fails."""
    await engine.create(room, PAUSED)
    await engine.backend.client.set(keys.room_key(room, "kicked"), "mine")
    await engine.note_kicks([room, f"{room}.unknown"])
    await lose(engine, room)
    await engine.note_kicks([room])
    assert engine._runner.memory(room).endings is None


async def test_the_ticker_looks(engine: Engine, server: Server, room: str) -> None:
    """Every process learns of a kick by itself."""
    await engine.create(room, PAUSED)
    _, out = await crowd(engine, room, 2)
    async with open_engine(server.url) as other, Ticker(other, lap_s=0.05):
        await engine.kick(room, [out.id])
        async with asyncio.timeout(20):
            while (endings := other._runner.memory(room).endings) is None:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
    assert out.id in endings.everybodys_kicks[0]


async def test_who_joined_again_keeps_the_new_place(engine: Engine, room: str) -> None:
    """A kick ends the place and the session of that time, and no later one."""
    await engine.create(room, PAUSED)
    kicked, left = await crowd(engine, room, 2)
    await engine.kick(room, [kicked.id])
    await engine.leave(room, left.ticket)
    again = [await engine.join(room, person.ticket) for person in (left, kicked)]
    await lose(engine, room)
    for _ in range(2):  # the second time by a room that exists
        assert [1, 2] == [await polled_rank(engine, room, person.ticket) for person in again]
        await engine._runner._restore(room, engine._runner.memory(room))


async def test_a_second_loss(engine: Engine, room: str) -> None:
    """Endings are remembered as long as the process lives, not just until told once."""
    await engine.create(room, PAUSED)
    first, out = await crowd(engine, room, 2)
    await engine.kick(room, [out.id])
    for _ in range(2):
        await lose(engine, room)
        assert State.GONE is (await engine.poll(room, out.ticket)).state
        assert 1 == await polled_rank(engine, room, first.ticket)


async def test_a_new_epoch_forgets(engine: Engine, room: str) -> None:
    """After a clear, nobody's old ticket is valid anyway."""
    await engine.create(room, PAUSED)
    out = await engine.join(room)
    await engine.kick(room, [out.id])
    assert engine._runner.memory(room).endings is not None
    await engine.clear(room)
    assert engine._runner.memory(room).endings is None


@pytest.mark.attack
def test_nobody_makes_a_kick_forgotten() -> None:
    """Memory is bounded; endless joining and leaving forgets only people who left."""
    endings = Endings()
    endings.add(["kicked-id kicked 5 0 0 1"])
    endings.add([f"{number:016} left 5 0 0 1" for number in range(3 * MOST_KEPT)])
    kicks, others = endings.batches()
    assert "kicked-id kicked 5 0 0 1" == kicks
    assert MOST_KEPT == others.count("left")
    endings.add([f"{number:016} kicked 5 0 0 1" for number in range(MOST_KEPT)])
    assert MOST_KEPT == next(endings.batches()).count("kicked")


def test_all_batches_are_told() -> None:
    """With nothing to tell there is no batch."""
    assert [] == [*Endings().batches()]
