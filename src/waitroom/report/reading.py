"""Reads the archive of a room line by line: what cannot be read is counted, not raised.

Memory does not grow with the archive. A page in front of which somebody waits sets a limit.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from waitroom import archive
from waitroom.archive import ArchivedEvent

_LONGEST_LINE = 4_000_000  # a batch of people has some hundred kB; more is no line of ours
_TOLD_EVERY = 1_000_000
_TURN_S = 0.005

Progress = Callable[[int, int], None]
"""Gets the bytes that were read, and of all."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of an archive may be read, and for how long."""

    most_bytes: int | None = None
    most_s: float | None = None
    gentle: bool = False
    """Whether half of the time is for other threads of the process."""


class Reading:
    """One way through the files of a room; iterate it once, then ask what was not read."""

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
        self._limits, self._progress = limits or Limits(), progress
        self._total = sum(path.stat().st_size for path in self.paths)
        self._done = self._told_at = 0
        self._began = self._paused_at = time.monotonic()

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
        is_head = event.type == "archive.opened"  # says how the room was set, whenever it began
        return event if is_head or event.at_ms >= self._since_ms else None

    def _is_over(self, size: int) -> bool:
        self._done += size
        if self._done - self._told_at >= _TOLD_EVERY:
            self._told_at = self._done
            self._progress(self._done, self._total)
        most, most_s, now = self._limits.most_bytes, self._limits.most_s, time.monotonic()
        if self._limits.gentle and now - self._paused_at > _TURN_S:
            time.sleep(_TURN_S)
            self._paused_at = time.monotonic()
        self.stopped = (most is not None and self._done > most) or (
            most_s is not None and now - self._began > most_s
        )
        return self.stopped
