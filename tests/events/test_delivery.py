"""Webhooks: signed, in order per room, nothing lost while a receiver is down, late ones visible."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import replace
from typing import Any

import pytest
from standardwebhooks import Webhook as Verifier
from standardwebhooks import WebhookVerificationError

from tests.desk.receivers import Receiver, receiving
from tests.events.conftest import WallClock
from tests.support.clock import Clock, open_engine
from tests.support.servers import Server
from waitroom.engine import Engine
from waitroom.engine.outbox import KEPT_MS, number_of
from waitroom.engine.webhooks import Webhook
from waitroom.events import delivery, signing
from waitroom.events.delivery import Delivery
from waitroom.events.relay import Listeners, Relay
from waitroom.models import Mode, Policy
from waitroom.posting import Poster

SECRET = signing.new_secret()


class Post:
    """One process that delivers, and what it counted."""

    def __init__(self, engine: Engine, wall: WallClock, *webhooks: Webhook) -> None:
        self.engine, self.wall = engine, wall
        self.listeners = Listeners(engine)
        self.listeners.webhooks = webhooks
        self.counts: dict[str, int] = {}
        self.poster = Poster(patience_s=5)
        self.relay = Relay(engine, self.listeners, clock=wall)
        self.delivery = Delivery(engine, self.listeners, self.poster, self.count, wall)

    def count(self, name: str, number: int) -> None:
        """Count what happened."""
        self.counts[name] = self.counts.get(name, 0) + number

    async def aclose(self) -> None:
        """Cancel what is under way."""
        await self.delivery.stop()
        await self.poster.aclose()

    async def go(self, *rooms: str) -> None:
        """Relay rooms, and deliver once."""
        for room in rooms:
            await self.relay.relay(room)
            self.delivery.wake(room)
        await self.delivery.step(lap=False)
        await self.delivery.drain()

    async def late(self, webhook: Webhook, room: str) -> tuple[int, int]:
        """Return how many wait for a webhook, and since when the oldest waits."""
        state = (await self.engine.outbox.readers(room))[webhook.id]
        newest = (await self.engine.outbox.newest([room]))[room]
        return number_of(newest) - number_of(state["position"]), state["oldest_ms"]


def webhook(receiver: Receiver, wall: WallClock, *rooms: str, **fields: Any) -> Webhook:
    """Return a webhook to a receiver."""
    return Webhook("hook1", receiver.url, SECRET, wall() - 1_000, rooms, **fields)


def told(receiver: Receiver) -> list[tuple[str, Any]]:
    """Return types of messages, and versions if they have one."""
    messages = [json.loads(got.body) for got in receiver.got]
    return [(message["type"], message["data"].get("version")) for message in messages]


async def change(engine: Engine, room: str, times: int) -> None:
    """Change a room this often."""
    for number in range(times):
        await engine.configure(room, capacity=100 + number)


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    """Run a receiver."""
    async with receiving() as receiver:
        yield receiver


async def test_a_message(engine: Engine, wall: WallClock, room: str, receiver: Receiver) -> None:
    """It has the format of Standard Webhooks, and verifies with that library."""
    await engine.create(room, Policy(capacity=5))
    async with aclosing(Post(engine, wall, webhook(receiver, wall, room))) as post:
        await engine.configure(room, capacity=6)
        await post.go(room)
    (got,) = receiver.got
    message = Verifier(SECRET).verify(got.body, got.headers)
    assert ("room.changed", room) == (message["type"], message["data"]["room"])
    assert {"capacity": {"old": 5, "new": 6}} == message["data"]["changed"]
    assert "Z" == message["timestamp"][-1]
    (event,) = await engine.outbox.read(room, "0-0")
    assert f"{room}_{event.id}" == got.headers["webhook-id"]
    with pytest.raises(WebhookVerificationError):
        Verifier(SECRET).verify(got.body + b" ", got.headers)


async def test_a_rotated_secret(
    engine: Engine, wall: WallClock, room: str, receiver: Receiver
) -> None:
    """For a while both secrets verify, so that a receiver can switch at leisure."""
    await engine.create(room, Policy())
    new = signing.new_secret()
    hook = Webhook(
        "hook1",
        receiver.url,
        new,
        wall() - 9,
        (room,),
        old_secret=SECRET,
        old_until_ms=wall() + 9_000,
    )
    async with aclosing(Post(engine, wall, hook)) as post:
        await change(engine, room, 1)
        await post.go(room)
        wall.step(10)
        await change(engine, room, 2)
        await post.go(room)
    first, last = receiver.got[0], receiver.got[-1]
    assert [Verifier(secret).verify(first.body, first.headers) for secret in (new, SECRET)]
    assert Verifier(new).verify(last.body, last.headers)
    with pytest.raises(WebhookVerificationError):
        Verifier(SECRET).verify(last.body, last.headers)


async def test_rooms_and_types(
    engine: Engine, wall: WallClock, room: str, receiver: Receiver
) -> None:
    """Only what a webhook wants is sent; the rest does not count as pending."""
    hook = webhook(receiver, wall, room, types=("room.paused", "people.called"))
    async with aclosing(Post(engine, wall, hook)) as post:
        for name in (room, f"{room}-2"):
            await engine.create(name, Policy())
            await engine.join(name)
            await engine.configure(name, mode=Mode.PAUSED)
        await post.go(room, f"{room}-2")
        assert ["people.called", "room.paused"] == [kind for kind, _ in told(receiver)]
        newest = (await engine.outbox.newest([room]))[room]
        assert await post.delivery.follow(room, newest)


async def test_a_new_webhook_looks_at_every_room(
    engine: Engine, wall: WallClock, room: str, receiver: Receiver
) -> None:
    """Rooms that were read before anybody listened are read again for a new webhook."""
    hook = webhook(receiver, wall, room)
    await engine.create(room, Policy())
    async with aclosing(Post(engine, wall)) as post:
        await change(engine, room, 1)
        await post.go(room)
        post.listeners.webhooks = (hook,)
        await post.delivery.step(lap=False)
        await post.delivery.drain()
    assert [("room.changed", 2)] == told(receiver)


async def test_down_for_an_hour(
    engine: Engine, wall: WallClock, room: str, receiver: Receiver, caplog: pytest.LogCaptureFixture
) -> None:
    """Nothing is lost, the room's order is kept, late ones are visible; then all is well."""
    hook = webhook(receiver, wall, room, types=("room.changed",))
    await engine.create(room, Policy())
    async with aclosing(Post(engine, wall, hook)) as post:
        receiver.answers = [503] * 7
        for _ in range(7):  # over an hour
            await change(engine, room, 3)
            await post.go(room)
            wall.step(520)
        assert 7 == len(receiver.got)
        assert {("room.changed", 2)} == set(told(receiver))
        waiting, oldest_ms = await post.late(hook, room)
        assert (21, True) == (waiting, wall() - oldest_ms >= 3_600_000)
        state = (await engine.outbox.readers(room))[hook.id]
        assert (7, "answered 503") == (state["failures"], state["error"])
        wall.step(900)
        await post.go(room)
        assert [("room.changed", version) for version in range(2, 23)] == told(receiver)[7:]
        assert (0, 0) == await post.late(hook, room)
    assert {"failed": 7, "delivered": 21} == post.counts
    texts = caplog.text
    assert "failed for room" in texts
    assert "works again" in texts
    assert SECRET not in texts
    assert receiver.url not in texts


