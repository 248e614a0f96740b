"""How many new places one network gets in a room: all processes count together."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.support.clock import SECRET, Clock, Nobody, open_engine
from tests.support.servers import Server
from waitroom.engine import Engine, Join, NarrowDoor, keys
from waitroom.engine.limited import MOST, LimitedSources
from waitroom.errors import RoomClosed, RoomFull, TooMany
from waitroom.models import Mode, Policy, TicketView
from waitroom.tickets import KeyRing

PER_MINUTE = 3
REFILL_S = 20
WIDER = 16
MOST_SOURCES = 10_000


@pytest.fixture
async def limited(server: Server, clock: Clock, room: str) -> AsyncIterator[Engine]:
    """Return an engine that counts, with a room in which everybody waits."""
    async with open_engine(server.url, clock, joins_per_minute=PER_MINUTE) as engine:
        await engine.create(room, Policy(mode=Mode.PAUSED))
        yield engine


def name(engine: Engine, room: str, address: str = "203.0.113.9") -> str:
    """Return the name of a source."""
    return engine.ring.source_name(room, address, address.rpartition(".")[0])


async def joined(engine: Engine, room: str, number: int, source: str) -> list[bool]:
    """Join this many strangers in one call; tell for each whether they got a place."""
    answers = await engine.join_many(room, [Join(source=source)] * number)
    assert all(isinstance(answer, TicketView | TooMany) for answer in answers)
    return [isinstance(answer, TicketView) for answer in answers]


def elsewhere(engine: Engine, room: str, source: str) -> str:
    """Return a source in another wide network: by chance one of 4,096 has the same two letters."""
    names = (name(engine, room, f"198.51.{number}.1") for number in range(256))
    return next(other for other in names if other[12:] != source[12:])


def sources(room: str) -> str:
    """Return the key of the buckets."""
    return keys.room_key(room, "sources")


@pytest.mark.attack
async def test_processes_count_together(
    limited: Engine, server: Server, clock: Clock, room: str
) -> None:
    """Asking another worker or server does not give more places."""
    source = name(limited, room)
    async with open_engine(server.url, clock, joins_per_minute=PER_MINUTE) as other:
        got = [
            (await joined(engine, room, 1, source))[0]
            for engine in (limited, other, limited, other, limited, other)
        ]
    assert [True] * 3 + [False] * 3 == got
    assert 3 == (await limited.stats(room)).waiting


async def test_a_bucket_refills_evenly(limited: Engine, clock: Clock, room: str) -> None:
    """Three a minute: three at once, then one every twenty seconds; the pause is told."""
    source = name(limited, room)
    assert [True] * 3 + [False] == await joined(limited, room, 4, source)
    clock.step(REFILL_S - 5)
    with pytest.raises(TooMany, match="too many people join") as refusal:
        await limited.join(room, source=source)
    assert 5 == refusal.value.retry_after_s
    clock.step(5)
    assert [True, False] == await joined(limited, room, 2, source)
    clock.step(3_600)
    assert [True] * 3 + [False] == await joined(limited, room, 4, source), "no more is saved up"


async def test_only_new_places_are_charged(limited: Engine, room: str) -> None:
    """Returning with a ticket, or repeating a key, keeps the place, however busy the network is."""
    source = name(limited, room)
    first = await limited.join(room, source=source)
    second = await limited.join(room, visitor="key:abc", source=source)
    for _ in range(5):
        assert 1 == (await limited.join(room, first.ticket, source=source)).position
        assert second.ticket == (await limited.join(room, visitor="key:abc", source=source)).ticket
    twice = [Join(visitor="key:def", source=source)] * 2
    third, again = await limited.join_many(room, twice)
    assert isinstance(third, TicketView)
    assert isinstance(again, TicketView)
    assert (3, third.id) == (third.position, again.id)
    for join in (Join(source=source), Join(visitor="key:ghi", source=source)):
        (refusal,) = await limited.join_many(room, [join])
        assert isinstance(refusal, TooMany)
    assert 1 == (await limited.join(room, first.ticket, source=source)).position
    assert second.ticket == (await limited.join(room, visitor="key:abc", source=source)).ticket


@pytest.mark.attack
async def test_a_place_that_was_given_up_is_not_free_of_charge(limited: Engine, room: str) -> None:
    """Leaving and joining again with the old ticket is a new place each time."""
    source = name(limited, room)
    view = await limited.join(room, source=source)
    for _ in range(PER_MINUTE - 1):
        await limited.leave(room, view.ticket)
        view = await limited.join(room, view.ticket, source=source)
    await limited.leave(room, view.ticket)
    with pytest.raises(TooMany):
        await limited.join(room, view.ticket, source=source)
    assert 0 == (await limited.stats(room)).waiting


async def test_a_refusal_is_of_one_alone(limited: Engine, room: str) -> None:
    """Others of the same call join, in order, and nothing about the refused is written."""
    busy, quiet = name(limited, room), name(limited, room, "198.51.100.1")
    joins = [Join(source=busy)] * 5 + [Join(source=quiet), Join(visitor="kim"), Join()]
    answers = await limited.join_many(room, joins)
    assert [True] * 3 + [False] * 2 + [True] * 3 == [isinstance(a, TicketView) for a in answers]
    places = [answer.position for answer in answers if isinstance(answer, TicketView)]
    assert [1, 2, 3, 4, 5, 6] == places
    stats = await limited.stats(room)
    assert (6, 6) == (stats.waiting, stats.counters["joined"])


async def test_rooms_count_for_themselves(limited: Engine, room: str) -> None:
    """Another room has its own buckets."""
    other = f"{room}-b"
    await limited.create(other, Policy(mode=Mode.PAUSED))
    address = "203.0.113.9"
    assert not all(await joined(limited, room, 4, name(limited, room, address)))
    assert all(await joined(limited, other, 3, name(limited, other, address)))
    await limited.drop(other)
    assert 0 == await limited.backend.client.exists(sources(other))


async def test_refusals_of_the_room_cost_nothing(limited: Engine, room: str) -> None:
    """Anybody who gets no place because the room is full or closed is not charged."""
    source = name(limited, room)
    await limited.configure(room, queue_limit=1)
    await limited.join(room)
    for _ in range(PER_MINUTE + 1):
        with pytest.raises(RoomFull):
            await limited.join(room, source=source)
    await limited.configure(room, mode="closed")
    with pytest.raises(RoomClosed):
        await limited.join(room, source=source)
    await limited.configure(room, mode="paused", queue_limit=None)
    assert [True] * 3 + [False] == await joined(limited, room, 4, source)


async def test_without_a_limit_nothing_is_counted(engine: Engine, room: str) -> None:
    """An engine without `joins_per_minute` writes no buckets."""
    await engine.create(room, Policy(mode=Mode.PAUSED))
    assert [True] * 50 == await joined(engine, room, 50, name(engine, room))
    assert 0 == await engine.backend.client.exists(sources(room))


@pytest.mark.attack
async def test_no_address_is_stored(limited: Engine, room: str) -> None:
    """Reading the backend does not reveal who joined: trying addresses takes the key."""
    await limited.join(room, source=name(limited, room))
    (member,) = await limited.backend.client.zrange(sources(room), 0, -1)
    assert 12 == len(member)
    assert b"203.0.113" not in member
    stranger = KeyRing([b"x" * 32])
    assert not stranger.source_name(room, "203.0.113.9", "203.0.113").startswith(member.decode())
    rooms = [KeyRing([SECRET]).source_name(r, "203.0.113.9", "203.0.113") for r in (room, "b")]
    assert rooms[0] != rooms[1], "nor who joined two rooms"


async def test_buckets_expire(limited: Engine, clock: Clock, room: str) -> None:
    """A silent room keeps no buckets, and a busy one little more than are in use."""
    client = limited.backend.client
    for batch in range(6):
        some = [name(limited, room, f"10.0.{batch}.{number}") for number in range(500)]
        await limited.join_many(room, [Join(source=source) for source in some])
        clock.step(2 * REFILL_S)
    assert 60 < await client.ttl(sources(room)) <= 120
    assert await client.zcard(sources(room)) <= 1_000


@pytest.mark.attack
async def test_endless_networks_do_not_fill_the_memory(
    limited: Engine, clock: Clock, room: str
) -> None:
    """Beyond a number of networks wider ones count, with more tokens, and these are few."""
    client, key = limited.backend.client, sources(room)
    full_at = clock.now_ms + 30_000
    await client.zadd(key, {f"busy-{number:07}": full_at for number in range(MOST_SOURCES)})
    most = PER_MINUTE * WIDER
    got = []
    for number in range(most + 2):
        source = name(limited, room, f"203.0.113.{number}")
        got += await joined(limited, room, 1, source)
    assert [True] * most + [False] * 2 == got
    assert MOST_SOURCES + 1 == await client.zcard(key)
    assert [True] == await joined(limited, room, 1, elsewhere(limited, room, source))
    for block in range(20):
        some = [name(limited, room, f"10.{block}.{number % 250}.1") for number in range(500)]
        await limited.join_many(room, [Join(source=source) for source in some])
    assert await client.zcard(key) <= MOST_SOURCES + 4_096
    clock.step(31)
    assert [True] * 3 + [False] == await joined(limited, room, 4, name(limited, room, "10.0.0.1"))


@pytest.mark.attack
async def test_a_refused_source_is_not_asked_for_again(
    limited: Engine, clock: Clock, room: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until there is a token a flood costs no call, except for people who may have a place."""
    source = name(limited, room)
    ticket = (await limited.join(room, source=source)).ticket
    await joined(limited, room, 3, source)
    with monkeypatch.context() as patch:
        patch.setattr(limited._runner, "visitors", Nobody())
        for _ in range(3):
            with pytest.raises(TooMany) as refusal:
                await limited.join(room, source=source)
            assert REFILL_S == refusal.value.retry_after_s
        for old, visitor in ((ticket, None), (None, "key:abc")):
            with pytest.raises(AssertionError, match="the server was asked"):
                await limited.join(room, old, visitor=visitor, source=source)
        with pytest.raises(AssertionError, match="the server was asked"):
            await limited.join(room, source=name(limited, room, "198.51.100.1"))
        clock.step(REFILL_S)
        with pytest.raises(AssertionError, match="the server was asked"):
            await limited.join(room, source=source)
    assert (await limited.join(room, source=source)).new


