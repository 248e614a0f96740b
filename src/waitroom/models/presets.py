"""Policies by one word: each of the five recipes that docs/from-the-seeds.md compares."""

from __future__ import annotations

from typing import Any

from waitroom.errors import InvalidPolicy
from waitroom.models.policy import Policy
from waitroom.models.words import Eta, Mode

PRESETS: dict[str, Policy] = {
    # 000: a scheduler lets 1,400 people in every 10 s, sessions of 5 minutes.
    "batch": Policy(batch=1_400, every_s=10, session_s=300, eta=Eta.BATCH),
    # 001: an operator admits by hand; limits changeable live.
    "manual": Policy(mode=Mode.MANUAL, queue_limit=100_000),
    # 002: fifty seats, ten minutes each.
    "slots": Policy(capacity=50, session_s=600, eta=Eta.SERVICE),
    # 003: guests put their phone away, so nobody is dropped for silence.
    "desk": Policy(
        mode=Mode.MANUAL,
        session_s=None,
        enter_within_s=None,
        presence_s=None,
        recover_s=0,
        idle_ttl_s=21_600,
        max_defers=2,
        eta=Eta.SERVICE,
    ),
    # 004: a threshold per minute, a tenth of it per 6 s slot while people wait.
    "per-minute": Policy(
        max_entries=100, per_s=60, batch=10, every_s=6, presence_s=60, eta=Eta.RATE
    ),
}


def preset(name: str, **changes: Any) -> Policy:
    """Return the policy of a preset, with some fields changed."""
    try:
        base = PRESETS[name]
    except KeyError:
        known = ", ".join(PRESETS)
        raise InvalidPolicy("preset", f"{name!r:.40} is unknown; there are {known}") from None
    return base.change(**changes)
