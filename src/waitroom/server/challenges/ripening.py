"""A page that ripens: a place after some seconds, for browsers that can solve nothing.

The mark is signed and kept by the browser, so nothing is stored here. It says from when on it
counts, and is bound to a room and an address. Where marks begin, their number is limited.
"""

from __future__ import annotations

import hmac
import re
import secrets
import time
from hashlib import blake2b
from typing import NamedTuple

from waitroom.server.challenges.work import Binding, Unsolved, derived_key
from waitroom.tickets import KeyRing

KEPT_S = 300
"""How long a ripe mark still counts."""

_MARK = re.compile(r"ripe\.(\d{1,12})\.([0-9a-f]{32})\.([0-9a-f]{32})", re.ASCII)


class Mark(NamedTuple):
    """What a good mark says."""

    nonce: str
    left_s: float


class Ripening:
    """Makes marks, and reads them again."""

    __slots__ = ("_key",)

    def __init__(self, ring: KeyRing) -> None:
        self._key = derived_key(ring, "ripening")

    def begin(self, to: Binding, wait_s: int, now_s: float | None = None) -> str:
        """Return a mark that is ripe in `wait_s`."""
        ripe_at = int(time.time() if now_s is None else now_s) + wait_s
        text = f"{ripe_at}.{secrets.token_hex(16)}"
        return f"ripe.{text}.{self._seal(to, text)}"

    def read(self, text: str, to: Binding, now_s: float | None = None) -> Mark:
        """Return what a mark says; `Unsolved` if it is not ours, for somebody else, or too old."""
        match = _MARK.fullmatch(text)
        if match is None:
            raise Unsolved("it is not a mark of a page that ripens")
        ripe_at, nonce, seal = match.groups()
        if not hmac.compare_digest(seal, self._seal(to, f"{ripe_at}.{nonce}")):
            raise Unsolved("its mark was forged, or is for another room or address")
        left_s = int(ripe_at) - (time.time() if now_s is None else now_s)
        if left_s < -KEPT_S:
            raise Unsolved("its mark has expired")
        return Mark(nonce, left_s)

    def nonce(self, text: str, to: Binding, now_s: float | None = None) -> str:
        """Return the nonce of a ripe mark."""
        mark = self.read(text, to, now_s)
        if mark.left_s > 0:
            raise Unsolved(f"its page is ripe in {mark.left_s:.0f} s")
        return mark.nonce

    def _seal(self, to: Binding, text: str) -> str:
        name = f"{to.room} {to.source} {text}".encode()
        return blake2b(name, key=self._key, digest_size=16).hexdigest()
