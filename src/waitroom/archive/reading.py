"""Reads the archive of a room line by line: lines that cannot be read are counted, not raised.

Memory does not grow with the archive. A page that somebody is waiting for sets a limit.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from waitroom.archive import files as archive
from waitroom.archive.files import ArchivedEvent

_LONGEST_LINE = 4_000_000  # a batch of people has some hundred kB; a longer line is not ours
_TOLD_EVERY = 1_000_000
_TURN_S = 0.005

Progress = Callable[[int, int], None]
"""Gets the bytes read so far, and the total."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of an archive may be read, and for how long."""

    most_bytes: int | None = None
    most_s: float | None = None
    gentle: bool = False
    """Whether half of the time is left to other threads of the process."""


class Budget:
    """What is left of the limits of one reading."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self.spent = 0
        self._began = self._paused_at = time.monotonic()

    @property
    def left(self) -> int | None:
        """How many bytes may still be read; None = any number."""
        most = self._limits.most_bytes
        return None if most is None else max(0, most - self.spent)

    def spend(self, size: int) -> bool:
        """Count bytes that were read; return whether that was within the limits."""
        self.spent += size
        most, most_s, now = self._limits.most_bytes, self._limits.most_s, time.monotonic()
        if self._limits.gentle and now - self._paused_at > _TURN_S:
            time.sleep(_TURN_S)
            self._paused_at = time.monotonic()
        is_long = most_s is not None and now - self._began > most_s
        return not is_long and (most is None or self.spent <= most)


class Reading:
    """One pass through the files of a room; iterate it once, then ask what was not read."""

    def __init__(
        self,
        folder: Path,
        room: str,
        since_ms: int,
        until_ms: int,
        limits: Limits | None = None,
        progress: Progress = lambda _done, _total: None,
    ) -> None:
        self.paths = archive.files(folder, room, since_ms, until_ms)
        self.broken = 0
        self.stopped = False
        self._since_ms = since_ms
        self._budget, self._progress = Budget(limits or Limits()), progress
        self._total = sum(path.stat().st_size for path in self.paths)
        self._told_at = 0

    def __iter__(self) -> Iterator[ArchivedEvent]:
        for path in self.paths:
            with path.open("rb") as lines:
                while line := lines.readline(_LONGEST_LINE):
                    if self._is_over(len(line)):
                        return
                    event = self._event(line)
                    if event is not None:
                        yield event
        self._progress(self._total, self._total)

    def _event(self, line: bytes) -> ArchivedEvent | None:
        try:
            if not line.endswith(b"\n"):
                raise ValueError("cut off")
            event = ArchivedEvent.of_line(line)
        except ValueError:
            self.broken += 1
            return None
        if not isinstance(event.data, dict):
            self.broken += 1
            return None
        is_head = event.type == "archive.opened"  # gives the room's settings, whenever it began
        return event if is_head or event.at_ms >= self._since_ms else None

    def _is_over(self, size: int) -> bool:
        self.stopped = not self._budget.spend(size)
        done = self._budget.spent
        if done - self._told_at >= _TOLD_EVERY:
            self._told_at = done
            self._progress(done, self._total)
        return self.stopped
