"""Reading lines that an external record decides: where a ticket is, and whether it changed."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from redis.asyncio import RedisCluster

from tests.support.clock import open_engine
from tests.support.servers import Server, start_cluster, start_server
from waitroom.engine import Engine, Settled, Spot, keys, lines
from waitroom.errors import BackendUnavailable, BrokenRoom, InvalidRoomName
from waitroom.models import State, preset

DESK = preset("desk", ticket_ttl_s=None)
PLACE = 1_000


class Counting:
    """A client that counts the pipelines and their commands on the way to the server."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.sent: list[list[str]] = []

    def pipeline(self, **options: Any) -> Any:
        """Return a real pipeline whose commands are recorded."""
        pipe = self.client.pipeline(**options)
        sent: list[str] = []
        self.sent.append(sent)
        original = pipe.execute_command

        def noted(*args: Any, **kwargs: Any) -> Any:
            sent.append(str(args[0]))
            return original(*args, **kwargs)

        pipe.execute_command = noted
        return pipe

    def __getattr__(self, name: str) -> Any:
        return getattr(self.client, name)


async def line(engine: Engine, room: str, people: int = 3, turnover: str = "1:2.0") -> list[str]:
    """Make a line of this many people; return their ids in order."""
    await engine.create(room, DESK)
    ids = [f"t{n:03}" for n in range(people)]
    tickets = [Settled(ticket_id, "waiting", PLACE + 8 * n, 1) for n, ticket_id in enumerate(ids)]
    await engine.settle(room, tickets, turnover=turnover)
    return ids


# Where a ticket stands ------------------------------------------------------------------------


async def test_waiting(engine: Engine, room: str) -> None:
    """Anybody who waits learns their position, how many wait, and the turnover."""
    ids = await line(engine, room)
    spots = [await engine.spot(room, ticket_id) for ticket_id in ids]
    assert [Spot(State.WAITING, n, 3, "1:2.0") for n in (1, 2, 3)] == spots


async def test_called(engine: Engine, room: str) -> None:
    """Anybody who is called no longer has a position."""
    first, second, _ = await line(engine, room)
    await engine.settle(room, [Settled(first, "called", PLACE, 2)])
    assert Spot(State.CALLED, None, 2, "1:2.0") == await engine.spot(room, first)
    assert Spot(State.WAITING, 1, 2, "1:2.0") == await engine.spot(room, second)


async def test_nowhere(engine: Engine, room: str) -> None:
    """Anybody gone, or never here, is nowhere: only the record can tell."""
    first, *_ = await line(engine, room)
    await engine.settle(room, [Settled(first, "finished", PLACE, 2)])
    for ticket_id in (first, "stranger"):
        assert Spot(None, None, 2, "1:2.0") == await engine.spot(room, ticket_id)


async def test_no_room(engine: Engine, room: str) -> None:
    """A room that does not exist has an empty line."""
    assert Spot(None, None, 0, "") == await engine.spot(room, "t000")
    assert [0] == await engine.revisions([room])


@pytest.mark.parametrize("name", ["", "a}b", "x" * 65, None], ids=repr)
async def test_bad_names(engine: Engine, name: Any) -> None:
    """An invalid room name is refused."""
    with pytest.raises(InvalidRoomName):
        await engine.spot(name, "t000")


# What is asked for ----------------------------------------------------------------------------


async def test_one_pipeline_for_many(engine: Engine, room: str) -> None:
    """Callers for several rooms share one pipeline; each room's facts are read once."""
    rooms = [f"{room}-{n}" for n in range(5)]
    for n, name in enumerate(rooms):
        await line(engine, name, people=n + 1, turnover=f"{n}:1.5")
        engine.forget_line(name)
    engine._runner.client = counting = Counting(engine.backend.client)
    asks = [(name, f"t{n:03}") for k, name in enumerate(rooms) for n in range(k + 1)]
    spots = await asyncio.gather(*(engine.spot(*ask) for ask in asks))
    expected = [
        Spot(State.WAITING, n + 1, k + 1, f"{k}:1.5") for k in range(5) for n in range(k + 1)
    ]
    assert expected == spots
    assert [["ZRANK"] * 15 + ["ZCARD", "HGET"] * 5] == counting.sent


