"""Which named users are at the operator page, as stored in Redis: so that each is noted once."""

from __future__ import annotations

import hashlib
import time

from waitroom.engine import keys
from waitroom.engine.runner import Runner

_KNOWN_S = 60.0
"""For this long, a process does not ask again about somebody whom it knows."""

_MOST_KNOWN = 1_000


class UserSessions:
    """Sessions of people named by a proxy; they hold no data and grant no access."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner
        self._known_until: dict[str, float] = {}

    async def begin(self, name: str, lasts_s: int) -> bool:
        """Begin a session; False if there already is one, on any server."""
        now = time.monotonic()
        if now < self._known_until.get(name, 0.0):
            return False
        digest = hashlib.blake2b(name.encode(), digest_size=16).hexdigest()
        key = keys.USER_SESSION + digest
        reply = await self._runner.command("SET", key, "1", "NX", "EX", lasts_s)
        if len(self._known_until) >= _MOST_KNOWN:
            self._known_until.clear()
        self._known_until[name] = now + min(_KNOWN_S, lasts_s)
        return reply is not None
