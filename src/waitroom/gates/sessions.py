"""The sessions that a gate has seen: check, renew, finish, and announce them after a loss.

All calls to Waitroom run on threads of the pool; only a strict check makes a request wait.
"""

from __future__ import annotations

import math
import time
from collections.abc import Generator
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, TypeAlias

from waitroom.gates.announcements import Announcements
from waitroom.gates.decision import GoodPass
from waitroom.gates.health import State
from waitroom.gates.keys import Verifier
from waitroom.gates.options import Options
from waitroom.gates.remote import Remote
from waitroom.gates.transport import NoAnswer, Outcome, Reply, is_verdict
from waitroom.gates.workers import Call

CHECKED_S = 1.0
"""How long a strict gate trusts a reply."""

WATCH_S = 5.0
"""How often a gate checks whether a room has lost its state."""

_AGAIN_S = 15.0  # while a room holds: for sessions seen here after the first announcement
_RETRY_S = 5.0
_MOST = 20_000
_CLOCKS_S = 60.0  # more than clocks may differ: nobody takes a pass that ended before
_OWED_AT_ONCE = 20


class Renewal(NamedTuple):
    """The result of renewing a pass: the new pass, or when to try again."""

    again_at: float
    fresh: GoodPass | None = None


@dataclass(slots=True)
class Check:
    """The last check of a pass: the call, and what its answer said until when."""

    call: Call | None = None
    good: bool = False
    until: float = 0.0


Session: TypeAlias = tuple[str, int] | str
"""Room and number of a session; the text of a pass that has no session, or that is over."""


class Sessions:
    """What a gate knows about sessions beyond their passes."""

    def __init__(self, options: Options, remote: Remote, verifier: Verifier) -> None:
        self._rooms = options.rooms
        self._remote = remote
        self._verifier = verifier
        self._checks: dict[str, Check] = {}
        self._refused: dict[Session, float] = {}
        self._renewals: dict[str, Renewal] = {}
        self._owed: dict[str, GoodPass] = {}
        self._watch_at = 0.0
        self._announcements = Announcements(remote)
        self._announced_at: dict[str, float] = {}

    def still_inside(self, good_pass: GoodPass) -> Generator[Call, Outcome, bool | NoAnswer]:
        """Ask whether a session goes on.

        Without an answer the last refusal stands; where there was none, signature and end decide.
        While Waitroom is slow nobody waits, but its answer counts when it comes. SHED if this gate
        is too busy to ask.
        """
        check = self._check(good_pass)
        now = time.monotonic()
        if now < check.until:
            return check.good
        if check.call is None or check.call.future.done():
            path, then = f"/v1/check?room={good_pass.room}", partial(self._checked, good_pass, now)
            headers = bearer(good_pass.text)
            check.call = self._remote.ask("GET", path, headers=headers, then=then)
        outcome: Outcome = NoAnswer.SLOW
        if self._remote.health.state is not State.SLOW:
            outcome = yield check.call
        if is_verdict(outcome):
            return outcome.status == 204
        if self._is_refused(good_pass):
            return False
        return NoAnswer.SHED if outcome is NoAnswer.SHED else True

    def _check(self, good_pass: GoodPass) -> Check:
        check = self._checks.get(good_pass.text)
        if check is None:
            if len(self._checks) >= _MOST:
                self._checks.clear()
            check = self._checks[good_pass.text] = Check()
        return check

    def _checked(self, good_pass: GoodPass, asked_at: float, outcome: Outcome) -> None:
        if not is_verdict(outcome):
            return
        check = self._check(good_pass)
        check.good, check.until = outcome.status == 204, asked_at + CHECKED_S
        if check.good:
            self._refused.pop((good_pass.room, good_pass.sid), None)
            self._refused.pop(good_pass.text, None)
        else:
            self._refuse(good_pass)

    def _refuse(self, good_pass: GoodPass) -> None:
        """Remember a refusal while its pass could be good; the oldest go if there are too many."""
        if len(self._refused) >= _MOST:
            known = list(self._refused.items())
            over = [session for session, expires_s in known if expires_s < time.time() - _CLOCKS_S]
            for session in over or [session for session, _ in known[: _MOST // 2]]:
                self._refused.pop(session, None)
        self._refused[_session(good_pass)] = good_pass.expires_s

    def _is_refused(self, good_pass: GoodPass) -> bool:
        session = good_pass.room, good_pass.sid
        return session in self._refused or good_pass.text in self._refused

    def renew(self, good_pass: GoodPass) -> Call | None:
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
        def then(outcome: Outcome) -> None:
            if is_verdict(outcome):
                self._owed.pop(good_pass.text, None)

        self._remote.ask("POST", "/v1/passes/finish", headers=bearer(good_pass.text), then=then)

    def _renewed(self, good_pass: GoodPass, reply: Outcome) -> None:
        if not is_verdict(reply):
            return
        text = str(reply.json().get("pass") or "")
        fresh = self._verifier.read(good_pass.room, text, time.time()) if text else None
        if fresh is not None and (fresh.sid != good_pass.sid or fresh.text == good_pass.text):
            fresh = None
        self._renewals[good_pass.text] = Renewal(math.inf, fresh)

    def _watched(self, room: str, reply: Outcome) -> None:
        if not isinstance(reply, Reply) or reply.status != 200:
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


def _session(good_pass: GoodPass) -> Session:
    """Return what a refusal is about: every pass of a session, unless this pass is just over."""
    if good_pass.sid and time.time() < good_pass.expires_s:
        return good_pass.room, good_pass.sid
    return good_pass.text
