"""The sessions that a gate has seen: check, renew, finish, and announce them after a loss.

All calls to Waitroom run on threads of the pool; only a strict check makes a request wait.
"""

from __future__ import annotations

import math
import time
from collections.abc import Generator
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from waitroom.gates.announcements import Announcements
from waitroom.gates.decision import GoodPass
from waitroom.gates.keys import Verifier
from waitroom.gates.options import Options
from waitroom.gates.remote import Remote, Reply

if TYPE_CHECKING:
    from concurrent.futures import Future

CHECKED_S = 1.0
"""How long a strict gate trusts a reply."""

WATCH_S = 5.0
"""How often a gate checks whether a room has lost its state."""

_AGAIN_S = 15.0  # while a room holds: for sessions seen here after the first announcement
_RETRY_S = 5.0
_MOST = 20_000
_OWED_AT_ONCE = 20


class Renewal(NamedTuple):
    """The result of renewing a pass: the new pass, or when to try again."""

    again_at: float
    fresh: GoodPass | None = None


class Sessions:
    """What a gate knows about sessions beyond their passes."""

    def __init__(self, options: Options, remote: Remote, verifier: Verifier) -> None:
        self._rooms = options.rooms
        self._remote = remote
        self._verifier = verifier
        self._checked: dict[str, tuple[float, bool]] = {}
        self._renewals: dict[str, Renewal] = {}
        self._owed: dict[str, GoodPass] = {}
        self._watch_at = 0.0
        self._announcements = Announcements(remote)
        self._announced_at: dict[str, float] = {}

    def still_inside(
        self, good_pass: GoodPass
    ) -> Generator[Future[Reply | None], Reply | None, bool]:
        """Ask whether a session goes on; while Waitroom is away, its signature and end decide."""
        until, good = self._checked.get(good_pass.text, (0.0, False))
        now = time.monotonic()
        if now < until:
            return good
        reply = yield self._remote.ask(
            "GET", f"/v1/check?room={good_pass.room}", headers=bearer(good_pass.text)
        )
        if reply is None or reply.status >= 500:
            return True
        good = reply.status == 204
        if len(self._checked) >= _MOST:
            self._checked.clear()
        self._checked[good_pass.text] = (now + CHECKED_S, good)
        return good

    def renew(self, good_pass: GoodPass) -> Future[Reply | None] | None:
        """Begin to renew a session, unless that was just tried or is not possible."""
        known, now = self._renewals.get(good_pass.text), time.monotonic()
        if known is not None and now < known.again_at:
            return None
        if len(self._renewals) >= _MOST:
            self._renewals.clear()
        self._renewals[good_pass.text] = Renewal(now + _RETRY_S)
        then = partial(self._renewed, good_pass)
        return self._remote.ask(
            "POST", "/v1/passes/renew", headers=bearer(good_pass.text), then=then
        )

    def renewed(self, good_pass: GoodPass) -> GoodPass | None:
        """Return the pass that replaces this one, if any."""
        if not self._renewals:
            return None
        known = self._renewals.get(good_pass.text)
        return None if known is None else known.fresh

    def finish(self, good_pass: GoodPass) -> None:
        """End a session; retried until Waitroom has received it."""
        self._verifier.end(good_pass)
        if len(self._owed) < _MOST:
            self._owed[good_pass.text] = good_pass
        self._tell_finished(good_pass)

    def tidy(self, now: float) -> None:
        """Do what is due, about once a second while requests come."""
        for good_pass in list(self._owed.values())[:_OWED_AT_ONCE]:
            self._tell_finished(good_pass)
        self._announcements.send()
        if now >= self._watch_at and self._verifier.has_seen:
            self._watch_at = now + WATCH_S
            for room in self._rooms:
                self._remote.ask("GET", f"/v1/rooms/{room}", then=partial(self._watched, room))

    def _tell_finished(self, good_pass: GoodPass) -> None:
        def then(reply: Reply | None) -> None:
            if reply is not None and reply.status < 500:
                self._owed.pop(good_pass.text, None)

        self._remote.ask("POST", "/v1/passes/finish", headers=bearer(good_pass.text), then=then)

    def _renewed(self, good_pass: GoodPass, reply: Reply | None) -> None:
        if reply is None or reply.status >= 500:
            return
        text = str(reply.json().get("pass") or "")
        fresh = self._verifier.read(good_pass.room, text, time.time()) if text else None
        if fresh is not None and (fresh.sid != good_pass.sid or fresh.text == good_pass.text):
            fresh = None
        self._renewals[good_pass.text] = Renewal(math.inf, fresh)

    def _watched(self, room: str, reply: Reply | None) -> None:
        if reply is None or reply.status != 200:
            return
        if reply.json().get("holding") is True:
            self._announce(room)
        else:
            self._announced_at.pop(room, None)

    def _announce(self, room: str) -> None:
        """Tell Waitroom which sessions of a room go on, and later about those seen since then."""
        now, before = time.monotonic(), self._announced_at.get(room)
        if before is not None and (now - before < _AGAIN_S or not self._announcements.empty):
            return
        self._announced_at[room] = now
        self._announcements.add(self._verifier.live(room, time.time()))


def bearer(token: str) -> dict[str, str]:
    """Return the header that shows a pass or a ticket."""
    return {"authorization": f"Bearer {token}"}