@pytest.fixture
def long_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the pauses after failures be longer than a busy machine takes for a few tries."""
    usual = delivery.pause_ms
    monkeypatch.setattr(delivery, "pause_ms", lambda failures: 1_000 * usual(failures))


def test_pauses_grow() -> None:
    """From under a second to a quarter of an hour."""
    assert 500 <= delivery.pause_ms(1) <= 1_000
    assert 450_000 <= delivery.pause_ms(40) <= 900_000


@pytest.mark.usefixtures("long_pauses")
async def test_a_failed_one_is_not_tried_at_once(
    engine: Engine, wall: WallClock, room: str, receiver: Receiver
) -> None:
    """Between two tries there is a pause."""
    await engine.create(room, Policy())
    receiver.answers = [500] * 9
    async with aclosing(Post(engine, wall, webhook(receiver, wall, room))) as post:
        await change(engine, room, 1)
        for _ in range(4):
            await post.go(room)
    assert 1 == len(receiver.got)


async def test_one_that_hangs_delays_only_itself(
    engine: Engine, wall: WallClock, room: str, receiver: Receiver
) -> None:
    """While one receiver does not answer, another gets everything."""
    await engine.create(room, Policy())
    await change(engine, room, 3)
    async with receiving(Receiver(answers=[None] * 9)) as silent:
        hanging = Webhook("silent", silent.url, SECRET, wall() - 1_000, (room,))
        async with aclosing(Post(engine, wall, hanging, webhook(receiver, wall, room))) as post:
            await post.relay.relay(room)
            post.delivery.wake(room)
            await post.delivery.step(lap=False)
            await receiver.until(3)
            await silent.until(1)
            await post.delivery.stop()
    assert 1 == len(silent.got)


async def test_two_processes(
    engine: Engine, server: Server, clock: Clock, wall: WallClock, room: str, receiver: Receiver
) -> None:
    """Two processes share the work: every message once, in order."""
    hook = webhook(receiver, wall, room, types=("room.changed",))
    await engine.create(room, Policy())
    async with (
        open_engine(server.url, clock) as other,
        aclosing(Post(engine, wall, hook)) as first,
        aclosing(Post(other, wall, hook)) as second,
    ):
        for _ in range(5):
            await change(engine, room, 4)
            await asyncio.gather(first.go(room), second.go(room))
        for _ in range(3):
            await asyncio.gather(first.go(room), second.go(room))
    assert [("room.changed", version) for version in range(2, 22)] == told(receiver)


async def test_after_a_day(engine: Engine, wall: WallClock, room: str, receiver: Receiver) -> None:
    """What could not be delivered for a day is dropped and counted, and the receiver is told."""
    hook = webhook(receiver, wall, room, types=("room.changed",))
    await engine.create(room, Policy())
    receiver.answers = [500]
    async with aclosing(Post(engine, wall, hook)) as post:
        await change(engine, room, 3)
        await post.go(room)
        wall.step(KEPT_MS / 1000 + 1)
        await change(engine, room, 1)
        await post.go(room)
        # Ids are the server's time, which did not move, so the newest is as old as the others.
        state = (await engine.outbox.readers(room))[hook.id]
        assert (4, 4) == (state["missed"], state["dropped"])
        assert {"failed": 1, "dropped": 4} == post.counts
        wall.step(-KEPT_MS / 1000)
        await change(engine, room, 1)
        await post.go(room)
    messages = [json.loads(got.body) for got in receiver.got[1:]]
    assert ["gap", "room.changed"] == [message["type"] for message in messages]
    assert (4, room) == (messages[0]["data"]["missed"], messages[0]["data"]["room"])


async def test_off_and_on(
    engine: Engine, clock: Clock, wall: WallClock, room: str, receiver: Receiver
) -> None:
    """Off, nothing is sent; on again it continues from there, after a gap that counts the missed.

    What people did counts too, even if nobody else listens.
    """
    hook = webhook(receiver, wall, room, types=("room.paused", "people.called"))
    await engine.create(room, Policy(mode=Mode.MANUAL))
    tickets = [await engine.join(room) for _ in range(3)]
    async with aclosing(Post(engine, wall, hook)) as post:
        await engine.call(room, tickets[0].id)
        await post.go(room)
        clock.step(1)
        post.listeners.webhooks = (replace(hook, enabled=False, switched_ms=clock.now_ms),)
        await engine.call(room, tickets[1].id)
        await engine.configure(room, mode=Mode.PAUSED)  # and `room.changed`, which it does not want
        await post.go(room)
        assert ["people.called"] == [kind for kind, _ in told(receiver)]
        clock.step(1)
        post.listeners.webhooks = (replace(hook, switched_ms=clock.now_ms),)
        await engine.configure(room, mode=Mode.MANUAL)
        await engine.call(room, tickets[2].id)
        await post.go(room)
        await post.go(room)
    messages = [json.loads(got.body) for got in receiver.got[1:]]
    assert ["gap", "people.called"] == [message["type"] for message in messages]
    assert (2, room) == (messages[0]["data"]["missed"], messages[0]["data"]["room"])
    state = (await engine.outbox.readers(room))[hook.id]
    assert (2, 0, 2) == (state["skipped"], state["dropped"], state["delivered"])
    assert {"delivered": 2} == post.counts


@pytest.mark.usefixtures("long_pauses")
async def test_on_again_it_is_tried_at_once(
    engine: Engine, clock: Clock, wall: WallClock, room: str, receiver: Receiver
) -> None:
    """A pause after a failure before the switch does not count."""
    hook = webhook(receiver, wall, room, types=("room.changed",))
    await engine.create(room, Policy())
    receiver.answers = [500]
    async with aclosing(Post(engine, wall, hook)) as post:
        await change(engine, room, 1)
        await post.go(room)
        await change(engine, room, 2)
        await post.go(room)
        assert 1 == len(receiver.got)
        clock.step(1)
        post.listeners.webhooks = (replace(hook, switched_ms=clock.now_ms),)
        await change(engine, room, 3)
        await post.go(room)
    assert [("gap", None), ("room.changed", 5)] == told(receiver)[1:3]


async def test_addresses_are_checked(
    engine: Engine, wall: WallClock, room: str, receiver: Receiver
) -> None:
    """A metadata service is never contacted, whoever entered its address."""
    await engine.create(room, Policy())
    hook = Webhook("hook1", "http://169.254.169.254/latest", SECRET, wall() - 1_000, (room,))
    async with aclosing(Post(engine, wall, hook)) as post:
        await change(engine, room, 1)
        await post.go(room)
    state = (await engine.outbox.readers(room))[hook.id]
    assert "not allowed" in state["error"]
    assert [] == receiver.got


async def test_secrets_are_not_shown(
    wall: WallClock, room: str, receiver: Receiver, caplog: pytest.LogCaptureFixture
) -> None:
    """A webhook in a log or a traceback does not show address or secret."""
    hook = webhook(receiver, wall, room)
    logging.getLogger("waitroom").error("%r %s", hook, [hook])
    assert SECRET not in caplog.text
    assert receiver.url not in caplog.text
