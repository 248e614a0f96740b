"""The loops that publish events, for one process: relay, webhooks and archive."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from waitroom.engine import Engine
from waitroom.events.archiving import Archiving
from waitroom.events.relay import Listeners, Relay
from waitroom.server.counters.worker import Counters
from waitroom.server.rooms.backend_health import BackendHealth

if TYPE_CHECKING:
    from waitroom.events.delivery import Delivery  # its packages may be missing

WEBHOOK_NEEDS = ("httpx2", "standardwebhooks")
_MOST_CANCELS = 10


class EventLoops:
    """Relays every room; delivers if the packages are there, and archives if it has a folder."""

    def __init__(
        self, engine: Engine, counters: Counters, health: BackendHealth, archive: Path | None
    ) -> None:
        self._engine = engine
        self._counters = counters
        self._health = health
        self._listeners = Listeners(engine, archives=archive is not None)
        self._relay = Relay(engine, self._listeners, self._wake)
        self._archiving = (
            None if archive is None else Archiving(engine, archive, self._archive_failed)
        )
        self._delivery: Delivery | None = None

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Run until the end."""
        async with self._delivering():
            self._health.on_return.append(self._relay.note_outage)
            loops = [self._relay, self._archiving, self._delivery]
            tasks = [asyncio.create_task(loop.run()) for loop in loops if loop is not None]
            try:
                yield
            finally:
                self._health.on_return.remove(self._relay.note_outage)
                await _end(tasks)

    @contextlib.asynccontextmanager
    async def _delivering(self) -> AsyncIterator[None]:
        if any(find_spec(name) is None for name in WEBHOOK_NEEDS):
            yield
            return
        from waitroom.events.delivery import Delivery
        from waitroom.posting import Poster

        async with contextlib.aclosing(Poster()) as poster:
            delivery = Delivery(self._engine, self._listeners, poster, self._counters.webhooks)
            self._delivery = delivery
            try:
                yield
            finally:
                await delivery.stop()

    def _wake(self, room: str) -> None:
        for follower in (self._archiving, self._delivery):
            if follower is not None:
                follower.wake(room)

    def _archive_failed(self) -> None:
        self._counters.archive_errors += 1


async def _end(tasks: Iterable[asyncio.Task[None]]) -> None:
    """Cancel tasks; repeat it, because a running call may have taken the first for a failure."""
    left = set(tasks)
    for _ in range(_MOST_CANCELS):
        for task in left:
            task.cancel()
        _, left = await asyncio.wait(left, timeout=0.5)
        if not left:
            return