async def test_a_lost_room_gives_places_again(limited: Engine, room: str) -> None:
    """What the server has forgotten is not held against anybody."""
    source = name(limited, room)
    await joined(limited, room, 4, source)
    with pytest.raises(TooMany):
        await limited.join(room, source=source)
    await limited.backend.client.delete(*keys.script_keys(room))
    await limited.stats(room)
    assert (await limited.join(room, source=source)).new


async def test_a_clock_that_goes_back_limits_nobody_for_long(
    limited: Engine, clock: Clock, room: str
) -> None:
    """A bucket that claims to be full in an hour is full in a minute."""
    source = name(limited, room)
    score = {source[:12]: clock.now_ms + 3_600_000}
    await limited.backend.client.zadd(sources(room), score)
    (refusal,) = await limited.join_many(room, [Join(source=source)])
    assert isinstance(refusal, TooMany)
    assert refusal.retry_after_s <= 2 * REFILL_S


async def test_joins_at_once_share_one_call(limited: Engine, room: str) -> None:
    """Concurrent joins from one network are batched like others, and three get a place."""
    source = name(limited, room)
    calls: list[Any] = []
    limited.on_script(lambda verb, _, items: calls.append((str(verb), items)))
    answers = await asyncio.gather(
        *(limited.join(room, source=source) for _ in range(9)), return_exceptions=True
    )
    assert 3 == sum(isinstance(answer, TicketView) for answer in answers)
    assert [("join", 9)] == calls


