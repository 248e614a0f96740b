"""Polls, joins and checks: nearly all requests, so each asks the engine once and needs no task."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from waitroom.engine import Waiter
from waitroom.server.context import Server
from waitroom.server.http.answers import Answer
from waitroom.server.http.request import VisitorRequest

Shown = Answer | Awaitable[Answer]
"""An answer, or, if it needs another question to the backend, the promise of one."""


class Quick(NamedTuple):
    """The two halves of a request: what is asked, and how the engine's reply becomes an answer.

    `ask` returns False, and has done nothing, if one question is not enough. Both raise as an
    action does.
    """

    ask: Callable[[Server, VisitorRequest, Waiter], bool]
    show: Callable[[Server, VisitorRequest, Any], Shown]


async def take(
    server: Server,
    request: VisitorRequest,
    quick: Quick,
    otherwise: Callable[[Server, VisitorRequest], Awaitable[Any]],
) -> Answer:
    """Do both halves in the caller's task; `otherwise` asks if `ask` does not."""
    future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
    asked = quick.ask(server, request, future)
    shown = quick.show(server, request, await (future if asked else otherwise(server, request)))
    return shown if isinstance(shown, Answer) else await shown
