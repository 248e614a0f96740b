"""Made-up rooms as the operator page sees them."""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from typing import Any

from waitroom.models import Mode, Policy, Sample, Stats, preset
from waitroom.server.rooms.board import Board

NOW_MS = 1_800_000_000_000
SLOTS = preset("slots", session_s=300)


def stats(waiting: int = 600, called: int = 5, inside: int = 45) -> Stats:
    """Return a room at a glance."""
    names = (
        *("joined", "restored", "called_total", "entered", "finished", "left", "kicked"),
        *("expired", "no_show", "abandoned", "deferred", "reinstated"),
    )
    counters = dict.fromkeys(names, 0) | {"called_total": 500}
    return Stats("r", Mode.OPEN, 1, 1, waiting, called, inside, 0, None, 0, 0, counters, NOW_MS)


def sample(ago_s: float, **numbers: int) -> Sample:
    """Return a sample from some seconds ago."""
    zero: dict[str, Any] = dict.fromkeys(
        (
            *("waiting", "called", "inside", "joined", "called_total", "entered", "finished"),
            *("left", "kicked", "expired", "no_show", "abandoned"),
        ),
        0,
    )
    return Sample(at_ms=NOW_MS - round(ago_s * 1000), **(zero | numbers))


def board(policy: Policy, now: Stats | None = None, samples: tuple[Sample, ...] = ()) -> Board:
    """Return the board of a room."""
    at_a_glance = replace(now or stats(), mode=policy.mode_at(NOW_MS))
    made = Board("r", policy, at_a_glance, deque(samples))
    made.renew(policy, at_a_glance)
    return made
