"""How parent and workers talk: by these signals."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator

DRAIN, HUSH = signal.SIGUSR1, signal.SIGUSR2
BLOCKED = frozenset({signal.SIGINT, signal.SIGTERM, DRAIN, HUSH})


@contextlib.contextmanager
def signals_blocked() -> Iterator[None]:
    """Let processes that are started meanwhile begin with `BLOCKED` blocked."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, BLOCKED)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