async def test_facts_are_kept_for_a_moment(
    engine: Engine, room: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Length and turnover are not read again at once; positions always are."""
    monkeypatch.setattr(lines, "FACTS_S", 60.0)  # longer than a machine stalls
    first, second, _ = await line(engine, room)
    await engine.spot(room, first)
    engine._runner.client = counting = Counting(engine.backend.client)
    await engine.spot(room, second)
    await engine.spot(room, "stranger")
    assert [["ZRANK"], ["ZRANK"], ["ZSCORE"]] == counting.sent


async def test_facts_grow_old(engine: Engine, room: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A change by another process is visible after a moment."""
    first, *_ = await line(engine, room)
    monkeypatch.setattr(lines, "FACTS_S", 0.0)
    await engine.spot(room, first)
    await engine.backend.client.hset(keys.room_key(room, "meta"), "turnover", "9:9.0")
    assert "9:9.0" == (await engine.spot(room, first)).turnover


async def test_own_changes_are_seen_at_once(engine: Engine, room: str) -> None:
    """What this process settled is in its next answer."""
    first, *_ = await line(engine, room)
    await engine.spot(room, first)
    await engine.settle(room, [Settled("t003", "waiting", PLACE + 80, 1)], turnover="2:3.0")
    assert Spot(State.WAITING, 1, 4, "2:3.0") == await engine.spot(room, first)


async def test_a_newcomer_of_another_process(server: Server, engine: Engine, room: str) -> None:
    """If somebody stands behind the recently counted length, the line is at least that long."""
    first, *_ = await line(engine, room)
    await engine.spot(room, first)
    async with open_engine(server.url) as other:
        await other.settle(room, [Settled("t003", "waiting", PLACE + 80, 1)])
    spot = await engine.spot(room, "t003")
    assert (4, 4) == (spot.position, spot.waiting)


async def test_settled_while_being_read(engine: Engine, room: str) -> None:
    """Facts read while this process changed them are not kept."""
    first, *_ = await line(engine, room)
    await engine.spot(room, first)
    for n in range(3, 40):
        asked = asyncio.ensure_future(engine.spot(room, first))
        await asyncio.sleep(0)
        tickets = [Settled(f"t{n:03}", "waiting", PLACE + 8 * n, 1)]
        await asyncio.gather(engine.settle(room, tickets, turnover=f"{n}:1.0"), asked)
        spot = await engine.spot(room, first)
        assert (n + 1, f"{n}:1.0") == (spot.waiting, spot.turnover)


async def test_facts_are_bounded(
    engine: Engine, room: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Facts about rooms that nobody asks for any more are dropped once there are too many."""
    monkeypatch.setattr(lines, "_MOST_FACTS", 3)
    monkeypatch.setattr(lines, "FACTS_S", 0.0)
    for n in range(9):
        await engine.spot(f"{room}-{n}", "t000")
    assert 4 >= len(engine._lines._facts)


# Changes --------------------------------------------------------------------------------------


async def test_revisions(engine: Engine, room: str) -> None:
    """Each room has a number that changes with every change; reads do not change it."""
    rooms = [f"{room}-{n}" for n in range(3)]
    for name in rooms[:2]:
        await line(engine, name)
    before = await engine.revisions(rooms)
    await engine.spot(rooms[0], "t000")
    assert before == await engine.revisions(rooms)
    await engine.settle(rooms[1], [Settled("t001", "called", PLACE, 2)])
    after = await engine.revisions(rooms)
    assert [True, False, True] == [a == b for a, b in zip(before, after, strict=True)]
    assert 0 == after[2]
    assert [] == await engine.revisions([])


async def test_a_large_revision(engine: Engine, room: str) -> None:
    """A number that a script writes as 1e+8 is read correctly."""
    await line(engine, room)
    await engine.backend.client.hset(keys.room_key(room, "meta"), "rev", "1e+8")
    assert [10**8] == await engine.revisions([room])


# Faults ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["waiting", "called", "meta"])
async def test_a_spoilt_room_harms_no_other(engine: Engine, room: str, name: str) -> None:
    """A key of the wrong type is an error only for callers who ask for that room."""
    ids = await line(engine, room)
    spoilt = f"{room}-spoilt"
    await line(engine, spoilt)
    engine.forget_line(spoilt)
    await engine.backend.client.delete(keys.room_key(spoilt, name))
    await engine.backend.client.set(keys.room_key(spoilt, name), "somebody else's")
    asks = [(room, ids[0]), (spoilt, "stranger"), (room, ids[1])]
    good, bad, second = await asyncio.gather(
        *(engine.spot(*ask) for ask in asks), return_exceptions=True
    )
    assert isinstance(bad, BrokenRoom)
    assert [1, 2] == [spot.position for spot in (good, second) if isinstance(spot, Spot)]
    numbers = await engine.revisions([spoilt, room])
    assert numbers[1] > 0


async def test_after_flushall(tmp_path: Path) -> None:
    """After FLUSHALL nobody is anywhere until the record has told again; then all are back."""
    with start_server("valkey", tmp_path) as own:
        async with open_engine(own.url) as engine:
            ids = await line(engine, "desk")
            before = await engine.revisions(["desk"])
            own.command("FLUSHALL")
            engine.forget_line("desk")
            assert Spot(None, None, 0, "") == await engine.spot("desk", ids[0])
            assert [0] == await engine.revisions(["desk"])
            tickets = [
                Settled(ticket_id, "waiting", PLACE + 8 * n, 1) for n, ticket_id in enumerate(ids)
            ]
            assert 3 == await engine.settle("desk", tickets, turnover="1:2.0")
            spots = [await engine.spot("desk", ticket_id) for ticket_id in ids]
            assert [Spot(State.WAITING, n, 3, "1:2.0") for n in (1, 2, 3)] == spots
            assert await engine.revisions(["desk"]) > before


async def test_the_server_is_away(tmp_path: Path) -> None:
    """Without a server every request fails with our own error, and the next one is tried again."""
    with start_server("valkey", tmp_path) as own:
        async with open_engine(own.url) as engine:
            ids = await line(engine, "desk")
            own.stop()
            with pytest.raises(BackendUnavailable):
                await engine.spot("desk", ids[0])
            own.start()
            assert None is (await engine.spot("desk", ids[0])).state


async def test_a_cluster(tmp_path: Path) -> None:
    """In a Cluster one read reaches rooms on all nodes, and so does settling them."""
    with start_cluster(tmp_path) as cluster:
        async with open_engine(cluster.url) as engine:
            rooms = [f"desk-{n}" for n in range(12)]
            for room in rooms:
                await line(engine, room, turnover=f"1:{room}")
                engine.forget_line(room)
            assert isinstance(engine.backend.client, RedisCluster)
            slots = {engine.backend.client.keyslot(keys.room_key(room, "meta")) for room in rooms}
            assert {0, 1, 2} == {slot // 5462 for slot in slots}
            asks = [
                (room, ticket_id) for room in rooms for ticket_id in ("t000", "t002", "stranger")
            ]
            spots = await asyncio.gather(*(engine.spot(*ask) for ask in asks))
            expected = [
                Spot(state, position, 3, f"1:{room}")
                for room in rooms
                for state, position in ((State.WAITING, 1), (State.WAITING, 3), (None, None))
            ]
            assert expected == spots
            assert all(await engine.revisions(rooms))