def test_the_memory_of_refused_sources_is_bounded() -> None:
    """Somebody with endless networks only makes a process forget the oldest."""
    limited = LimitedSources()
    for number in range(2 * MOST):
        limited.refuse(f"source-{number}", 10.0)
    assert len(limited) <= MOST
    assert (0.0, 1.0) == (
        limited.wait_s("source-0", 9.0),
        limited.wait_s(f"source-{2 * MOST - 1}", 9.0),
    )
    assert 0.0 == limited.wait_s(f"source-{2 * MOST - 1}", 10.0)


def through(door: NarrowDoor, source: str, number: int) -> list[Join]:
    """Return joins of so many people through a narrow door, each known by a name."""
    return [
        Join(visitor=f"work:{source}:{turn}", source=source, narrow=door) for turn in range(number)
    ]


@pytest.mark.attack
async def test_processes_count_a_narrow_door_together(
    engine: Engine, server: Server, clock: Clock, room: str
) -> None:
    """Its limits hold for all processes together, also where joins are not limited otherwise."""
    await engine.create(room, Policy(mode=Mode.PAUSED))
    joins = through(NarrowDoor(2, 3), name(engine, room), 6)
    async with open_engine(server.url, clock) as other:
        got = []
        for asked, join in zip((engine, other) * 3, joins, strict=True):
            (answer,) = await asked.join_many(room, [join])
            got.append(isinstance(answer, TicketView))
        assert [True, True] + [False] * 4 == got
        again = await other.join_many(room, joins[:2])
    assert [1, 2] == [view.position for view in again if isinstance(view, TicketView)], "a repeat"
    assert [True] * 5 == await joined(engine, room, 5, name(engine, room)), "other doors are open"


