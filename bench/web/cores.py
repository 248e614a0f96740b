"""What runs where: each server has a core to itself, everything else shares another."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager


def can_pin() -> bool:
    """Tell whether a process can be pinned to a core here, as on Linux."""
    return hasattr(os, "sched_setaffinity")


def pick() -> tuple[int, int]:
    """Return the core for the servers and the one for the rest: the same if there is only one."""
    allowed = sorted(os.sched_getaffinity(0))
    return allowed[0], allowed[-1]


@contextmanager
def on_core(core: int) -> Iterator[None]:
    """Run this process, and what it starts meanwhile, on one core."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
