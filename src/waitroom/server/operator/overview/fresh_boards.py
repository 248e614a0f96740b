"""The current boards of many rooms: a stale one is renewed before it is shown.

A room whose node hangs delays nobody for long: after `PATIENCE_S` the page shows what is known.
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
    """A room that cannot be shown: `why` is the error, or empty if no answer has come yet."""

    name: str
    why: str
    is_quiet: ClassVar[bool] = False

    @property
    def level(self) -> str:
        """How bad that is: an answer that is still missing may only be late."""
        return "bad" if self.why else "warn"


async def load(server: Server, rooms: Iterable[str]) -> list[Board | Missing]:
    """Return the boards of these rooms; names without a room are left out."""
    names, errors = list(rooms), dict[str, WaitroomError]()
    # Grouped by node, so that a node that hangs does not delay the others.
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
        return False  # there would be no answer; show what is known
    return board is None or time.monotonic() - board.fresh_at > _FRESH_S
