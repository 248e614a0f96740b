"""How the live line keeps a turnover: as a short text, next to the order of its parties."""

from __future__ import annotations

from functools import lru_cache

from waitroom.desk.models import Turnover


def turnover_text(turnover: Turnover) -> str:
    """Return a turnover as the live line keeps it: the number of seatings and their mean."""
    return f"{turnover.samples}:{turnover.mean_minutes:.6g}"


@lru_cache(maxsize=4096)
def read_turnover(text: str) -> Turnover:
    """Return the turnover that a live line keeps; no seatings if the text cannot be read."""
    samples, _, mean = text.partition(":")
    try:
        return Turnover(int(samples), float(mean))
    except ValueError:
        return Turnover()
