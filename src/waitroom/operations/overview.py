"""Many rooms at a glance: each with its policy and numbers, or with what is wrong with it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from waitroom.engine import Engine
from waitroom.errors import UnknownRoom, WaitroomError
from waitroom.models import Room, Stats

_AT_ONCE = 16

Glance = tuple[Room, Stats] | WaitroomError


async def glance_at(engine: Engine, names: Sequence[str]) -> dict[str, Glance]:
    """Return each room; a broken one does not affect the others."""
    turns = asyncio.Semaphore(_AT_ONCE)

    async def glance(name: str) -> Glance:
        async with turns:
            try:
                stats = await engine.stats(name)
                policy = engine.policy_of(name)  # from that same reply
                if policy is None:
                    raise UnknownRoom(name)
                return Room(name, policy, stats.version, stats.epoch), stats
            except WaitroomError as error:
                return error

    return dict(zip(names, await asyncio.gather(*map(glance, names)), strict=True))
