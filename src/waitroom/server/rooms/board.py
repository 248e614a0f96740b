"""What a process knows of each room in use: policy, counts and the estimate, renewed each second.

Polls read the board of their room instead of the backend: one `stats` a second serves any number of
visitors.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import logging
import time
from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from waitroom.engine import Engine
from waitroom.errors import UnknownRoom, WaitroomError
from waitroom.estimate.methods import Estimator, Wait
from waitroom.estimate.observer import Observer, Peers
from waitroom.estimate.reasons import Changes
from waitroom.history import sample_of
from waitroom.models import Mode, Policy, Sample, Stats
from waitroom.server.rooms.background import Background

log = logging.getLogger("waitroom.boards")

REFRESH_S = 1.0
FORGET_S = 60.0
"""A board that nobody asked for in this time is no longer renewed."""

TOLD_FOR_S = 3.0
"""A board this old has missed a renewal or two, and perhaps nobody was told what it says."""

SAMPLE_MS = 5_000
KEPT_SAMPLES = 720  # an hour: a desk calls only a few people in that time
_MOST_BOARDS = 2_000
_MADE_AT_ONCE = 4
_RENEWED_AT_ONCE = 8
_FULL_LAG_S = 0.5
_STANDS = {Mode.PAUSED, Mode.CLOSED, Mode.ENDED}


@dataclass(slots=True)
class Board:
    """One room as this process sees it."""

    room: str
    policy: Policy
    stats: Stats
    samples: deque[Sample]
    changed_at_ms: int | None = None
    mark: int = 0
    """Changes when the public view of the room changes, except for numbers."""

    fresh_at: float = 0.0
    wanted_at: float = 0.0
    silence_s: float | None = None
    """How long a waiting visitor may be silent without losing anything."""

    wait: Callable[[int], Wait | None] = field(default=lambda _: None)
    """How long somebody at a position waits, as far as that is known."""

    observer: Observer = field(default_factory=Observer)
    estimator: Estimator | None = None
    eta_reason: str | None = None
    """Why the estimate has moved lately, as far as this process saw it; every poll reads it."""

    _changes: Changes = field(default_factory=Changes)

    @property
    def version(self) -> int:
        """The version of the policy."""
        return self.stats.version

    def renew(self, policy: Policy, stats: Stats) -> None:
        """Take over the backend's newest numbers."""
        if stats.version != self.stats.version:
            self.changed_at_ms = stats.now_ms
        self.policy, self.stats, self.fresh_at = policy, stats, time.monotonic()
        holds, ended = stats.hold_until_ms is not None, stats.mode is not policy.mode
        self.mark = 4 * stats.version + 2 * holds + ended
        # A visitor called between two polls needs half of the time to enter; polls take a third.
        spans = policy.presence_s, policy.enter_within_s and 1.5 * policy.enter_within_s
        self.silence_s = min((span for span in spans if span), default=None)
        last = self.samples[-1].at_ms if self.samples else 0
        if not last <= stats.now_ms < last + SAMPLE_MS:
            self.samples.append(
                dataclasses.replace(
                    sample_of(stats),
                    mode=stats.mode,
                    capacity=policy.capacity,
                    per_minute=policy.per_minute,
                )
            )
        self.estimator = self.observer.renewed(policy, stats, self.samples)
        # While nobody is called, no time can be promised, whatever the pace was before.
        stands = stats.mode in _STANDS or stats.hold_until_ms is not None
        self.wait = _unknown if stands else self.estimator.wait
        reason = self._changes.note(policy, stats, self.samples, self.wait)
        self.eta_reason = reason and reason.value


def _unknown(_: int) -> None:
    return None


