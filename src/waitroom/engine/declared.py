"""What a file declared for a room when a server last started, stored to notice edits."""

from __future__ import annotations

import json
from typing import Any

from waitroom.engine import keys
from waitroom.engine.runner import Runner
from waitroom.models import Policy


class Declared:
    """The policies that a file last declared."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    async def keep(self, room: str, policy: Policy) -> None:
        """Store what the file says now."""
        await self._runner.command("HSET", keys.DECLARED, room, json.dumps(policy.as_dict()))

    async def last(self, room: str) -> dict[str, Any] | None:
        """Return what the file said last time; None if there was no last time."""
        raw = await self._runner.command("HGET", keys.DECLARED, room)
        try:
            policy = json.loads(raw) if raw else None
        except ValueError:
            return None
        return policy if isinstance(policy, dict) else None
