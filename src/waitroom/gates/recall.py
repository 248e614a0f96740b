"""The recall cache: the fastest path for a request that came before.

A decision for a method, a path, its mount and a Cookie header holds until a key changes, or a
session ends or is due for renewal. Looking it up costs a fraction of deciding again. It is made
without the other headers, which are not a part of the key.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from time import monotonic, time
from typing import Any, TypeAlias

from waitroom.gates.decision import GoodPass
from waitroom.gates.gate import Gate
from waitroom.gates.scopes import cookie_of, facts_of
from waitroom.web.names import CODE

Key: TypeAlias = tuple[str, str, str | None, bytes]
_MOST = 10_000
_LONGEST = 4_096  # path and cookie of a request
_CODE = CODE.encode()


class Recall:
    """Passes by request; each holds until a moment, in one generation of keys and sessions."""

    __slots__ = ("_by_method", "_gate", "_known", "_verifier")

    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self._verifier = gate.verifier
        self._known: dict[Key, tuple[float, object, GoodPass]] = {}
        options = gate.options
        # A header may name another method, which may belong to another room or end the session.
        rooms_differ = options.table.by_method and len(options.rooms) > 1
        ends_differ = options.ends is not None and options.ends.by_method
        self._by_method = rooms_differ or ends_differ

    def get(self, scope: MutableMapping[str, Any]) -> GoodPass | None:
        """Return the pass of a request that was let through before, if nothing has changed."""
        cookie = cookie_of(scope["headers"])
        known = self._known.get((scope["method"], scope["path"], scope.get("root_path"), cookie))
        if known is None:
            return None
        until, generation, good_pass = known
        now = monotonic()
        if now >= until or now >= self._gate.due_at or generation is not self._verifier.generation:
            return None
        query = scope["query_string"]
        return None if query and _CODE in query else good_pass

    def put(self, scope: MutableMapping[str, Any], good_pass: GoodPass) -> None:
        """Remember that a request was let through, if what is in its key suffices for that."""
        method, path, cookie = scope["method"], scope["path"], cookie_of(scope["headers"])
        ends_s = min(good_pass.half_s, good_pass.expires_s) - time()
        if ends_s <= 0 or good_pass.text.encode() not in cookie:
            return
        if self._by_method or len(path) + len(cookie) > _LONGEST:
            return
        generation = self._verifier.generation  # of what is decided next, or older
        only_key = {**scope, "headers": [(b"cookie", cookie)], "query_string": b""}
        visit = self._gate.quick(facts_of(only_key))
        if visit is None or visit.good_pass != good_pass or visit.carries is not None:
            return
        if len(self._known) >= _MOST:
            self._known.clear()
        key = method, path, scope.get("root_path"), cookie
        self._known[key] = (monotonic() + ends_s, generation, good_pass)
