"""The recall cache: the fastest path for a request that came before.

A decision for a method, a path and a Cookie header holds until a key changes, or a session ends or
is due for renewal. Looking it up costs a fraction of deciding again.
"""

from __future__ import annotations

import time
from collections.abc import MutableMapping
from typing import Any

from waitroom.gates.decision import GoodPass
from waitroom.gates.gate import Gate
from waitroom.gates.scopes import cookie_of
from waitroom.web.names import CODE

_MOST = 10_000
_LONGEST_COOKIE = 4_096
_CODE = CODE.encode()


class Recall:
    """Passes by request; each holds until a moment, in one generation of keys and sessions."""

    __slots__ = ("_gate", "_known", "_never")

    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self._known: dict[tuple[str, str, bytes], tuple[float, int, GoodPass]] = {}
        self._never = gate.options.strict or gate.options.ends is not None

    def get(self, scope: MutableMapping[str, Any]) -> GoodPass | None:
        """Return the pass of a request that was let through before, if nothing has changed."""
        if not self._known or _CODE in scope["query_string"]:
            return None
        known = self._known.get((scope["method"], scope["path"], cookie_of(scope["headers"])))
        if known is None:
            return None
        until, generation, good_pass = known
        gate, now = self._gate, time.monotonic()
        if generation != gate.verifier.generation or now >= until or now >= gate.due_at:
            return None
        return good_pass

    def put(self, scope: MutableMapping[str, Any], good_pass: GoodPass) -> None:
        """Remember that a request was let through with a pass in its cookie."""
        cookie = cookie_of(scope["headers"])
        if self._never or len(cookie) > _LONGEST_COOKIE or good_pass.text.encode() not in cookie:
            return
        ends_s = min(good_pass.half_s, good_pass.expires_s) - time.time()
        if ends_s <= 0:
            return
        if len(self._known) >= _MOST:
            self._known.clear()
        key = scope["method"], scope["path"], cookie
        self._known[key] = (time.monotonic() + ends_s, self._gate.verifier.generation, good_pass)
