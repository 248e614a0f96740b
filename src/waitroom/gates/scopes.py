"""ASGI scopes: what is known of a request, and the shortest way for one that came before.

What was decided for a method, a path and a Cookie header holds until a key changes, a session ends
or is due for renewal. Looking that up costs a fraction of deciding anew.
"""

from __future__ import annotations

import time
from collections.abc import MutableMapping
from typing import TYPE_CHECKING, Any

from waitroom.gates.decision import Facts, Held
from waitroom.web.names import CODE

if TYPE_CHECKING:
    from waitroom.gates.gate import Gate

_MOST = 10_000
_LONGEST = 4_096
_CODE = CODE.encode()


def facts_of(scope: MutableMapping[str, Any]) -> Facts:
    """Return what is known of a request."""
    headers, client = scope["headers"], scope.get("client")

    def header(name: str) -> str | None:
        if name == "cookie":
            return cookie_of(headers).decode("latin-1")
        found = [value for key, value in headers if key == name.encode("latin-1")]
        return b", ".join(found).decode("latin-1") if found else None

    scheme = "https" if scope["scheme"] in ("https", "wss") else "http"
    method, query = scope.get("method", "GET"), scope["query_string"].decode("latin-1")
    path, root = scope["path"], scope.get("root_path")
    inner = path[len(root) :] if root and path.startswith(root) else None
    return Facts(method, path, query, scheme, client[0] if client else "", header, inner)


class Recall:
    """Decisions by request; each holds until a moment, in one generation of keys and sessions."""

    __slots__ = ("_gate", "_known", "_never")

    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self._known: dict[tuple[str, str, bytes], tuple[float, int, Held]] = {}
        self._never = gate.options.strict or gate.options.ends is not None

    def get(self, scope: MutableMapping[str, Any]) -> Held | None:
        """Return the pass of a request that was let through before, if nothing has changed."""
        if not self._known or _CODE in scope["query_string"]:
            return None
        key = scope["method"], scope["path"], cookie_of(scope["headers"])
        found = self._known.get(key)
        if found is None:
            return None
        until, generation, held = found
        gate, now = self._gate, time.monotonic()
        if generation != gate.verifier.generation or now >= until or now >= gate.due_at:
            return None
        return held

    def put(self, scope: MutableMapping[str, Any], held: Held) -> None:
        """Remember that a request was let through with a pass in its cookie."""
        cookie = cookie_of(scope["headers"])
        if self._never or len(cookie) > _LONGEST or held.text.encode() not in cookie:
            return
        ends_s = min(held.half_s, held.expires_s) - time.time()
        if ends_s <= 0:
            return
        if len(self._known) >= _MOST:
            self._known.clear()
        key = scope["method"], scope["path"], cookie
        self._known[key] = (time.monotonic() + ends_s, self._gate.verifier.generation, held)


def cookie_of(headers: list[tuple[bytes, bytes]]) -> bytes:
    """Return the Cookie header; HTTP/2 may send it in pieces."""
    found = b""
    for name, value in headers:
        if name == b"cookie":
            found = found + b"; " + value if found else value
    return found
