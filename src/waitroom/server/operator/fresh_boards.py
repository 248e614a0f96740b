"""The boards of many rooms as they are now: a stale one is renewed before anybody sees it.

A room whose node hangs holds up nobody for long: after `PATIENCE_S` the page shows what is known.
"""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from waitroom.errors import UnknownRoom, WaitroomError
from waitroom.server.context import Server
from waitroom.server.rooms.board import Board

PATIENCE_S = 1.5
"""How long a page waits for the numbers of its rooms."""

_FRESH_S = 3.0  # boards in use are renewed once a second
_AT_ONCE = 16


@dataclass(frozen=True, slots=True)
class Missing:
    """A room of which nothing can be shown: `why` is the error, or empty if no answer came yet."""

    name: str
    why: str
    is_quiet: ClassVar[bool] = False

    @property
    def level(self) -> str:
        """How bad that is: an answer that has not come yet may only be late."""
        return "bad" if self.why else "warn"


async def load(server: Server, rooms: Iterable[str]) -> list[Board | Missing]:
    """Return the boards of these rooms; names that have no room any more are left out."""
    names, errors = list(rooms), dict[str, WaitroomError]()
    # By node, so that one that hangs does not take the turns of the others.
    turns = defaultdict[str, asyncio.Semaphore](lambda: asyncio.Semaphore(_AT_ONCE))

    async def renew(name: str) -> None:
        async with turns[server.engine.node_of(name)]:
            try:
                await server.boards.renew(name)
            except WaitroomError as error:
                errors[name] = error

    tasks = [asyncio.create_task(renew(name)) for name in names if _is_stale(server, name)]
    if tasks:
        _, late = await asyncio.wait(tasks, timeout=PATIENCE_S)
        for task in late:
            task.cancel()
    for name in names:
        server.boards.want(name)
    return [
        server.boards.known.get(name) or Missing(name, str(errors.get(name, "")))
        for name in names
        if not isinstance(errors.get(name), UnknownRoom)
    ]


def _is_stale(server: Server, name: str) -> bool:
    board = server.boards.known.get(name)
    if server.backend_health.is_away(name):
        return False  # nobody would answer; what is known is shown
    return board is None or time.monotonic() - board.fresh_at > _FRESH_S
