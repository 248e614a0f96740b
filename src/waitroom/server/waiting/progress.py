"""A browser's progress in the line, kept in a cookie: where it started, and its best place.

With it the number on the screen never rises, even over reloads and without a script. A forged
cookie deceives only its owner.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

PROGRESS_COOKIE = "waitroom-seen-"
_VALUE = re.compile(r"([\w-]{8})\.(\d{1,10})\.(\d{1,10})", re.ASCII)
_TAG = 8  # enough to distinguish two tickets of one browser


@dataclass(frozen=True, slots=True)
class Progress:
    """The first place, and the best one so far."""

    start: int
    least: int

    def value(self, ticket_id: str) -> str:
        """Return it as the value of a cookie."""
        return f"{ticket_id[:_TAG]}.{self.start}.{self.least}"


def last_progress(cookie: str | None, ticket_id: str) -> Progress | None:
    """Return what the cookie says; None if there is none, or it belongs to another ticket."""
    match = _VALUE.fullmatch(cookie or "")
    if match is None or match[1] != ticket_id[:_TAG]:
        return None
    return Progress(int(match[2]), int(match[3]))


def progress(cookie: str | None, ticket_id: str, position: int) -> Progress:
    """Add a new position to the cookie's progress; ignore a cookie of another ticket."""
    last = last_progress(cookie, ticket_id)
    if last is None:
        return Progress(position, position)
    return Progress(max(last.start, position), min(last.least, position))
