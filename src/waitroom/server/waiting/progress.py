"""A browser's progress in the line, kept in a cookie: where it started, and its best place.

With it the number never rises on the screen, also over reloads and without a script, and the page
can tell that a wait has grown. A forged cookie fools only its owner.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

PROGRESS_COOKIE = "waitroom-seen-"
_VALUE = re.compile(r"([\w-]{8})\.(\d{1,10})\.(\d{1,10})\.(\d{0,10})", re.ASCII)
_TAG = 8  # enough to tell two tickets of one browser apart
_GROWN_S = 60


@dataclass(frozen=True, slots=True)
class Progress:
    """The first place, the best one so far, and the earliest end of the wait that was shown."""

    start: int
    least: int
    due_s: int | None = None
    grown: bool = False

    def value(self, ticket_id: str) -> str:
        """Return it as the value of a cookie."""
        return f"{ticket_id[:_TAG]}.{self.start}.{self.least}.{self.due_s or ''}"


def last_progress(cookie: str | None, ticket_id: str) -> Progress | None:
    """Return what the cookie says; None if there is none, or it is of another ticket."""
    match = _VALUE.fullmatch(cookie or "")
    if match is None or match[1] != ticket_id[:_TAG]:
        return None
    return Progress(int(match[2]), int(match[3]), int(match[4]) if match[4] else None)


def progress(
    cookie: str | None, ticket_id: str, position: int, likely_s: int | None, now_s: int
) -> Progress:
    """Add a new position to the cookie's; a cookie of another ticket is ignored."""
    last = last_progress(cookie, ticket_id)
    due_s = None if likely_s is None else now_s + likely_s
    if last is None:
        return Progress(position, position, due_s)
    start, least = max(last.start, position), min(last.least, position)
    best_s = due_s if last.due_s is None else last.due_s
    if due_s is None or best_s is None or likely_s is None:
        return Progress(start, least, best_s)
    # A fifth, and at least a minute: smaller steps are noise.
    grown = due_s > best_s + max(_GROWN_S, likely_s // 5)
    return Progress(start, least, min(best_s, due_s), grown)
