"""Threads for calls, with a bounded queue before them: a crowd waits here, and only so long."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from waitroom.gates.transport import Outcome

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

THREADS = 8
MOST_QUEUED = 128
"""How many calls may wait for a thread."""

LONGEST_QUEUED_S = 2.0
"""A call that has waited so long for a thread is not made any more."""


class Call:
    """A call under way. `started_at` is None while it is queued."""

    __slots__ = ("asked_at", "future", "patience_s", "started_at")
    future: Future[Outcome]

    def __init__(self, patience_s: float) -> None:
        self.patience_s = patience_s
        self.asked_at = time.monotonic()
        self.started_at: float | None = None

    def left_s(self) -> float:
        """Return how long a visitor waits before looking again; 0 or less is no longer."""
        now = time.monotonic()
        if self.started_at is not None:
            return self.started_at + self.patience_s - now
        return self.patience_s if now < self.asked_at + LONGEST_QUEUED_S else 0.0


class Workers:
    """Some threads, with a bounded queue before them."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._pending = 0
        self._lock = threading.Lock()
        self._pool: ThreadPoolExecutor | None = None
        self._closed = False

    def submit(self, work: Callable[[], Outcome]) -> Future[Outcome] | None:
        """Queue some work; None if the queue is full, or if this is closed."""
        from concurrent.futures import ThreadPoolExecutor

        with self._lock:
            if self._closed or self._pending >= THREADS + MOST_QUEUED:
                return None
            if self._pool is None:
                self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix=self._name)
            try:
                future = self._pool.submit(work)
            except RuntimeError:  # the interpreter is ending
                return None
            self._pending += 1
        future.add_done_callback(self._forget)
        return future

    def close(self) -> None:
        """End the threads for good; what is queued is cancelled."""
        with self._lock:
            self._closed = True
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)

    def _forget(self, _: Future[Outcome]) -> None:
        with self._lock:
            self._pending -= 1
