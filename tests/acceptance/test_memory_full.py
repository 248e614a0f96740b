"""The server's memory is full, or a key has another type: clear errors, never half a move."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.acceptance.tools import dump
from tests.support.clock import Clock, crowd, open_engine
from tests.support.counts import count
from tests.support.figures import say
from tests.support.servers import Server
from waitroom.engine import Engine, Settled
from waitroom.engine.keys import ROOM_KEYS, room_key
from waitroom.errors import BackendFull, BrokenRoom
from waitroom.models import Policy, State, TicketView

POLICY = Policy(capacity=4, renewable=True, max_defers=7)


def with_flags(engine: Engine, clock: Clock, flags: bool) -> Engine:
    """Return an engine on the same server that assumes it has, or lacks, script flags."""
    facts = replace(engine.backend.facts, scripts_take_flags=flags)
    return Engine(replace(engine.backend, facts=facts), engine.ring, clock=clock)


@pytest.mark.parametrize("flags", [True, False], ids=["flags", "no flags"])
async def test_a_full_server(apart: Server, room: str, clock: Clock, flags: bool) -> None:
    """Join gets `BackendFull`; poll, enter, finish, leave, advance, kick, renew, admit go on."""
    async with open_engine(apart.url, clock) as connected:
        engine = with_flags(connected, clock, flags)
        client: Any = engine.backend.client
        await engine.create(room, POLICY)
        people = [await engine.join(room, enter=number < 2) for number in range(40)]
        used = int((await client.info("memory"))["used_memory"])
        await client.config_set("maxmemory", used - 1_000_000 if used > 2_000_000 else 1)
        try:
            before = await dump(client, room)
            for _ in range(3):
                with pytest.raises(BackendFull):
                    await engine.join(room)
            with pytest.raises(BackendFull):
                await engine.configure(room, capacity=9)
            assert before == await dump(client, room)
            await _goes_on(engine, room, clock, people)
        finally:
            await client.config_set("maxmemory", 0)
        assert State.WAITING == (await engine.join(room)).state
        # A read and a restored place after all that show that nothing was half done.
        stats = await engine.stats(room)
        came = 41 + stats.counters["reinstated"]
        assert came == sum((stats.waiting, stats.called, stats.inside, *_ended(stats.counters)))


def _ended(counters: dict[str, int]) -> list[int]:
    names = ("finished", "left", "kicked", "expired", "no_show", "abandoned")
    return [counters[name] for name in names]


async def _goes_on(engine: Engine, room: str, clock: Clock, people: list[TicketView]) -> None:
    assert 1 == (await engine.poll(room, people[4].ticket)).position
    clock.step(1)
    assert State.INSIDE == (await engine.enter(room, people[2].ticket)).state
    assert State.INSIDE == (await engine.renew(room, people[2].ticket)).state
    await engine.finish(room, people[0].ticket)
    assert State.CALLED == (await engine.poll(room, people[4].ticket)).state
    await engine.leave(room, people[5].ticket)
    await engine.leave(room, people[1].ticket)
    assert State.CALLED == (await engine.poll(room, people[6].ticket)).state
    assert 1 == await engine.kick(room, [people[7].id])
    await engine.reinstate(room, people[7].id)
    assert 1 == await engine.kick(room, [people[7].id])
    await engine.defer(room, people[8].ticket, 3)
    assert 2 == await engine.admit(room, 2, force=True)
    for _ in range(7):
        clock.step(10)
        await engine.poll_many(room, [view.ticket for view in people])
    done = await engine.advance(room)  # the called did not come: the next ones are called
    assert (5, 3) == (done.no_shows, done.called)
    assert 30 >= len((await engine.list(room)).tickets)


# Keys of the wrong type ---------------------------------------------------------------------------

Act = Callable[[Engine, str, list[TicketView]], Awaitable[Any]]
INJECTED = [name for name in ROOM_KEYS if name != "series"]  # `series` comes with the server
ACTS: dict[str, Act] = {
    "join": lambda engine, room, _: engine.join(room),
    "join again": lambda engine, room, people: engine.join(room, people[9].ticket),
    "join directly": lambda engine, room, _: engine.join(room, enter=True),
    "poll": lambda engine, room, people: engine.poll(room, people[9].ticket),
    "advance": lambda engine, room, _: engine.advance(room),
    "enter": lambda engine, room, people: engine.enter(room, people[2].ticket),
    "renew": lambda engine, room, people: engine.renew(room, people[0].ticket),
    "finish": lambda engine, room, people: engine.finish(room, people[0].ticket, op_id="op"),
    "leave": lambda engine, room, people: engine.leave(room, people[8].ticket, op_id="op"),
    "leave inside": lambda engine, room, people: engine.leave(room, people[1].ticket, op_id="op"),
    "admit": lambda engine, room, _: engine.admit(room, 5, force=True, op_id="op"),
    "call": lambda engine, room, people: engine.call(room, people[7].id, force=True, op_id="op"),
    "kick": lambda engine, room, people: engine.kick(
        room, [people[0].id, people[2].id, people[9].id], op_id="op"
    ),
    "defer": lambda engine, room, people: engine.defer(room, people[6].ticket, 2, op_id="op"),
    "reinstate": lambda engine, room, _: engine.reinstate(room, "A" * 16, force=True, op_id="op"),
    "settle": lambda engine, room, people: engine.settle(
        room,
        [
            Settled(people[0].id, "waiting", 5, 1),
            Settled(people[7].id, "called", 6, 1),
            Settled(people[8].id, "left", 7, 1),
        ],
    ),
    "list": lambda engine, room, _: engine.list(room),
    "stats": lambda engine, room, _: engine.stats(room),
    "configure": lambda engine, room, _: engine.configure(room, per_s=9, max_entries=9, op_id="op"),
    "clear": lambda engine, room, _: engine.clear(room, op_id="op"),
    "drop": lambda engine, room, _: engine.drop(room),
}


OPS = dict.fromkeys(ACTS, "")
OPS |= dict.fromkeys(("finish", "leave", "leave inside", "call", "defer", "reinstate"), "op")
OPS |= {"configure": "op", "clear": "op", "admit": "op.0", "kick": "op.0"}


async def _spoil(client: Any, key: str, draw: random.Random) -> None:
    """Put another type in place of the key; none of our keys is a list, a set or this string."""
    await client.delete(key)
    if draw.random() < 0.5 and ":op:" not in key:
        await client.set(key, "somebody else's")
    else:
        await client.rpush(key, "somebody", "else's")


async def _inject(
    engine: Engine, clock: Clock, room: str, name: str, verb: str, draw: random.Random
) -> bool:
    """Spoil one key of a fresh room and run a verb; return whether it was refused entirely."""
    client: Any = engine.backend.client
    await engine.create(room, POLICY)
    people = [await engine.join(room, enter=n < 2) for n in range(5)]
    people += await crowd(engine, room, 5)
    clock.step(1)
    await _spoil(client, room_key(room, name), draw)
    before = await dump(client, room)
    error: Exception | None = None
    try:
        await ACTS[verb](engine, room, people)
    except Exception as raised:
        error = raised
    if error is None:
        return False
    what = f"{verb} with a wrong `{name}`: {error!r} {error}"
    assert isinstance(error, BrokenRoom), what
    assert f"`{name.split(':')[0]}`" in str(error), what
    assert before == await dump(client, room), f"half a move: {what}"
    return True


@pytest.mark.parametrize("flags", [True, False], ids=["flags", "no flags"])
async def test_keys_of_the_wrong_type(server: Server, clock: Clock, room: str, flags: bool) -> None:
    """`BrokenRoom` or a correct result, never a partial move, for any key and any verb."""
    draw, refused, total = random.Random(11), 0, count("injections") // 2
    async with open_engine(server.url, clock) as connected:
        engine = with_flags(connected, clock, flags)
        for number in range(total):
            name, verb = draw.choice(INJECTED), draw.choice(list(ACTS))
            refused += await _inject(engine, clock, f"{room}.{number}", name, verb, draw)
    say(f"{total} injections: {refused} refused as a whole, {total - refused} harmless")
    assert refused > 0


@pytest.mark.parametrize("verb", [verb for verb in ACTS if OPS[verb]])
async def test_an_op_of_the_wrong_type(valkey: Server, clock: Clock, room: str, verb: str) -> None:
    """The key of an `op_id` belongs to the room too: `BrokenRoom`, nothing written."""
    async with open_engine(valkey.url, clock) as engine:
        await _inject(engine, clock, room, f"op:{OPS[verb]}", verb, random.Random(1))
