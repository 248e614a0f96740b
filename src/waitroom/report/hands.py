"""What operators did by hand, according to the audit log: they may do what the room may not."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

_LATE_MS = 15_000
"""A line of the audit log may be written this much later than the action."""

_CALLS = ("admit", "call")
_OUT_OF_TURN = ("call", "reinstate")


@dataclass(frozen=True, slots=True)
class Action:
    """One line of the audit log."""

    at_ms: int
    who: str
    way: str
    action: str
    detail: Mapping[str, Any] = field(default_factory=dict)


class Hands:
    """How many were called by hand or with force by when, and who was taken out of turn."""

    def __init__(self, actions: Iterable[Action]) -> None:
        every = sorted(actions, key=lambda action: action.at_ms)
        calls = [action for action in every if action.action in _CALLS]
        self.out_of_turn = frozenset(
            str(action.detail.get("ticket")) for action in every if action.action in _OUT_OF_TURN
        )
        self.forced = sum(_count(action) for action in calls if action.detail.get("force"))
        self._times = [action.at_ms for action in calls]
        self._called = _sums([_count(action) for action in calls])
        self._forced = _sums([_count(a) if a.detail.get("force") else 0 for a in calls])

    def called(self, since_ms: int, until_ms: int) -> int:
        """Return how many were called by hand between two moments, or a little later."""
        low = bisect_right(self._times, since_ms)
        return self._called[bisect_right(self._times, until_ms + _LATE_MS)] - self._called[low]

    def forced_until(self, at_ms: int) -> int:
        """Return how many were called with force until a moment, or a little later."""
        return self._forced[bisect_right(self._times, at_ms + _LATE_MS)]


def _count(action: Action) -> int:
    if action.action == "call":
        return 1
    # If a reply was lost, it is unknown how many people were called: perhaps all.
    count = action.detail.get("called", action.detail.get("count", 0))
    return count if isinstance(count, int) else 0


def _sums(counts: Sequence[int]) -> list[int]:
    return list(accumulate(counts, initial=0))
