"""Puzzles for proofs of work, made ahead: their key is nearly all that issuing a challenge costs.

A puzzle knows neither room nor address, so it can be made before anybody asks. From the first
challenge on a few thousand are kept ready, made one at a time between other requests. A flood that
solves nothing then takes them from here, instead of keeping honest visitors waiting while a key is
derived for each of its requests. Each is given once: whoever solves it is known by its nonce.

They are kept by the stretch of counters in which their solution lies, each as long as the lowest
price. For a price of n stretches one of them is drawn, so every counter is as likely as any other,
and when the price rises in a rush the puzzles of the quiet time still serve.
"""

from __future__ import annotations

import asyncio
import os
from collections import defaultdict, deque
from hashlib import pbkdf2_hmac
from secrets import randbelow
from typing import NamedTuple

from waitroom.server.challenges import price

KEY = 32
"""Bytes of a key."""

KEPT = 4_000
"""Puzzles that are ready for the price of now: about 1 MB, and at most 4 after all prices."""

SPARE = 100
"""Puzzles of each other stretch, for when the price rises."""

EVERY_S = 0.002
"""One puzzle takes 75 µs (`make bench-fair`), so at most 4 % of a core goes into making them."""

_NONCE = 16
_DRAWN = 2 * _NONCE + 8  # nonce, salt, and enough that every counter is as likely as any other


class Puzzle(NamedTuple):
    """What a solver gets, and the key that it looks for."""

    nonce: bytes
    salt: bytes
    key: bytes


def new_puzzle(counters: int, first: int = 0) -> Puzzle:
    """Return a puzzle whose solution is one of so many counters, from `first` on."""
    drawn = os.urandom(_DRAWN)  # one call to the system for all that is random
    nonce, salt = drawn[:_NONCE], drawn[_NONCE : 2 * _NONCE]
    counter = first + int.from_bytes(drawn[2 * _NONCE :], "big") % counters
    password = nonce + counter.to_bytes(4, "big")
    return Puzzle(nonce, salt, pbkdf2_hmac("sha256", password, salt, price.COST, KEY))


class Puzzles:
    """The puzzles of one process, on its event loop. Without a running loop none are made ahead."""

    __slots__ = ("_ready", "_timer", "_wanted")

    def __init__(self) -> None:
        # Filled on a running loop alone, which no fork survives: no two processes have the same.
        self._ready: defaultdict[int, deque[Puzzle]] = defaultdict(deque)
        self._wanted = 0  # stretches of the price that was asked for last
        self._timer: asyncio.TimerHandle | None = None

    def ready(self, counters: int) -> int:
        """Return how many puzzles of a price are ready, whichever stretches are drawn."""
        return min([len(self._ready[at]) for at in range(counters // price.FLOOR)])

    def take(self, counters: int) -> Puzzle:
        """Return a puzzle that nobody else gets."""
        stretches, rest = divmod(counters, price.FLOOR)
        if rest or not stretches:  # no price of ours
            return new_puzzle(counters)
        self._wanted = stretches
        if self._timer is None:
            self._make_soon()
        at = randbelow(stretches)
        # Only if every stretch has one: otherwise a quick answer would tell that the solution is in
        # a stretch of which there are still some.
        if self.ready(counters):
            return self._ready[at].popleft()
        return new_puzzle(price.FLOOR, at * price.FLOOR)

    def close(self) -> None:
        """Make no more."""
        if self._timer is not None:
            self._timer.cancel()

    def _make_soon(self) -> None:
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:  # not in a server
            return
        self._timer = loop.call_later(EVERY_S, self._make)

    def _make(self) -> None:
        """Make one for the stretch that has the fewest, first of those that are in use."""
        self._timer = None
        all_ = price.CEILING // price.FLOOR
        for stretches, enough in ((self._wanted, KEPT // self._wanted), (all_, SPARE)):
            at = min(range(stretches), key=lambda each: len(self._ready[each]))
            if len(self._ready[at]) < enough:
                self._ready[at].append(new_puzzle(price.FLOOR, at * price.FLOOR))
                self._make_soon()
                return
