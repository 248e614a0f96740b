"""Whether Waitroom is up, slow or down. Calls raise the question, probes decide.

A call that is late says nothing about Waitroom: the network, this process or Waitroom may be
congested. So it only starts the probes: on a thread and a connection of their own, with a longer
deadline, one after the other. An answered call or probe ends the trouble at once.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from enum import Enum

from waitroom.gates.transport import NoAnswer

EVERY_S = 0.25
"""The shortest time from one probe to the next."""

FEWEST_PROBES = 3
"""So many must fail in a row before a silent Waitroom is down."""

_LONGEST_CLOSE_S = 2.0


class State(Enum):
    """What is known about Waitroom."""

    UP = "up"
    SLOW = "slow"
    """A call was late; a probe is under way."""

    DOWN = "down"
    """Nobody is there, or probes have failed for `away_after_s`."""


class Health:
    """The state of Waitroom as one process sees it. `probe` returns None if it was answered."""

    def __init__(self, probe: Callable[[], NoAnswer | None], away_after_s: float) -> None:
        self.state = State.UP
        self.heard_at = 0.0
        """When the last answer came; a `time.monotonic`."""
        self._probe = probe
        self._away_after_s = away_after_s
        self._probed_at = 0.0
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._watcher: threading.Thread | None = None

    def is_down(self) -> bool:
        """Tell whether calls are in vain."""
        return self.state is State.DOWN

    def heard(self) -> None:
        """Note an answer."""
        self.heard_at = time.monotonic()
        self.state = State.UP

    def failed(self, why: NoAnswer) -> None:
        """Note a call without an answer. What we shed ourselves says nothing about Waitroom."""
        if why is NoAnswer.SHED:
            return
        with self._lock:
            if why is NoAnswer.DOWN:
                self.state = State.DOWN
            elif self.state is State.UP:
                self.state = State.SLOW
            if self._watcher is None and not self._stop.is_set():
                self._watcher = threading.Thread(
                    target=self._watch, name="waitroom-gate-probe", daemon=True
                )
                self._watcher.start()

    def close(self) -> None:
        """End the probes for good."""
        with self._lock:
            self._stop.set()
            watcher = self._watcher
        if watcher is not None:
            watcher.join(_LONGEST_CLOSE_S)

    def _watch(self) -> None:
        """Probe until Waitroom is up."""
        silent_since, failures = time.monotonic(), 0
        while self._in_trouble():
            self._stop.wait(self._probed_at + EVERY_S - time.monotonic())
            if self._stop.is_set():
                continue
            self._probed_at = time.monotonic()
            why = self._probe()
            if why is None:
                self.heard()
            elif why is NoAnswer.DOWN:
                self.state = State.DOWN
            elif why is NoAnswer.SLOW:
                if self.heard_at > silent_since:  # a call was answered meanwhile
                    silent_since, failures = self.heard_at, 0
                failures += 1
                silent_s = time.monotonic() - silent_since
                if failures >= FEWEST_PROBES and silent_s >= self._away_after_s:
                    self.state = State.DOWN

    def _in_trouble(self) -> bool:
        """Tell whether to go on; if not, the next failure starts another watcher."""
        with self._lock:
            if self.state is State.UP or self._stop.is_set():
                self._watcher = None
                return False
            return True
