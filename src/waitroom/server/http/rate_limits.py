"""How often a caller may send requests: a token bucket per address, or per IPv6 network.

Counts are kept per process: with N workers an address gets up to N times the limit. They protect
the server from one careless or hostile caller, and decide nothing about the line: the room itself
counts new places.
"""

from __future__ import annotations

import time
from collections.abc import Callable

_MOST_ADDRESSES = 50_000


class Buckets:
    """A bucket of tokens per name, refilled evenly; at most `most` names are remembered."""

    def __init__(
        self,
        per_minute: int,
        burst: int | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._rate = per_minute / 60
        self._burst = float(max(1, burst or per_minute))
        self._clock = clock
        self._full_at: dict[str, float] = {}

    def take(self, name: str) -> float:
        """Take a token; return 0, or how many seconds until there is one."""
        if self._rate <= 0:
            return 0.0
        now = self._clock()
        # The time at which the bucket is full again shows how many tokens are missing.
        full_at = max(now, self._full_at.pop(name, 0.0))
        late = full_at + 1 / self._rate - now - self._burst / self._rate
        if late > 1e-9:
            self._full_at[name] = full_at
            return late
        self._full_at[name] = full_at + 1 / self._rate
        if len(self._full_at) > _MOST_ADDRESSES:
            self._forget(now)
        return 0.0

    def _forget(self, now: float) -> None:
        """Forget full buckets, and if that is not enough the longest unused ones."""
        kept = {name: at for name, at in self._full_at.items() if at > now}
        for name in list(kept)[: max(0, len(kept) - _MOST_ADDRESSES // 2)]:
            del kept[name]
        self._full_at = kept
