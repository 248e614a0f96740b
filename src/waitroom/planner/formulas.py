"""The document's formulas and the chain of its worked example, exact and as it rounded them.

Fractions keep every step exact; only displayed values become a float or a whole number.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from waitroom.planner.inputs import Inputs, exact

EXAMPLE_BATCH = 1_400
"""What the document chose for its 1,389, "for the sake of UX"."""


def concurrent_users(given: Inputs) -> Fraction:
    """Return how many people the origin can serve at once: TPS × session / calls of a visit."""
    return exact(given.tps) * exact(given.session_s) / given.calls_per_visit


def activation_period_s(session_s: Fraction, target: Fraction, concurrent: Fraction) -> Fraction:
    """Return the document's period: session / (target users / concurrent users)."""
    return session_s / (target / concurrent)


def tokens_per_period(given: Inputs, period_s: Fraction) -> Fraction:
    """Return how many people the document lets in per period: TPS × period / calls of a visit."""
    return exact(given.tps) * period_s / given.calls_per_visit


def wait_of(position: int, batch: int, every_s: float) -> float:
    """Return the document's wait for a place in the line, in seconds: ceil(position / M) × N."""
    return float(math.ceil(Fraction(position, batch)) * exact(every_s))


def nearest(value: Fraction) -> int:
    """Return the nearest whole number; a half goes up (`round` would take the even one)."""
    return math.floor(value + Fraction(1, 2))


@dataclass(frozen=True, slots=True)
class Chain:
    """The document's numbers in its order."""

    concurrent: float
    target: float
    period_s: float
    per_period: float
    per_minute: float
    per_slot: float


def exact_chain(given: Inputs) -> Chain:
    """Return the chain by the formulas, with no headroom and nothing rounded."""
    concurrent = concurrent_users(given)
    target = concurrent * exact(given.target)
    period = activation_period_s(exact(given.session_s), target, concurrent)
    tokens = tokens_per_period(given, period)
    per_second = tokens / period
    steps = concurrent, target, period, tokens, per_second * 60, per_second * exact(given.every_s)
    return Chain(*map(float, steps))


def rounded_chain(given: Inputs) -> Chain:
    """Return the chain with the document's roundings, in whole numbers only.

    Capacity and people per period lose the headroom (43,478 → 40,000 and 54,348 → 50,000 are 8 %),
    the period goes down to whole minutes (375 s → 6 min), people per minute and slot go up.
    """
    keep = 1 - exact(given.headroom)
    capacity = math.floor(concurrent_users(given) * keep)
    target = math.floor(capacity * exact(given.target))
    period = exact(given.session_s) / exact(given.target)
    tokens = math.floor(tokens_per_period(given, period) * keep)
    shown = Fraction(period // 60 * 60) if period >= 60 else period
    per_minute = math.ceil(tokens * 60 / shown)
    per_slot = math.ceil(per_minute * exact(given.every_s) / 60)
    return Chain(capacity, target, float(shown), tokens, per_minute, per_slot)
