"""On-site codes, which the QR code at a store carries: they show that a guest is there.

A poster's code stays the same, so a photograph of it works too. A rotating code is shown by a
screen at the store, and stays valid long enough to fill in a form. Both are sealed with the
deployment's secret: nobody can forge one, and one store's code is useless at another store.
"""

from __future__ import annotations

import hmac
import time
from collections.abc import Callable

from waitroom.desk.models import OnSite, Store
from waitroom.tickets import KeyRing

ROTATE_S = 60
"""How long a screen shows one code."""

GOOD_S = 600
"""How long a rotating code is valid: guests scan it first, and then fill in a form."""

LONGEST_CODE = 64


class OnSiteCodes:
    """Makes the codes of stores, and checks them."""

    def __init__(self, ring: KeyRing, *, clock: Callable[[], float] = time.time) -> None:
        self._ring = ring
        self._clock = clock

    def current(self, store: Store) -> str | None:
        """Return the code to show at a store now; None if it has none."""
        if store.on_site is OnSite.POSTER:
            return self._seal(store, "poster")
        if store.on_site is OnSite.ROTATING:
            return self._rotating(store, self._slot())
        return None

    def ends_s(self, store: Store) -> int | None:
        """Return when the current code expires, in Unix seconds; None if it does not."""
        rotates = store.on_site is OnSite.ROTATING
        return self._slot() * ROTATE_S + GOOD_S if rotates else None

    def is_good(self, store: Store, code: str | None) -> bool:
        """Return whether whoever shows this code is at the store."""
        if not code or len(code) > LONGEST_CODE:
            return False
        if store.on_site is OnSite.POSTER:
            return _equal(code, self._seal(store, "poster"))
        slot, _, _ = code.partition(".")
        if store.on_site is not OnSite.ROTATING or not slot.isascii() or not slot.isdecimal():
            return False
        age = self._slot() - int(slot)
        # The clock of another server may be a little ahead.
        return -1 <= age < GOOD_S // ROTATE_S and _equal(code, self._rotating(store, int(slot)))

    def _slot(self) -> int:
        return int(self._clock()) // ROTATE_S

    def _rotating(self, store: Store, slot: int) -> str:
        return f"{slot}.{self._seal(store, f'slot {slot}')}"

    def _seal(self, store: Store, purpose: str) -> str:
        # No room has an empty name. A store that is created again has other codes.
        return self._ring.visitor_id("", f"desk-on-site:{store.id}:{store.created_ms}:{purpose}")


def _equal(given: str, expected: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "surrogatepass"), expected.encode())
