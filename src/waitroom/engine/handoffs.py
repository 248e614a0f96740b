"""One-time codes that hand a session from the waiting page to a site on another host.

Browsers do not send a cookie there, and a pass in a URL would end up in logs and histories. So the
URL carries a code that is worthless once used. Only its hash is stored.
"""

from __future__ import annotations

import json
import secrets
from dataclasses import asdict, dataclass
from hashlib import sha256

from waitroom.engine import keys
from waitroom.engine.runner import Runner
from waitroom.errors import CodeUsed
from waitroom.web.browser_mark import fits

LIFE_S = 60
_LONGEST = 64
_USED = "the code was used before, is too old, for another browser, or never was; go back and enter"


@dataclass(frozen=True, slots=True)
class Handoff:
    """The session that a code stands for."""

    room: str
    ticket_id: str
    sid: int
    ends_at_ms: int | None
    browser: str | None = None
    """The mark of the browser it is for; empty: it is for a program, and a gate refuses it."""


class Handoffs:
    """Makes codes and redeems each once, on any server."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    async def make(self, handoff: Handoff) -> str:
        """Return a new code."""
        code = secrets.token_urlsafe(24)
        value = json.dumps(asdict(handoff))
        await self._runner.command("SET", _key(code), value, "PX", LIFE_S * 1000)
        return code

    async def redeem(self, code: str, secret: str | None = None) -> Handoff:
        """Return what a code stands for: only once, and only for its browser."""
        known = 0 < len(code) <= _LONGEST and await self._runner.command("GET", _key(code))
        # An attempt by somebody else does not use the code up.
        if not known or not fits(Handoff(**json.loads(known)).browser, secret):
            raise CodeUsed(_USED)
        # GETDEL is atomic. If its reply is lost, the code is gone, and the page makes a new one.
        raw = await self._runner.command("GETDEL", _key(code))
        if raw is None:
            raise CodeUsed(_USED)
        return Handoff(**json.loads(raw))


def _key(code: str) -> str:
    return keys.HANDOFF + sha256(code.encode(errors="surrogateescape")).hexdigest()[:40]