class Boards(Background):
    """The boards of all rooms in use here, by name in `known`."""

    def __init__(self, engine: Engine) -> None:
        super().__init__()
        self.known: dict[str, Board] = {}
        self.load = 0.0
        """How far behind the event loop is, 0 to 1: visitors are then told to poll less often."""

        self._engine = engine
        self._peers = Peers()
        # Visitors may name any room: they must not keep operators from the backend.
        self._turns = defaultdict[str, asyncio.Semaphore](lambda: asyncio.Semaphore(_MADE_AT_ONCE))
        self._loading: dict[str, asyncio.Task[Board]] = {}

    async def get(self, room: str) -> Board:
        """Return the board of a room, made on first use; concurrent callers share the work."""
        board = self.known.get(room) or await self._loaded(room)
        board.wanted_at = time.monotonic()
        return board

    async def renew(self, room: str) -> Board:
        """Return the current board of a room; concurrent callers share the work."""
        return await self._loaded(room)

    async def told_s(self, room: str, waiting: int) -> int | None:
        """Return the likely wait that a newcomer is told, for the room's history.

        A board that is renewed anyway says what people here are told. Otherwise the room is read
        for this, but only while people wait there.
        """
        board = self.known.get(room)
        if board is None or time.monotonic() - board.fresh_at > TOLD_FOR_S:
            if not waiting:
                return None
            board = await self._loaded(room)
        wait = board.wait(waiting + 1)
        return None if wait is None else wait.likely

    async def _loaded(self, room: str) -> Board:
        task = self._loading.get(room)
        if task is None:
            task = self._loading[room] = asyncio.create_task(self._load(room))
            task.add_done_callback(lambda _: self._loading.pop(room, None))
        return await asyncio.shield(task)

    def want(self, room: str) -> None:
        """Keep renewing a board for a while."""
        board = self.known.get(room)
        if board is not None:
            board.wanted_at = time.monotonic()

    def forget(self, room: str) -> None:
        """Forget a room, because it was dropped."""
        self.known.pop(room, None)

    async def _load(self, room: str) -> Board:
        known = self.known.get(room)
        if known is None:
            async with self._turns[self._engine.node_of(room)]:
                return await self._make(room)
        stats = await self._engine.stats(room)
        if time.monotonic() - known.fresh_at > FORGET_S:  # its samples have a gap
            known.samples = deque(await self._samples(room), KEPT_SAMPLES)
        known.renew(self._engine.policy_of(room) or known.policy, stats)
        return known

    async def _make(self, room: str) -> Board:
        stats = await self._engine.stats(room)
        samples = await self._samples(room)
        policy = self._engine.policy_of(room)
        if policy is None:
            raise UnknownRoom(room)
        observer = Observer(room, self._peers)
        board = Board(room, policy, stats, deque(samples, KEPT_SAMPLES), observer=observer)
        board.renew(policy, stats)
        if len(self.known) >= _MOST_BOARDS:
            oldest = min(self.known.values(), key=lambda board: board.wanted_at)
            del self.known[oldest.room]
        self.known[room] = board
        return board

    async def _samples(self, room: str) -> Sequence[Sample]:
        return await self._engine.series(room, limit=KEPT_SAMPLES)

    async def run(self) -> None:
        """Renew the boards of all rooms in use, once a second."""
        while True:
            asked = time.monotonic()
            await asyncio.sleep(REFRESH_S)
            lag = time.monotonic() - asked - REFRESH_S
            self.load = 0.7 * self.load + 0.3 * min(1.0, max(0.0, lag) / _FULL_LAG_S)
            wanted_since = asked - FORGET_S
            wanted = [board for board in self.known.values() if board.wanted_at >= wanted_since]
            # In parallel, so that a Cluster node that hangs does not delay the others.
            turns = asyncio.Semaphore(_RENEWED_AT_ONCE)
            await asyncio.gather(*(self._renew(board, turns) for board in wanted))

    async def _renew(self, board: Board, turns: asyncio.Semaphore) -> None:
        try:
            async with turns:
                stats = await self._engine.stats(board.room)
        except UnknownRoom:
            self.forget(board.room)
            return
        except WaitroomError as error:  # away: noticed elsewhere; the board stays as it is
            log.debug("the board of %s was not renewed: %s", board.room, error)
            return
        except Exception:
            log.exception("the board of %s was not renewed", board.room)
            return
        policy = self._engine.policy_of(board.room)
        with contextlib.suppress(ArithmeticError):
            board.renew(policy or board.policy, stats)
