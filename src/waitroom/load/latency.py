"""Durations in buckets 5 % apart: small however many there are, and easy to add up."""

from __future__ import annotations

from collections import Counter
from math import ceil, log

_STEP = log(1.05)
_LEAST_S = 1e-5


class Latency:
    """A histogram of durations."""

    def __init__(self, buckets: dict[int, int] | None = None, most_s: float = 0.0) -> None:
        self.buckets = Counter(buckets or {})
        self.most_s = most_s

    def add(self, seconds: float) -> None:
        """Count one duration."""
        self.buckets[ceil(log(max(seconds, _LEAST_S) / _LEAST_S) / _STEP)] += 1
        self.most_s = max(self.most_s, seconds)

    def merge(self, other: Latency) -> None:
        """Add another histogram."""
        self.buckets += other.buckets
        self.most_s = max(self.most_s, other.most_s)

    @property
    def count(self) -> int:
        """How many durations there are."""
        return self.buckets.total()

    def at(self, share: float) -> float | None:
        """Return the percentile (0.5 is the median) in seconds; None if there are no durations."""
        left = share * self.count
        for bucket in sorted(self.buckets):
            left -= self.buckets[bucket]
            if left <= 1e-9:
                return min(float(_LEAST_S * 1.05**bucket), self.most_s)
        return self.most_s if self.count else None
