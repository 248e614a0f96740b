"""What a plan starts from, checked: by default the figures of the document's example.

An impossible figure is refused, with its name and what is allowed, before any computation.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from waitroom.errors import InvalidInput

MOST_PEOPLE = 1_000_000_000
MOST_SECONDS = 366 * 86_400
"""The same as the highest values of a policy, because the plan becomes a policy."""


@dataclass(frozen=True, slots=True)
class _Range:
    """The allowed range of a field; `above` and `below` exclude the end itself."""

    low: float
    high: float
    above: bool = False
    below: bool = False
    whole: bool = False
    seconds: bool = False
    hint: str = ""

    def holds(self, value: float) -> bool:
        """Return whether a number is in the range."""
        high_enough = value > self.low if self.above else value >= self.low
        return high_enough and (value < self.high if self.below else value <= self.high)

    def __str__(self) -> str:
        kind = "a whole number" if self.whole else "a number"
        low = f"above {self.low:g}" if self.above else f"of {self.low:g} or more"
        high = f"below {self.high:g}" if self.below else f"up to {self.high:,.0f}"
        unit = " seconds" if self.seconds else ""
        return f"it takes {kind} {low} and {high}{unit}{self.hint}"


_SHARE = "; write 80 % as 0.8"
_RANGES = {
    "tps": _Range(0, 1_000_000_000, above=True),
    "session_s": _Range(0.001, MOST_SECONDS, seconds=True),
    "calls": _Range(0, 1_000_000, above=True),
    "failure_rate": _Range(0, 1, below=True, hint="; write 15 % as 0.15"),
    "target": _Range(0, 1, above=True, hint=_SHARE),
    "headroom": _Range(0, 1, below=True, hint="; write 8 % as 0.08"),
    "crowd": _Range(1, MOST_PEOPLE, whole=True),
    "arrive_s": _Range(0, MOST_SECONDS, seconds=True),
    "every_s": _Range(0.01, MOST_SECONDS, seconds=True),
    "batch": _Range(1, MOST_PEOPLE, whole=True),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The figures of a plan. The document gives no crowd; that default is ours."""

    tps: float = 1_000
    session_s: float = 300
    calls: float = 6
    failure_rate: float = 0.15
    target: float = 0.8
    headroom: float = 0.08
    crowd: int = 100_000
    arrive_s: float = 60
    every_s: float = 10
    batch: int | None = None

    def __post_init__(self) -> None:
        for spec in dataclasses.fields(self):
            value = getattr(self, spec.name)
            if value is not None or spec.name != "batch":
                object.__setattr__(self, spec.name, _checked(spec.name, value))

    @property
    def calls_per_visit(self) -> Fraction:
        """Return the calls of a visit, including those repeated after a failure."""
        return exact(self.calls) * (1 + exact(self.failure_rate))

    def is_the_example(self) -> bool:
        """Return whether the formulas get the document's own figures."""
        mine = dataclasses.replace(self, crowd=1, arrive_s=0, batch=None)
        return mine == Inputs(crowd=1, arrive_s=0)


def exact(value: float) -> Fraction:
    """Return a number exactly as written: 0.15 is 3/20, so that no sum has a rounding error."""
    return Fraction(str(value))


def _checked(name: str, value: Any) -> float:
    allowed = _RANGES[name]
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidInput(name, f"{value!r:.40} is not a number; {allowed}")
    # Comparisons come first: `isfinite` of a whole number with hundreds of digits would overflow.
    fits = allowed.holds(value) and math.isfinite(value)
    if not fits or (allowed.whole and value != int(value)):
        raise InvalidInput(name, f"{value!r:.40} is not allowed; {allowed}")
    if allowed.whole:
        return int(value)
    return round(value, 3) if allowed.seconds else value  # a policy keeps milliseconds
