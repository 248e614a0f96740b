"""Scales and paths of SVG charts, for the operator page and for rehearsal reports. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

Pixel = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Scale:
    """Maps values to pixels: `low` to `start`, and `high` to `end`."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        """Return the pixel for a value."""
        return self.start + (self.end - self.start) * (value - self.low) / (self.high - self.low)


def path(*lines: Iterable[Pixel]) -> str:
    """Return the `d` of a path of separate lines."""
    words = ("L".join(f"{x:.1f} {y:.1f}" for x, y in line) for line in lines)
    return "".join(f"M{word}" for word in words if word)


def round_top(highest: float) -> int:
    """Return a round number at or above the highest value, for a scale without marks."""
    if highest <= 4:
        return 4
    size: int = 10 ** (len(str(int(highest))) - 1)
    for step in (1, 2, 4, 5, 6, 8, 10):
        if step * size >= highest:
            return step * size
    return 20 * size


def round_marks(low: float, high: float) -> Sequence[float]:
    """Return four to eight round marks, the first at `low` and the last at `high` or above."""
    high = high if high > low else low + 1
    size = 10 ** floor(log10(high - low))
    step = next(size * part for part in (0.1, 0.2, 0.5, 1, 2) if (high - low) / (size * part) <= 6)
    top = ceil(high / step) * step
    return [low + step * number for number in range(round((top - low) / step) + 1)]
