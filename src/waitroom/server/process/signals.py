"""How parent and workers talk: by these signals."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator

DRAIN, HUSH = signal.SIGUSR1, signal.SIGUSR2
HELD = frozenset({signal.SIGINT, signal.SIGTERM, DRAIN, HUSH})


@contextlib.contextmanager
def held() -> Iterator[None]:
    """Let processes that are started meanwhile begin with `HELD` blocked."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, HELD)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
