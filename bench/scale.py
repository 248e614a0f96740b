"""How much is measured: quick by default, FULL=1 for a million people, MILLIONS=10 for more."""

from __future__ import annotations

import os
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Scale:
    """The sizes of one run. The defaults are those of the quick one, which ends within 45 s."""

    waiting: int = 100_000
    small: int = 10_000
    poll_rounds: int = 12
    inside: int = 25_000
    admitted: int = 5_000
    other_keys: int = 100_000
    handovers: int = 64
    keyspace_s: float = 10.0
    call_rounds: int = 5
    full: bool = False

    @classmethod
    def from_environment(cls) -> Scale:
        """Read FULL and MILLIONS."""
        millions = int(os.environ.get("MILLIONS") or 0)
        if not millions and os.environ.get("FULL", "") in ("", "0"):
            return cls()
        return cls(
            waiting=(millions or 1) * 1_000_000,
            poll_rounds=30,
            inside=250_000,
            admitted=50_000,
            other_keys=1_000_000,
            handovers=240,
            keyspace_s=30.0,
            call_rounds=9,
            full=True,
        )
