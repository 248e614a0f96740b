"""Two processes watch the same room: everybody due is told each thing once."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
import pytest_asyncio

from tests.support.attacks import tried
from tests.support.clock import Clock, advance_all, crowd, open_engine
from tests.support.push_service import CONTACT, PushService
from tests.support.servers import Server
from waitroom.engine import Engine
from waitroom.models import BeforeOpen, Policy
from waitroom.moments import from_ms
from waitroom.push.sender import Sender
from waitroom.push.vapid import VapidKey
from waitroom.server.pages.locales import load_locales
from waitroom.server.push.watch import PushWatch
from waitroom.server.rooms.board import Boards

KEY = VapidKey.derived("s" * 40, CONTACT)
MINUTE = Policy(batch=1, every_s=60, enter_within_s=None, presence_s=None, title="Aurora")


@contextlib.asynccontextmanager
async def watching(engine: Engine, service: PushService) -> AsyncIterator[PushWatch]:
    """Return the watch of one process, which looks when told to."""
    sender = Sender(KEY, service.hosts, pauses_s=(0, 0))
    boards, subscriptions = Boards(engine), engine.push_subscriptions
    async with contextlib.aclosing(sender):
        watch = PushWatch(subscriptions, boards, sender, load_locales(None))
        yield watch
        await watch.stop()


@pytest_asyncio.fixture
async def watches(
    engine: Engine, server: Server, clock: Clock, service: PushService
) -> AsyncIterator[list[PushWatch]]:
    """Return the watches of two processes."""
    async with (
        open_engine(server.url, clock) as other,
        watching(engine, service) as first,
        watching(other, service) as second,
    ):
        yield [first, second]


async def look(watches: list[PushWatch], room: str) -> None:
    """Look at a room with all processes at once, and wait for what they send."""
    await asyncio.gather(*(watch.look(room) for watch in watches))
    for watch in watches:
        await watch.drain()


async def subscribe(engine: Engine, service: PushService, room: str, ticket_id: str) -> None:
    """Subscribe a ticket, in Korean, at its own address."""
    browser = service.browser(ticket_id)
    text = browser.subscription(service.hosts, "ko").to_text()
    assert await engine.push_subscriptions.put(room, ticket_id, text)


async def test_near_and_called_once_each(
    engine: Engine, clock: Clock, service: PushService, watches: list[PushWatch], room: str
) -> None:
    """Far back nothing is sent; under three minutes and when called, one message each."""
    await engine.create(room, MINUTE)
    people = await crowd(engine, room, 8)  # the first is called at once
    far, near = people[7], people[1]
    for person in (far, near):
        await subscribe(engine, service, room, person.id)
    await look(watches, room)
    await look(watches, room)
    assert [f"/{near.id}"] == [delivery.path for delivery in service.messages]
    clock.step(60)
    await advance_all(engine, room)
    await look(watches, room)
    await look(watches, room)
    assert [f"/{near.id}"] * 2 == [delivery.path for delivery in service.messages]
    assert 1 == len({delivery.headers["topic"] for delivery in service.messages})


@pytest.mark.attack
async def test_a_message_tells_no_order_before_a_draw(
    engine: Engine, clock: Clock, service: PushService, watches: list[PushWatch], room: str
) -> None:
    """People near the front are told after the opening, because the draw is secret before it."""
    opens_at = from_ms(clock.now_ms + 30_000)
    await engine.create(room, replace(MINUTE, opens_at=opens_at, before_open=BeforeOpen.DRAW))
    people = await crowd(engine, room, 8)
    for person in people:
        await subscribe(engine, service, room, person.id)
    tried(len(people))
    await look(watches, room)
    await engine.configure(room, before_open=BeforeOpen.WAIT)  # people already here stay drawn
    await look(watches, room)
    assert [] == service.got
    clock.step(31)
    await advance_all(engine, room)
    await look(watches, room)
    assert 0 < len(service.got) < len(people)


@pytest.mark.parametrize("status", [404, 410])
async def test_an_ended_subscription_is_dropped(
    engine: Engine, service: PushService, watches: list[PushWatch], room: str, status: int
) -> None:
    """A browser that unsubscribed is not contacted again."""
    await engine.create(room, MINUTE)
    _, person = await crowd(engine, room, 2)
    await subscribe(engine, service, room, person.id)
    service.answers = [(status, "")]
    await look(watches, room)
    assert [] == [page async for page in engine.push_subscriptions.subscribers(room)]
    assert 1 == len(service.messages)


async def test_who_is_gone_is_forgotten(
    engine: Engine, service: PushService, watches: list[PushWatch], room: str
) -> None:
    """People who left are told nothing, and neither is anybody in a dropped room."""
    await engine.create(room, MINUTE)
    _, person = await crowd(engine, room, 2)
    await subscribe(engine, service, room, person.id)
    await engine.leave(room, person.ticket)
    await look(watches, room)
    assert [] == [page async for page in engine.push_subscriptions.subscribers(room)]
    await engine.drop(room)
    await subscribe(engine, service, room, person.id)
    await look(watches, room)
    assert [] == [page async for page in engine.push_subscriptions.subscribers(room)]
    assert [] == service.got
