"""Delivers the outbox to webhooks: in order per webhook and room, one message under way.

How far each webhook has come is stored beside the outbox, and a lease keeps two processes from
delivering the same message at once. A receiver that fails is tried again with longer and longer
pauses; one that hangs delays only its own messages. Events older than a day are dropped, counted,
and reported as a gap; so are events from while a webhook was switched off.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from itertools import takewhile
from typing import Any

from waitroom.engine import Engine
from waitroom.engine.outbox import KEPT_MS, OutboxEvent, number_of
from waitroom.engine.webhooks import Webhook
from waitroom.events import signing
from waitroom.events.follower import LEASE_MS, Follower
from waitroom.events.relay import Clock, Listeners, guarded, wall_ms
from waitroom.moments import from_ms, written
from waitroom.posting import Poster, Undelivered

log = logging.getLogger("waitroom.webhooks")

PER_WEBHOOK = 8
"""Rooms whose messages go to one receiver at the same time."""

IN_A_ROW = 50
"""Messages of a room before it is another room's turn."""

_FIRST_PAUSE_MS, _LONGEST_PAUSE_MS = 1_000, 900_000
_NUMBERS = (
    *("failures", "next_ms", "missed", "missed_ms", "dropped", "skipped", "delivered"),
    *("ok_ms", "error_ms", "oldest_ms"),
)
State = dict[str, Any]
"""How far a webhook has come in a room, and whether it works."""


class Delivery(Follower):
    """Delivers what all webhooks want; `count` gets `delivered`, `failed` or `dropped`."""

    def __init__(
        self,
        engine: Engine,
        listeners: Listeners,
        poster: Poster,
        count: Callable[[str, int], None] = lambda _, __: None,
        clock: Clock = wall_ms,
    ) -> None:
        super().__init__(engine)
        self._listeners = listeners
        self._poster = poster
        self._count = count
        self._clock = clock
        self._webhooks: tuple[Webhook, ...] = ()
        self._under_way: dict[tuple[str, str], asyncio.Task[bool]] = {}

    async def step(self, lap: bool = True) -> None:
        """Deliver what is due; webhooks that are new or changed look at every room."""
        if self._listeners.webhooks != self._webhooks:
            self._webhooks, lap = self._listeners.webhooks, True
            self.look_again()
        await super().step(lap)

    async def follow(self, room: str, newest: str) -> bool:
        """Start what is due in a room; return whether every webhook has all of it."""
        webhooks = [webhook for webhook in self._webhooks if webhook.hears(room)]
        if not webhooks:
            return True
        states, finished = await self.outbox.readers(room), True
        busy = Counter(webhook_id for webhook_id, _ in self._under_way)
        for webhook in webhooks:
            state = fresh(webhook) | states.get(webhook.id, {})
            if state["position"] == newest:
                continue
            finished = False
            key = (webhook.id, room)
            paused = state["next_ms"] > self._clock() and not _is_of_before(webhook, state)
            if not paused and key not in self._under_way and busy[webhook.id] < PER_WEBHOOK:
                busy[webhook.id] += 1
                task = asyncio.create_task(guarded(self._deliver, webhook, room))
                self._under_way[key] = task
                task.add_done_callback(partial(self._landed, key))
        return finished

    def _landed(self, key: tuple[str, str], _: asyncio.Task[bool]) -> None:
        self._under_way.pop(key, None)

    async def drain(self) -> None:
        """Wait until every message under way has its outcome."""
        while self._under_way:
            await asyncio.wait([*self._under_way.values()])

    async def stop(self) -> None:
        """Give up what is under way; the next process sends it again."""
        tasks = [*self._under_way.values()]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=1)

    async def _deliver(self, webhook: Webhook, room: str) -> None:
        token = await self.outbox.lease(room, webhook.id, LEASE_MS)
        if token is None:
            return
        state = fresh(webhook) | (await self.outbox.readers(room)).get(webhook.id, {})
        if _is_of_before(webhook, state):
            state["failures"] = 0
        try:
            for event in await self._next(webhook, room, state):
                went_well = await self._one(webhook, state, event)
                noted = await self.outbox.commit(room, webhook.id, token, state, LEASE_MS)
                # No longer ours, to be tried again later, or not wanted now.
                if not noted or not went_well or not self._is_on(webhook):
                    break
        finally:
            await self.outbox.commit(room, webhook.id, token, state)

    def _is_on(self, webhook: Webhook) -> bool:
        """Return whether a webhook is unchanged: not switched off, changed or removed meanwhile."""
        return webhook in self._listeners.webhooks

    async def _next(self, webhook: Webhook, room: str, state: State) -> Sequence[OutboxEvent]:
        """Return the next event; skip what happened before a webhook was switched on."""
        while True:
            events = await self.outbox.read(room, state["position"], IN_A_ROW)
            early = [*takewhile(lambda event: event.at_ms < webhook.switched_ms, events)]
            for event in early:
                if missed := _skipped(state["position"], event) + webhook.wants(event.type):
                    _miss(state, "skipped", missed)
                state["position"] = event.id
            if not early or len(early) < len(events):
                return events[len(early) :]

    async def _one(self, webhook: Webhook, state: State, event: OutboxEvent) -> bool:
        """Deliver one event, and note in `state` how it went; False if it must be tried again."""
        now_ms, noted_ms = self._clock(), _ms(event.id)
        wanted = webhook.wants(event.type)
        expired = wanted and now_ms - noted_ms > KEPT_MS
        if missed := _skipped(state["position"], event) + expired:
            self._dropped(webhook, state, missed)
            # Counted once, even if the receiver is still down.
            state["position"] = f"{noted_ms}-{event.number - 1}"
        if wanted and not expired:
            try:
                if state["missed"]:
                    await self._post(webhook, *_gap(state, event))
                    state |= {"missed": 0, "missed_ms": 0}
                name, data = f"{event.room}_{event.id}", {"room": event.room, **event.data}
                await self._post(webhook, name, event.type, event.at_ms, data)
            except Undelivered as error:
                self._failed(webhook, state, event, str(error))
                return False
            self._delivered(webhook, state, event)
        state["position"] = event.id
        return True

    def _dropped(self, webhook: Webhook, state: State, count: int) -> None:
        log.error("webhook %s: %d events were dropped after a day", webhook.id, count)
        self._count("dropped", count)
        _miss(state, "dropped", count)

    def _delivered(self, webhook: Webhook, state: State, event: OutboxEvent) -> None:
        self._count("delivered", 1)
        if state["failures"]:
            log.warning("webhook %s works again for room %s", webhook.id, event.room)
        state |= {"ok_ms": self._clock(), "error": "", "oldest_ms": 0, "next_ms": 0, "failures": 0}
        state["delivered"] += 1

    def _failed(self, webhook: Webhook, state: State, event: OutboxEvent, error: str) -> None:
        if not state["failures"]:
            log.warning("webhook %s failed for room %s: %s", webhook.id, event.room, error)
        self._count("failed", 1)
        state["failures"] += 1
        now_ms = self._clock()
        state |= {
            "error": error,
            "error_ms": now_ms,
            "next_ms": now_ms + pause_ms(state["failures"]),
            "oldest_ms": _ms(event.id),
        }

    async def _post(
        self, webhook: Webhook, message_id: str, kind: str, at_ms: int, data: dict[str, Any]
    ) -> None:
        await post(
            self._poster, webhook, message_id, signing.body(kind, at_ms, data), self._clock()
        )


