"""Gates' claims about who a newcomer is: read here, without a question to anybody."""

from __future__ import annotations

import time

from waitroom.engine import ClaimUse
from waitroom.server.context import Server


def use(server: Server, room: str, text: str) -> ClaimUse:
    """Return the account that a claim stands for, in use by this call; or refuse the claim."""
    return server.ring.read_claim(room, text, time.time())
