"""The process that relays events dies by `kill -9` while they flow: none is lost or reordered.

The server is real: its parent starts a new worker for each one that is killed. Meanwhile this
process lets people come and go, and a real receiver takes the messages.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
from collections import defaultdict
from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from standardwebhooks import Webhook as Verifier

from tests.acceptance.tools import Log
from tests.desk.receivers import Got, Receiver, receiving
from tests.support.clock import open_engine
from tests.support.counts import count
from tests.support.figures import say
from tests.support.servers import start_server, wait_for
from tests.support.serving import Serving, command_of, serving
from waitroom.archive import files as archive
from waitroom.archive.files import position_of
from waitroom.engine import Engine
from waitroom.engine.keys import room_key
from waitroom.engine.outbox import START, OutboxEvent
from waitroom.engine.webhooks import Webhook
from waitroom.events import signing
from waitroom.events.relay import wall_ms
from waitroom.models import Policy

ROOMS = ("first", "second", "third")
HOOK, SECRET = "hook1", signing.new_secret()
PAUSE_S = 0.1
"""Between two people of a room, so that events keep flowing without a flood."""

Steps = dict[str, list[str]]
"""What happened to each ticket, in order."""


async def _come_and_go(engine: Engine, room: str, until: asyncio.Event) -> None:
    """Let people in and out one after another, and change the policy now and then."""
    number = 0
    while not until.is_set():
        view = await engine.join(room)
        await engine.enter(room, view.ticket)
        await engine.finish(room, view.ticket)
        number += 1
        if number % 3 == 0:
            await engine.configure(room, capacity=100 + number)
        await asyncio.sleep(PAUSE_S)


@asynccontextmanager
async def _flow(engine: Engine) -> AsyncIterator[None]:
    """Make events happen in all rooms while the block runs."""
    until = asyncio.Event()
    async with asyncio.TaskGroup() as tasks:
        for room in ROOMS:
            tasks.create_task(_come_and_go(engine, room, until))
        try:
            yield
        finally:
            until.set()


async def _under_way(receiver: Receiver) -> Got:
    """Return the next message, which the receiver never answers."""
    receiver.answers.append(None)
    number = len(receiver.got)
    return (await receiver.until(number + 1))[number]


async def _relayed(engine: Engine, room: str) -> None:
    """Wait until the relay has brought something that nobody has read yet."""
    before = await engine.outbox.newest([room])
    async with asyncio.timeout(60):
        while True:
            if await engine.outbox.newest([room]) != before:
                return
            await asyncio.sleep(0.002)


async def _kill(server: Serving, engine: Engine) -> None:
    """Kill the worker; its parent starts another. Its leases end, as they would after 40 s."""
    (worker,) = server.workers
    os.kill(worker, signal.SIGKILL)
    await asyncio.to_thread(wait_for, lambda: not command_of(worker), "the death of a worker")
    leases = [room_key(room, f"lease:{reader}") for room in ROOMS for reader in (HOOK, "archive")]
    for lease in leases:
        await engine.backend.client.delete(lease)
    await asyncio.to_thread(wait_for, lambda: len(server.workers) == 1, "another worker")


async def _caught_up(engine: Engine, folder: Path) -> None:
    """Wait until the relay, the webhook and the archive have everything of every room."""
    async with asyncio.timeout(120):
        while True:
            newest = await engine.outbox.newest(ROOMS)
            readers = {room: await engine.outbox.readers(room) for room in ROOMS}
            told = {room: states[HOOK]["position"] for room, states in readers.items()}
            kept = {room: archive.last_id(folder, room) for room in ROOMS}
            if not await engine.outbox.behind(ROOMS) and told == newest == kept:
                return
            await asyncio.sleep(0.1)


async def _outbox(engine: Engine, room: str) -> list[OutboxEvent]:
    events: list[OutboxEvent] = []
    while page := await engine.outbox.read(room, events[-1].id if events else START):
        events += page
    return events


def _steps(events: Iterable[Any]) -> Steps:
    """Return everybody's steps, as told by the events of an outbox or archive."""
    steps: Steps = defaultdict(list)
    for event in events:
        for person in event.data.get("people", ()):
            steps[person["id"]].append(event.type.removeprefix("people."))
    return steps


def _judge_messages(events: list[OutboxEvent], got: list[Got]) -> int:
    """Fail unless a webhook got every event, in order; return how many were repeated."""
    sent = {f"{event.room}_{event.id}": event for event in events}
    bodies: dict[str, bytes] = {}
    last = (0, 0)
    for message in got:
        name = message.headers["webhook-id"]
        assert Verifier(SECRET).verify(message.body, message.headers)
        assert sent[name].type == Verifier(SECRET).verify(message.body, message.headers)["type"]
        # A repeat has the id of the original, and the same content.
        assert bodies.setdefault(name, message.body) == message.body
        assert last <= position_of(sent[name].id)
        last = position_of(sent[name].id)
    assert [*sent] == [*bodies]
    return len(got) - len(bodies)


async def test_the_relay_is_killed_while_events_flow(tmp_path: Path) -> None:
    """Relay `kill -9`: nothing lost, order per room kept, a repeated event keeps its id."""
    kills, folder, draw = count("relay_kills"), tmp_path / "archive", random.Random(5)
    cut: list[str] = []
    async with AsyncExitStack() as stack:
        backend = stack.enter_context(start_server("valkey", tmp_path / "s"))
        engine = await stack.enter_async_context(open_engine(backend.url))
        receiver = await stack.enter_async_context(receiving())
        await engine.webhooks.put(Webhook(HOOK, receiver.url, SECRET, wall_ms() - 1_000))
        logs = {room: Log(engine.backend.client, room) for room in ROOMS}
        for room in ROOMS:
            await engine.create(room, Policy())
        started = serving(tmp_path, redis_url=backend.url, archive=folder, workers=1)
        server = stack.enter_context(started)
        async with AsyncExitStack() as following:
            for log in logs.values():
                await following.enter_async_context(log.follow())
            async with _flow(engine):
                for number in range(kills):
                    if number % 2:
                        await _relayed(engine, draw.choice(ROOMS))
                    else:
                        cut.append((await _under_way(receiver)).headers["webhook-id"])
                    await _kill(server, engine)
                await receiver.until(len(receiver.got) + 10)  # the last worker is working
            await _caught_up(engine, folder)
        outboxes = {room: await _outbox(engine, room) for room in ROOMS}
    again, total = 0, 0
    for room, events in outboxes.items():
        assert [*range(1, len(events) + 1)] == [event.number for event in events]
        assert "gap" not in {event.type for event in events}
        happened: Steps = defaultdict(list)
        for event in logs[room].events:
            for ticket_id in event.ids:
                happened[ticket_id].append(event.kind)
        assert happened == _steps(events)
        assert {("called", "entered", "ended")} == {tuple(steps) for steps in happened.values()}
        lines = [line for line in archive.read(folder, room) if line.type != "archive.opened"]
        assert [event.id for event in events] == [line.id for line in lines]
        assert happened == _steps(lines)
        messages = [got for got in receiver.got if got.headers["webhook-id"].startswith(room)]
        again, total = again + _judge_messages(events, messages), total + len(events)
    ids = [got.headers["webhook-id"] for got in receiver.got]
    assert all(ids.count(name) > 1 for name in cut), "who was cut off is told again"
    assert again >= len(cut) > 0
    say(f"{kills} kills, {len(cut)} with a message under way; {total} events, {again} told again")
