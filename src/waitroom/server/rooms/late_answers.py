"""Answers for visitors when the backend is slow: one sweep, not a timer per request.

A poll that has waited for `poll_within_s` gets the last answer of its ticket again, marked as
stale, if that can be vouched for. Everything else waits for `answer_within_s`, and then fails
as *slow*: the request may be done, and a repeat does nothing twice.
"""

from __future__ import annotations

import asyncio
import logging
import time

from waitroom.engine import Engine
from waitroom.errors import Slow
from waitroom.models import State
from waitroom.server.counters.worker import Counters
from waitroom.server.rooms.background import Background
from waitroom.server.rooms.board import Boards
from waitroom.server.rooms.poll_interval import poll_after_ms

log = logging.getLogger("waitroom.late_answers")

SWEEP_S = 0.05
MARGIN_S = 5.0
"""How much later than asked a client may poll and still be vouched for."""

_LATEST = 1.0


class LateAnswers(Background):
    """Sweeps over requests that wait."""

    def __init__(
        self,
        engine: Engine,
        boards: Boards,
        counters: Counters,
        *,
        poll_within_s: float,
        answer_within_s: float,
    ) -> None:
        super().__init__()
        self._engine = engine
        self._boards = boards
        self._counters = counters
        self._poll_within_s = poll_within_s
        self._answer_within_s = answer_within_s

    async def run(self) -> None:
        """Sweep repeatedly."""
        while True:
            began = time.monotonic()
            await asyncio.sleep(SWEEP_S)
            # If this process itself was late, answers may have come, unread.
            if time.monotonic() - began < 3 * SWEEP_S:
                try:
                    self._sweep()
                except Exception:  # the next sweep is for everybody else
                    log.exception("late visitors were not all answered")

    def _sweep(self) -> None:
        self._counters.stale_answers += self._engine.repeat_told(
            self._poll_within_s, self._vouched_s
        )
        self._engine.fail_waiting(Slow(), longer_than_s=self._answer_within_s)

    def _vouched_s(self, room: str, position: int | None) -> float:
        """Return how long a position may be repeated: until its holder should have polled again."""
        board = self._boards.known.get(room)
        if board is None:
            return 0.0
        wait = board.wait(position) if position is not None else None
        after_ms = poll_after_ms(
            position, State.WAITING, wait, board.silence_s, self._boards.load, _LATEST
        )
        return after_ms / 1000 + MARGIN_S
