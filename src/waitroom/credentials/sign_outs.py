"""Sessions that were signed out before their time: their cookies are refused from then on.

A session's cookie is signed and valid until its end, so nothing is stored about who is signed in.
Only a sign-out is stored, and no longer than the cookie would have been valid. Subclasses decide
where.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod

FRESH_S = 0.5
"""How long a session counts as not signed out without asking again."""

_MOST_KEPT = 1_000


class SignOuts(ABC):
    """Sign-outs of one kind of session, as all processes know them."""

    def __init__(self) -> None:
        self._good_until: dict[str, float] = {}

    async def add(self, session_id: str, ends_s: int) -> None:
        """Refuse a session from now on; other processes follow within `FRESH_S`."""
        lasts_s = ends_s - int(time.time()) + 1
        self._good_until.pop(session_id, None)
        if lasts_s > 0:
            await self.write(session_id, lasts_s)
        self._good_until.pop(session_id, None)  # a check may have been under way

    async def has(self, session_id: str) -> bool:
        """Return whether a session was signed out."""
        asked = time.monotonic()
        if asked < self._good_until.get(session_id, 0.0):
            return False
        if await self.read(session_id):
            return True
        if len(self._good_until) >= _MOST_KEPT:
            self._good_until.clear()
        self._good_until[session_id] = asked + FRESH_S
        return False

    @abstractmethod
    async def write(self, session_id: str, lasts_s: int) -> None:
        """Store a sign-out for as long as the session would have lasted."""

    @abstractmethod
    async def read(self, session_id: str) -> bool:
        """Return whether a sign-out is stored."""
