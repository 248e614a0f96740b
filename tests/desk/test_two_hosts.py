"""Two hosts on one line, each with their own process: nobody is called twice or skipped."""

from __future__ import annotations

import asyncio
import random
import secrets
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from tests.desk.desks import DINE, check_agreement, crowd, join, new_store, opened
from tests.support.clock import Clock
from tests.support.counts import count
from tests.support.servers import Server
from waitroom.desk.desk import Desk
from waitroom.desk.inputs import Wish
from waitroom.desk.models import Action, Party, Status, Store
from waitroom.errors import PartyMoved, WrongStatus

Hosts = tuple[Desk, Desk]


@pytest.fixture
async def hosts(
    database_url: str, tmp_path: Path, valkey: Server, clock: Clock
) -> AsyncIterator[Hosts]:
    """Open two desks, each with its own database connections and its own engine."""
    async with AsyncExitStack() as stack:
        first, second = [
            await stack.enter_async_context(opened(database_url, tmp_path, valkey.url, clock))
            for _ in range(2)
        ]
        yield first, second


async def register(desk: Desk, store: Store, clock: Clock) -> Party:
    """Write a party only to the record, because the line can be rebuilt from it at once."""
    clock.step(1)
    return await desk.record.register(store.id, DINE, Wish(size=2), secrets.token_urlsafe(12))


async def test_next_at_the_same_moment(hosts: Hosts, clock: Clock) -> None:
    """Both say "next" at once, repeatedly: two parties are called, the first two."""
    first_host, second_host = hosts
    rounds = count("desk_calls")
    store = await new_store(first_host)
    parties = [await register(first_host, store, clock) for _ in range(2 * rounds)]
    await first_host.repair(store.id)
    expected = iter(parties)
    for _ in range(rounds):
        calls = [desk.call_next(store.id, DINE, by="host") for desk in hosts]
        called = [party.id for party in await asyncio.gather(*calls) if party is not None]
        assert sorted([next(expected).id, next(expected).id]) == sorted(called)
    assert None is await second_host.call_next(store.id, DINE, by="host")
    assert {Status.CALLED} == {
        party.status for party in await first_host.record.live(store.id, DINE)
    }
    await check_agreement(second_host, store)


async def test_a_busy_evening(hosts: Hosts, clock: Clock) -> None:
    """While guests come and go and both hosts call, each party is called once and in order."""
    rng = random.Random(11)
    store = await new_store(hosts[0], max_defers=0)
    called: list[Party] = []

    async def call(desk: Desk) -> None:
        party = await desk.call_next(store.id, DINE, by="host")
        if party is not None:
            called.append(party)

    async def leave(desk: Desk, party: Party) -> None:
        try:
            await desk.act(store.id, party.id, Action.CANCEL, by="host")
        except WrongStatus:  # called and gone meanwhile
            return

    for _ in range(count("desk_calls") // 5):
        clock.step(1)
        live = await hosts[0].record.live(store.id, DINE)
        work = [call(desk) for desk in hosts]
        work += [_join(rng.choice(hosts), store) for _ in range(rng.randint(1, 4))]
        work += [leave(rng.choice(hosts), rng.choice(live))] if live else []
        rng.shuffle(work)
        await asyncio.gather(*work)
    ids = [party.id for party in called]
    assert len(ids) == len(set(ids))
    for desk in hosts:
        await check_agreement(desk, store)
    left = [
        party
        for party in await hosts[0].record.live(store.id, DINE)
        if party.status is Status.WAITING
    ]
    assert max(party.sort_key for party in called) < min(party.sort_key for party in left)


async def _join(desk: Desk, store: Store) -> None:
    await join(desk, store)


async def test_only_the_one_whom_the_host_saw(hosts: Hosts, clock: Clock) -> None:
    """A host who saw somebody as the next party does not call another by mistake."""
    first_host, second_host = hosts
    store = await new_store(first_host)
    first, second, _ = await crowd(first_host, store, clock, 3)
    calls = [
        desk.call_next(store.id, DINE, by="host", expected=first.id, op_id=f"tap-{n}")
        for n, desk in enumerate(hosts)
    ]
    answers = await asyncio.gather(*calls, return_exceptions=True)
    assert 1 == sum(isinstance(answer, PartyMoved) for answer in answers)
    assert [first.id] == [answer.id for answer in answers if isinstance(answer, Party)]
    again = await second_host.call_next(store.id, DINE, by="host", expected=second.id)
    assert again is not None
    assert second.id == again.id
    await check_agreement(first_host, store)


async def test_a_repeated_call_is_one_call(hosts: Hosts, clock: Clock) -> None:
    """A tap that the network repeats, at either server, calls and joins once."""
    store = await new_store(hosts[0])
    await crowd(hosts[0], store, clock, 3)
    calls = [desk.call_next(store.id, DINE, by="host", op_id="tap") for desk in hosts * 3]
    assert 1 == len({party.id for party in await asyncio.gather(*calls) if party})
    joins = [desk.join(store.id, DINE, Wish(size=2), op_id="join") for desk in hosts * 3]
    assert 1 == len({token for _, token in await asyncio.gather(*joins)})
    assert 4 == len(await hosts[0].record.live(store.id, DINE))
    await check_agreement(hosts[1], store)