@pytest.mark.attack
async def test_the_network_around_shares_a_narrow_door(
    engine: Engine, clock: Clock, room: str
) -> None:
    """Another address of the same network helps as far as the wider limit goes."""
    await engine.create(room, Policy(mode=Mode.PAUSED))
    door = NarrowDoor(2, 3)
    first, second = (name(engine, room, address) for address in ("203.0.113.1", "203.0.113.2"))
    other = elsewhere(engine, room, first)
    joins = [join for source in (first, second, other) for join in through(door, source, 2)]
    answers = await engine.join_many(room, joins)
    got = [isinstance(answer, TicketView) for answer in answers]
    assert [True, True, True, False, True, True] == got
    assert isinstance(answers[3], TooMany)
    assert REFILL_S == answers[3].retry_after_s
    clock.step(REFILL_S)
    (answer,) = await engine.join_many(room, [joins[3]])
    assert isinstance(answer, TicketView), "a bucket that refused took no token from the others"


async def test_a_narrow_door_is_within_the_limit_of_all(limited: Engine, room: str) -> None:
    """It gives no places beyond `joins_per_minute`, and what it gives counts there too."""
    source = name(limited, room)
    answers = await limited.join_many(room, through(NarrowDoor(9, 90), source, PER_MINUTE + 1))
    got = [isinstance(answer, TicketView) for answer in answers]
    assert [True] * PER_MINUTE + [False] == got
    assert [False] == await joined(limited, room, 1, source)


async def test_a_narrow_door_that_is_shut_shuts_no_other(limited: Engine, room: str) -> None:
    """Whoever is refused there is not remembered: their network may still join otherwise."""
    source = name(limited, room)
    await limited.join_many(room, through(NarrowDoor(1, 10), source, 2))
    view = await limited.join(room, source=source)
    assert 2 == view.position
