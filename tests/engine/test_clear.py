"""clear: the room is emptied and a new epoch begins; the policy stays."""

from __future__ import annotations

import pytest

from tests.support.clock import Clock, crowd, open_engine
from tests.support.servers import Server
from waitroom.engine import Engine, keys
from waitroom.errors import InvalidRoomName, SessionOver, UnknownRoom
from waitroom.models import Mode, Policy, Reason, State, preset


async def test_empty(engine: Engine, room: str) -> None:
    """Everybody is gone, and their number is returned."""
    await engine.create(room, Policy(capacity=2))
    await engine.join(room, enter=True)
    await crowd(engine, room, 3)
    assert 4 == await engine.clear(room)
    stats = await engine.stats(room)
    assert (0, 0, 0) == (stats.waiting, stats.called, stats.inside)


async def test_policy_stays(engine: Engine, room: str) -> None:
    """Policy, version and lifetime counters survive."""
    await engine.create(room, preset("slots"))
    await engine.join(room)
    await engine.clear(room)
    info = await engine.room(room)
    assert (preset("slots"), 1) == (info.policy, info.version)
    assert 1 == (await engine.stats(room)).counters["joined"]


async def test_epoch_grows(engine: Engine, room: str) -> None:
    """Each clear begins a later epoch, even within one microsecond."""
    epochs = [(await engine.create(room, Policy())).epoch]
    for _ in range(2):
        await engine.clear(room)
        epochs.append((await engine.room(room)).epoch)
    assert sorted(set(epochs)) == epochs


async def test_old_tickets(engine: Engine, room: str) -> None:
    """An earlier ticket is gone, and its poll brings nobody back."""
    await engine.create(room, Policy(mode=Mode.PAUSED))
    person = await engine.join(room)
    await engine.clear(room)
    assert Reason.CLEARED is (await engine.poll(room, person.ticket)).reason
    assert 0 == (await engine.stats(room)).waiting


async def test_old_sessions(engine: Engine, room: str) -> None:
    """An earlier session cannot be renewed."""
    await engine.create(room, Policy(renewable=True))
    person = await engine.join(room, enter=True)
    await engine.clear(room)
    with pytest.raises(SessionOver):
        await engine.renew(room, person.ticket)


async def test_old_tickets_in_another_process(
    engine: Engine, server: Server, clock: Clock, room: str
) -> None:
    """A process that remembers the old epoch also refuses its tickets at once."""
    await engine.create(room, Policy(mode=Mode.PAUSED))
    async with open_engine(server.url, clock) as other:
        person = await other.join(room)
        await engine.clear(room)
        assert Reason.CLEARED is (await other.poll(room, person.ticket)).reason
        assert None is (await other.stats(room)).hold_until_ms


async def test_new_places_come_after_the_old(engine: Engine, room: str) -> None:
    """Places keep growing, so that no old ticket can be ahead of a new one."""
    await engine.create(room, Policy(mode=Mode.PAUSED))
    await engine.join(room)
    (before,) = (await engine.list(room)).tickets
    await engine.clear(room)
    await engine.join(room)
    (after,) = (await engine.list(room)).tickets
    assert (before.place or 0) < (after.place or 0)


async def test_rolling_limit_holds(engine: Engine, room: str) -> None:
    """Earlier entries still count in the window: clearing does not open a second one."""
    await engine.create(room, Policy(max_entries=2, per_s=60))
    for _ in range(2):
        await engine.join(room, enter=True)
    await engine.clear(room)
    assert State.WAITING is (await engine.join(room, enter=True)).state


async def test_repeat(engine: Engine, room: str) -> None:
    """The same `op_id` clears once: anybody who joined since stays."""
    await engine.create(room, Policy(mode=Mode.PAUSED))
    await crowd(engine, room, 2)
    assert 2 == await engine.clear(room, op_id="one")
    await engine.join(room)
    assert 2 == await engine.clear(room, op_id="one")
    assert 1 == (await engine.stats(room)).waiting


async def test_event(engine: Engine, room: str) -> None:
    """Clearing is an event, and the stream continues."""
    await engine.create(room, Policy())
    await engine.join(room)
    await engine.clear(room)
    entries = await engine.backend.client.xrange(keys.room_key(room, "events"))
    assert [b"called", b"cleared"] == [fields[b"kind"] for _, fields in entries]


async def test_rooms(engine: Engine, room: str) -> None:
    """Neither an unknown room nor a bad name can be cleared."""
    with pytest.raises(UnknownRoom):
        await engine.clear(room)
    with pytest.raises(InvalidRoomName):
        await engine.clear("{}")
