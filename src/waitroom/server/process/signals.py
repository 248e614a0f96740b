"""How parent and workers talk: the signals, and the one function that a worker begins with.

The parent imports this and not the app: it does not serve, and would start half a second later.
"""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from typing import TYPE_CHECKING

from waitroom.server.process import logs
from waitroom.settings import Settings

if TYPE_CHECKING:
    from waitroom.server.process.worker import Worker

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


def load_worker(settings: Settings, parent: int, _target: str) -> Worker:
    """Make the app, in a worker process."""
    from waitroom.server.process.worker import Worker

    logs.configure(settings.log_level, settings.log_json)
    return Worker(settings, parent)
