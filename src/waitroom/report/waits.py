"""How long people waited: the median, nine of ten, and the longest. Pure."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Waits:
    """The waits of all who were called, in seconds."""

    called: int = 0
    median_s: float = 0.0
    p90_s: float = 0.0
    longest_s: float = 0.0


def part(values: Sequence[float], share: float) -> float:
    """Return the value that a share of sorted values is below."""
    return values[min(len(values) - 1, int(len(values) * share))]


def waits_of(joined_ms: array[int], called_ms: array[int]) -> Waits:
    """Return how long called people had waited; 0 stands for somebody who was not called."""
    waits_ms = sorted(
        called - joined for joined, called in zip(joined_ms, called_ms, strict=True) if called
    )
    if not waits_ms:
        return Waits()
    median, p90 = (part(waits_ms, share) / 1000 for share in (0.5, 0.9))
    return Waits(len(waits_ms), median, p90, waits_ms[-1] / 1000)
