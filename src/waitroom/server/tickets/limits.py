"""What limits every visitor's request: its time, and the rooms that it may name."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from waitroom.errors import Slow, UnknownRoom
from waitroom.server.context import Server

Reply = TypeVar("Reply")
_DESK = "desk."


async def within(server: Server, work: Awaitable[Reply]) -> Reply:
    """Wait for the backend no longer than an answer may take."""
    try:
        async with asyncio.timeout(server.settings.answer_within_s):
            return await work
    except TimeoutError:
        raise Slow from None


def check_not_desk(room: str) -> None:
    """Refuse the line of a store: only the desk puts people there, so visitors see no such room."""
    if room.startswith(_DESK):
        raise UnknownRoom(room)
