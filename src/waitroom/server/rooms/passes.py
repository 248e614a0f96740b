"""The passes of a process: made for sessions, and read when a client shows one.

Signing and verifying cost far more than a lookup, so both are cached for as long as the keys stay
the same.
"""

from __future__ import annotations

import time

from waitroom.models import TicketView
from waitroom.passes import Pass, PassKeys

AWAY_PASS_S = 60
"""How long a pass made while the backend is away lasts; by then the backend may be back."""

PASS_S = 86_400
"""How long the pass of an endless session lasts; each status makes a new one."""

_MOST_MADE = 20_000
_MOST_READ = 50_000


class Passes:
    """Makes and reads passes with the current keys."""

    def __init__(self, keys: PassKeys, issuer: str) -> None:
        self.keys = keys
        self.issuer = issuer
        """The issuer: another deployment with the same keys is another issuer."""

        self._made: dict[tuple[str, int | None, int | None], str] = {}
        self._read: dict[str, Pass] = {}

    def replace_keys(self, keys: PassKeys) -> None:
        """Use other keys from now on: passes of a removed key must be refused soon."""
        self.keys = keys
        self._made.clear()
        self._read.clear()

    def of(self, view: TicketView) -> str:
        """Return the pass of a session: the same one until the session's end changes."""
        session = (view.room, view.sid, view.session_ends_at_ms)
        text = self._made.get(session)
        if text is None:
            now_s = time.time()
            ends_ms = view.session_ends_at_ms
            expires_s = now_s + PASS_S if ends_ms is None else ends_ms / 1000
            text = self._sign(view.room, view.id, view.sid or 0, now_s, expires_s)
            if len(self._made) >= _MOST_MADE:
                self._made.clear()
            self._made[session] = text
        return text

    def while_away(self, room: str, ticket_id: str) -> str:
        """Return a short pass without a session, for a room that lets people in uncounted."""
        now_s = time.time()
        return self._sign(room, ticket_id, 0, now_s, now_s + AWAY_PASS_S)

    def read(self, text: str) -> Pass:
        """Return what a pass proves, with its signature, its issuer and its end checked."""
        proof = self._read.get(text)
        now_s = time.time()
        if proof is None or proof.expires_s <= now_s:
            proof = self.keys.verify(text, now_s=now_s, issuer=self.issuer)
            if len(self._read) >= _MOST_READ:
                self._read.clear()
            self._read[text] = proof
        return proof

    def _sign(self, room: str, ticket_id: str, sid: int, now_s: float, expires_s: float) -> str:
        return self.keys.sign(room, ticket_id, sid, int(now_s), int(expires_s), self.issuer)
