"""How much is measured: quick by default, FULL=1 for a million people, SMOKE=1 to see it run."""

from __future__ import annotations

import os
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Scale:
    """The sizes of one run. The defaults are those of the quick one, which ends within 80 s."""

    waiting: int = 50_000
    tickets: int = 50_000
    inside: int = 200
    rounds: int = 3
    poll_s: int = 1
    other_s: int = 1
    paced_s: float = 3.0
    streams: int = 5_000
    batches: int = 20
    idle: int = 10_000
    stalls: int = 3
    full: bool = False

    @classmethod
    def from_environment(cls) -> Scale:
        """Read FULL and SMOKE."""
        if os.environ.get("SMOKE", "") not in ("", "0"):
            return cls(
                waiting=2_000,
                tickets=1_000,
                inside=20,
                rounds=1,
                poll_s=1,
                paced_s=0.5,
                streams=50,
                batches=5,
                idle=200,
                stalls=1,
            )
        if os.environ.get("FULL", "") in ("", "0"):
            return cls()
        return cls(
            waiting=1_000_000,
            tickets=250_000,
            inside=2_000,
            rounds=7,
            poll_s=5,
            other_s=3,
            paced_s=15.0,
            batches=40,
            full=True,
        )
