"""A room as the operator page shows it: numbers, pace, wait, and whether all is well."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from waitroom.estimate.methods import Wait
from waitroom.history import sample_of
from waitroom.models import Mode, Policy, Sample, Stats
from waitroom.server.context import Server
from waitroom.server.operator.room.chart import SPAN_MS, Spark, per_minute, spark
from waitroom.server.rooms.board import Board

STALE_S = 10.0
"""Numbers older than this are no longer live, and the page says so."""

_MINUTE_MS = 60_000


@dataclass(frozen=True, slots=True)
class Sign:
    """One thing that an operator should know: `level` is ok, warn or bad, `key` its text."""

    level: str
    key: str
    number: int = 0
    at_ms: int | None = None


@dataclass(frozen=True, slots=True)
class RoomView:
    """One room."""

    name: str
    title: str
    policy: Policy
    version: int
    stats: Stats
    per_minute: int
    last: Wait | None
    """The wait of the last in line, or of a newcomer if nobody waits."""

    signs: tuple[Sign, ...]
    spark: Spark | None
    lately: tuple[Sample, Sample]
    """The first and the last sample of the last hour."""

    @property
    def level(self) -> str:
        """The worst of its signs."""
        levels = [sign.level for sign in self.signs]
        return next((level for level in ("bad", "warn") if level in levels), "ok")

    @property
    def is_quiet(self) -> bool:
        """Whether it is empty and has no sign except that it is over."""
        people = self.stats.waiting + self.taken + self.stats.may_return + self.per_minute
        over = self.stats.mode in (Mode.CLOSED, Mode.ENDED)
        return not people and (self.level == "ok" or (over and self.level == "warn"))

    @property
    def no_show_share(self) -> float | None:
        """The share of those called in the last hour who did not come; None if none were called."""
        return _share(self.lately, "no_show", "called_total")

    @property
    def abandoned_share(self) -> float | None:
        """The share of those who joined in the last hour who went silent or left while waiting."""
        return _share(self.lately, "abandoned", "joined")

    @property
    def taken(self) -> int:
        """How many places are taken."""
        return self.stats.called + self.stats.inside

    @property
    def full(self) -> int | None:
        """How much of the capacity is taken, in percent and at most 100."""
        if not self.policy.capacity:
            return None
        return min(100, round(100 * self.taken / self.policy.capacity))


async def fresh(server: Server, room: str) -> Board:
    """Return the board of a room at this moment: somebody may just have changed the room."""
    board = await server.boards.get(room)
    stats = await server.engine.stats(room)
    board.renew(server.engine.policy_of(room) or board.policy, stats)
    return board


def view(board: Board, away: bool) -> RoomView:
    """Return a room for the page."""
    stats, now = board.stats, sample_of(board.stats)
    samples = [s for s in (*board.samples, now) if s.at_ms >= stats.now_ms - SPAN_MS]
    return RoomView(
        name=board.room,
        title=board.policy.title or "",
        policy=board.policy,
        version=board.version,
        stats=stats,
        per_minute=calls_per_minute(board.samples, stats),
        last=board.wait(max(1, stats.waiting)),
        signs=tuple(signs(board, away)),
        spark=spark(samples, stats.now_ms, SPAN_MS),
        lately=(samples[0], now),
    )


def _share(lately: tuple[Sample, Sample], part: str, whole: str) -> float | None:
    parts, wholes = (
        int(getattr(lately[1], name)) - int(getattr(lately[0], name)) for name in (part, whole)
    )
    return max(0.0, min(1.0, parts / wholes)) if wholes > 0 else None


def calls_per_minute(samples: Sequence[Sample], stats: Stats) -> int:
    """Return how many were called in the last minute."""
    now = sample_of(stats)
    since = stats.now_ms - _MINUTE_MS
    before = next((sample for sample in reversed(samples) if sample.at_ms <= since), None)
    if before is None:
        before = samples[0] if samples else now
    return round(per_minute(before, now))


def signs(board: Board, away: bool) -> list[Sign]:
    """Return what is wrong, or what to keep in mind; the worst first."""
    policy, stats = board.policy, board.stats
    taken, age_s = stats.called + stats.inside, time.monotonic() - board.fresh_at
    signs_now = []
    if away:
        signs_now.append(Sign("bad", "sign_away"))
    elif age_s > STALE_S:
        signs_now.append(Sign("bad", "sign_stale", round(age_s)))
    if policy.capacity is not None and taken > policy.capacity:
        signs_now.append(Sign("warn", "sign_over", taken - policy.capacity))
    if policy.max_entries is not None and stats.entries_in_window > policy.max_entries:
        over = stats.entries_in_window - policy.max_entries
        signs_now.append(Sign("warn", "sign_window", over))
    if stats.hold_until_ms is not None:
        signs_now.append(Sign("warn", "sign_hold", at_ms=stats.hold_until_ms))
    if policy.opens_at_ms is not None and policy.opens_at_ms > stats.now_ms:
        signs_now.append(Sign("warn", "sign_before", at_ms=policy.opens_at_ms))
    if policy.ends_at_ms is not None and stats.mode is not Mode.ENDED:
        signs_now.append(Sign("ok", "sign_ends", at_ms=policy.ends_at_ms))
    if stats.mode in (Mode.PAUSED, Mode.CLOSED, Mode.ENDED, Mode.BYPASS):
        signs_now.append(Sign("warn", f"sign_{stats.mode}"))
    if policy.queue_limit is not None and stats.waiting >= policy.queue_limit:
        signs_now.append(Sign("warn", "sign_full"))
    return signs_now
