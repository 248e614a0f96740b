"""Distributions of durations: fixed, lognormal, exponential, or values from a CSV."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from math import exp
from typing import Literal

Kind = Literal["fixed", "lognormal", "exponential", "csv"]
Draw = Callable[[], float]


@dataclass(frozen=True, slots=True)
class Spread:
    """A distribution of seconds; `values` come from a CSV."""

    kind: Kind
    median_s: float = 0.0
    sigma: float = 0.0
    values: tuple[float, ...] = ()

    def drawn_by(self, rng: random.Random) -> Draw:
        """Return a function that draws one duration after the other."""
        if self.kind == "lognormal":
            median_s, sigma, normal = self.median_s, self.sigma, rng.gauss
            return lambda: median_s * exp(normal(0.0, sigma))
        if self.kind == "exponential":
            rate = 0.6931471805599453 / self.median_s
            return lambda: rng.expovariate(rate)
        if self.kind == "csv":
            values = self.values
            return lambda: rng.choice(values)
        fixed_s = self.median_s
        return lambda: fixed_s


def fixed(seconds: float) -> Spread:
    """Return the distribution in which every duration is the same."""
    return Spread("fixed", seconds)