async def post(
    poster: Poster, webhook: Webhook, message_id: str, content: bytes, now_ms: int
) -> None:
    """Post a signed message; Undelivered unless it is answered with 2xx."""
    headers = signing.headers(webhook.secrets(now_ms), message_id, now_ms, content)
    status = (await poster.send(webhook.url, headers, content)).status
    if not 200 <= status < 300:
        raise Undelivered(f"answered {status}")


def fresh(webhook: Webhook) -> State:
    """Return the first state of a webhook in a room: it reads from when it was made."""
    position = f"{webhook.created_ms}-0"
    return {"position": position, "error": "", **dict.fromkeys(_NUMBERS, 0)}


def _miss(state: State, why: str, count: int) -> None:
    """Note that some events will not be sent: the next message tells the receiver."""
    state["missed_ms"] = state["missed_ms"] or _ms(state["position"])
    state["missed"] += count
    state[why] += count


def _is_of_before(webhook: Webhook, state: State) -> bool:
    """Return whether it last failed before it was switched: that no longer counts."""
    return bool(state["error_ms"] < webhook.switched_ms)


def pause_ms(failures: int) -> int:
    """Return the pause after a number of failures in a row: from 1 s to 15 min."""
    longest: int = min(_LONGEST_PAUSE_MS, _FIRST_PAUSE_MS << min(failures - 1, 20))
    return round(longest * random.uniform(0.5, 1))  # noqa: S311 - many may fail at once


def _ms(position: str) -> int:
    return int(position.partition("-")[0])


def _skipped(position: str, event: OutboxEvent) -> int:
    """Return how many entries were dropped from the outbox between a position and an event."""
    before = number_of(position)
    return max(0, event.number - before - 1) if before else 0


def _gap(state: State, event: OutboxEvent) -> tuple[str, str, int, dict[str, Any]]:
    until = _ms(event.id)
    data = {
        "room": event.room,
        "since": written(from_ms(state["missed_ms"])),
        "until": written(from_ms(until)),
        "missed": state["missed"],
    }
    return f"{event.room}_gap_{event.id}", "gap", until, data
