"""How much is measured."""

from __future__ import annotations

import os
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Scale:
    """Medians are taken over the rounds."""

    rounds: int
    seconds: int
    timed: int
    """Challenges that are issued and verified under a stopwatch."""

    people: int
    """Visitors with a solution, or without one, under load."""

    solves: int
    """Challenges that a phone and a native solver solve."""

    flood: int
    """Joins without a solution."""

    honest: int
    """Joins with a new one, half of them beside the flood."""

    pairs: int
    """Rounds of joins with a code or a claim, each beside one without."""

    joins: int
    """Joins of such a round."""

    @classmethod
    def from_environment(cls) -> Scale:
        """SMOKE=1 only shows that it runs."""
        if os.environ.get("SMOKE") == "1":
            return cls(3, 1, 100, 500, 3, 300, 240, 2, 500)
        return cls(5, 2, 2_000, 20_000, 40, 10_000, 8_000, 31, 2_000)
