"""Tells guests, through a store's webhook, that few teams are ahead and that they are called.

Two loops in every process, and a host waits for neither: `watch` compares the record with the
outbox, and `deliveries` sends what is in it (`webhook`). Several processes share the
outbox; each notice belongs to one of them at a time.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
from collections.abc import Awaitable, Callable
from typing import Self

from waitroom.desk.models import Party
from waitroom.desk.notify.deliveries import Deliveries, short
from waitroom.desk.notify.outbox import Outbox
from waitroom.desk.notify.watch import LAP_S, Watch
from waitroom.desk.notify.webhook import Poster
from waitroom.desk.record.record import Record
from waitroom.engine import Engine
from waitroom.posting import PATIENCE_S

log = logging.getLogger("waitroom.desk.notify.loops")

LOOK_S = 0.25
"""How often lines are checked for changes."""

DUE_S = 1.0
"""How often the outbox is checked for notices that another process left behind."""

_LEAVE_S = 1.0
_BACK_OFF_S = 2.0


class Notifier:
    """Watches the lines and sends the notices: `async with Notifier(...): ...`.

    `token_of` makes the token of a party. `public_url` is how guests reach the pages; without it
    notices carry the path alone.
    """

    def __init__(
        self,
        record: Record,
        engine: Engine,
        token_of: Callable[[Party], str],
        *,
        public_url: str | None = None,
        patience_s: float = PATIENCE_S,
        lap_s: float = LAP_S,
    ) -> None:
        outbox = Outbox(record.database)
        self._due = asyncio.Event()
        self._stopping = asyncio.Event()
        self._poster = Poster(patience_s)
        self._watch = Watch(record, engine, outbox, lap_s)
        self._deliveries = Deliveries(
            record, token_of, outbox, self._poster, public_url, self._due.set
        )
        self._loops: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        self._loops = [
            asyncio.create_task(self._run(self._look, LOOK_S)),
            asyncio.create_task(self._run(self._deliveries.step, DUE_S, self._due)),
        ]
        return self

    async def __aexit__(self, *exc: object) -> None:
        self._stopping.set()
        self._due.set()
        # Let running deliveries finish; any process sends the others again after their lease.
        pending = {*self._loops, *self._deliveries.under_way}
        _, pending = await asyncio.wait(pending, timeout=_LEAVE_S)
        while pending:
            for task in pending:
                task.cancel()
            _, pending = await asyncio.wait(pending, timeout=_LEAVE_S)
        await self._poster.aclose()

    async def _look(self) -> None:
        if await self._watch.step():
            self._due.set()

    async def _run(
        self,
        step: Callable[[], Awaitable[object]],
        pause_s: float,
        wake: asyncio.Event | None = None,
    ) -> None:
        """Repeat a step until the end; log a failing step once, and try it again."""
        failed = False
        while not self._stopping.is_set():
            if wake is not None:
                wake.clear()
            try:
                await step()
                failed = False
            except Exception as error:
                if not failed:
                    log.warning("webhooks wait: %s", short(error))
                failed = True
            # Jitter, so that processes do not all look in the same millisecond.
            pause = (_BACK_OFF_S if failed else pause_s) * random.uniform(0.8, 1.2)  # noqa: S311
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await (self._stopping if failed or wake is None else wake).wait()
