"""Push subscriptions: one per ticket, seen with its place, claimed once, gone with the room."""

from __future__ import annotations

import asyncio

import pytest

from tests.support.clock import Clock, advance_all, crowd, open_engine
from tests.support.servers import Server
from waitroom.engine import Engine, keys, push_subscriptions
from waitroom.engine.push_subscriptions import CALLED, NEAR, Subscriber
from waitroom.models import Mode, Policy, State

pytestmark = pytest.mark.every_kind


async def subscribers(engine: Engine, room: str) -> dict[str, Subscriber]:
    """Return all subscribers by ticket id."""
    pages = [page async for page in engine.push_subscriptions.subscribers(room)]
    return {each.id: each for page in pages for each in page}


async def kept(engine: Engine, room: str) -> set[str]:
    """Return the push message keys of a room."""
    names = ("push", "pushed", "push_lap")
    client = engine.backend.client
    return {name for name in names if await client.exists(keys.room_key(room, name))}


async def test_where_they_stand(engine: Engine, room: str) -> None:
    """In line with the position, called, inside, or nowhere; a ticket has one subscription."""
    await engine.create(room, Policy(capacity=2))
    inside = await engine.join(room, enter=True)
    called, first, second = await crowd(engine, room, 3)
    left = await engine.join(room)
    await engine.leave(room, left.ticket)
    for person in (inside, called, first, second, left):
        for text in ("old", f"of {person.id}"):
            assert await engine.push_subscriptions.put(room, person.id, text)
    seen = await subscribers(engine, room)
    expected = [
        (inside, State.INSIDE, None),
        (called, State.CALLED, None),
        (first, State.WAITING, 1),
        (second, State.WAITING, 2),
        (left, None, None),
    ]
    assert {
        person.id: Subscriber(person.id, f"of {person.id}", state, at, False, frozenset())
        for person, state, at in expected
    } == seen
    await engine.push_subscriptions.remove(room, [left.id, inside.id])
    assert {called.id, first.id, second.id} == set(await subscribers(engine, room))


async def test_who_closed_the_tab(engine: Engine, clock: Clock, room: str) -> None:
    """Somebody dropped for silence is seen where they would be if they came back."""
    await engine.create(room, Policy(mode=Mode.PAUSED, presence_s=60))
    silent, *others = await crowd(engine, room, 4)
    last = others[-1]
    for person in (silent, last):
        await engine.push_subscriptions.put(room, person.id, "x")
    for _ in range(3):
        clock.step(25)
        for person in others[:2]:
            await engine.poll(room, person.ticket)
        await advance_all(engine, room)
    seen = await subscribers(engine, room)
    assert (State.WAITING, 1, True) == (
        seen[silent.id].state,
        seen[silent.id].position,
        seen[silent.id].away,
    )
    assert (3, True) == (seen[last.id].position, seen[last.id].away)
    await engine.poll(room, silent.ticket)
    back = (await subscribers(engine, room))[silent.id]
    assert (1, False) == (back.position, back.away)


async def test_claims(engine: Engine, server: Server, room: str) -> None:
    """When many claim a message, one gets it, even across processes."""
    await engine.create(room, Policy(mode=Mode.PAUSED))
    (person,) = await crowd(engine, room, 1)
    await engine.push_subscriptions.put(room, person.id, "x")
    async with open_engine(server.url) as other:
        claims = await asyncio.gather(
            *(each.push_subscriptions.claim(room, person.id, NEAR) for each in (engine, other) * 5)
        )
    assert 1 == sum(claims)
    assert {NEAR} == (await subscribers(engine, room))[person.id].messages
    assert await engine.push_subscriptions.claim(room, person.id, CALLED)


async def test_turns(engine: Engine, room: str) -> None:
    """One process at a time reads a room."""
    turns = [await engine.push_subscriptions.take_turn(room, 60_000) for _ in range(3)]
    assert [True, False, False] == turns


async def test_many(engine: Engine, room: str) -> None:
    """A crowd is read in steps, and each person once."""
    await engine.create(room, Policy(mode=Mode.PAUSED))
    people = await crowd(engine, room, 700)
    for person in people:
        await engine.push_subscriptions.put(room, person.id, "x" * 500)
    seen = [each.id async for page in engine.push_subscriptions.subscribers(room) for each in page]
    assert sorted(person.id for person in people) == sorted(set(seen))


@pytest.mark.attack
async def test_the_number_is_bounded(
    engine: Engine, room: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full room keeps its subscriptions, accepts newer ones for them, but no other ticket."""
    monkeypatch.setattr(push_subscriptions, "MOST_PER_ROOM", 2)
    puts = [await engine.push_subscriptions.put(room, name, "x") for name in ("a", "b", "c", "a")]
    assert [True, True, False, True] == puts
    assert 0 < await engine.backend.client.ttl(keys.room_key(room, "push"))


@pytest.mark.parametrize("verb", ["clear", "drop"])
async def test_they_go_with_the_room(engine: Engine, room: str, verb: str) -> None:
    """Neither a cleared nor a dropped room notifies anybody, and nothing of it is left."""
    await engine.create(room, Policy(mode=Mode.PAUSED))
    (person,) = await crowd(engine, room, 1)
    await engine.push_subscriptions.put(room, person.id, "x")
    await engine.push_subscriptions.claim(room, person.id, NEAR)
    assert {"push", "pushed"} == await kept(engine, room)
    assert room in await engine.push_subscriptions.rooms()
    await getattr(engine, verb)(room)
    assert set() == await kept(engine, room)
    assert room not in await engine.push_subscriptions.rooms()


async def test_a_room_without_subscribers_is_forgotten(engine: Engine, room: str) -> None:
    """When the last subscription is gone, the room is not read again."""
    await engine.push_subscriptions.put(room, "a", "x")
    await engine.push_subscriptions.claim(room, "a", NEAR)
    await engine.push_subscriptions.remove(room, ["a"])
    assert {} == await subscribers(engine, room)
    assert (set(), False) == (
        await kept(engine, room),
        room in await engine.push_subscriptions.rooms(),
    )
