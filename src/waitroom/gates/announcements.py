"""Passes on their way to Waitroom after a loss of state: an outbox, sent batch by batch.

Only one request is under way, so that a gate with thousands of sessions keeps its threads for its
visitors. A batch that Waitroom could not take yet stays in the outbox; nothing here waits.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from functools import partial

from waitroom.gates.remote import Remote
from waitroom.gates.transport import Outcome, Reply, is_verdict
from waitroom.web.names import MOST_PASSES

log = logging.getLogger("waitroom.gates")

DEADLINE_S = 5.0
_RETRY_S, _LONGEST_RETRY_S = 1.0, 30.0


class Announcements:
    """The outbox. Requests and threads of the pool share it, so every step is a single operation.

    (A lock might be held by another thread while a server forks, and would be held for ever.)
    """

    def __init__(self, remote: Remote) -> None:
        self._remote = remote
        self._batches: deque[list[str]] = deque()
        self._next_at = 0.0

    @property
    def empty(self) -> bool:
        """Whether Waitroom has taken all, but for the batch that is under way."""
        return not self._batches

    def add(self, passes: list[str]) -> None:
        """Put passes into the outbox, and begin to send them."""
        starts = range(0, len(passes), MOST_PASSES)
        self._batches.extend(passes[start : start + MOST_PASSES] for start in starts)
        self.send()

    def send(self) -> None:
        """Send the next batch, unless one is under way or Waitroom has asked to wait."""
        now = time.monotonic()
        if now < self._next_at:
            return
        try:
            batch = self._batches.popleft()
        except IndexError:
            return
        # One that never comes back, because the gate was closed or forked, is given up after that.
        self._next_at = now + DEADLINE_S
        self._remote.ask(
            "POST",
            "/v1/passes/announce",
            body={"passes": batch},
            deadline_s=DEADLINE_S,
            then=partial(self._answered, batch),
        )

    def _answered(self, batch: list[str], reply: Outcome) -> None:
        if not is_verdict(reply):
            self._batches.append(batch)  # last: another room may be reachable
            self._next_at = time.monotonic() + _retry_after_s(reply)  # then `tidy` sends it
            return
        if reply.status != 200:
            self._batches.clear()  # the others would fare no better
            log.warning(
                "Waitroom refused to hear which passes are in use (%d); a gate must reach it "
                "by its inner address, not through the public proxy",
                reply.status,
            )
        self._next_at = 0.0
        self.send()


def _retry_after_s(reply: Outcome) -> float:
    """Return how long Waitroom wants to be left alone."""
    text = reply.headers.get("retry-after", "") if isinstance(reply, Reply) else ""
    if not (text.isascii() and text.isdecimal()):
        return _RETRY_S
    return min(_LONGEST_RETRY_S, float(text))
