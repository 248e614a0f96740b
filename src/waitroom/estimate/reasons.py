"""Why an estimate moved: the room's own facts, for people whose wait is suddenly another one.

`Changes` follows a few people of the line. It compares what they were told minutes ago, less the
time that passed, with what they are told now. A move by more than a quarter gets a reason only if
the room shows one: without evidence it stays unexplained. Pure, stdlib only.

    restoring, paused   grew by no more than twice the time in which nobody could be called
    slower_admission    grew, and a limit was lowered, or fewer were called than before
    faster_admission    fell, and a limit was raised, or more were called than before
    many_left           fell, and a share of the line went without being called
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from enum import StrEnum
from itertools import pairwise
from math import inf, sqrt
from typing import NamedTuple

from waitroom.estimate.methods import Answer
from waitroom.estimate.tuning import TUNING
from waitroom.models import Mode, Policy, Sample, Stats

_STANDS = {Mode.PAUSED, Mode.CLOSED, Mode.ENDED}
_REACH_S = TUNING.reason_step_s * (TUNING.reason_pasts + 1)


class Reason(StrEnum):
    """Why people are told another wait than before."""

    SLOWER_ADMISSION = "slower_admission"
    FASTER_ADMISSION = "faster_admission"
    PAUSED = "paused"
    MANY_LEFT = "many_left"
    RESTORING = "restoring"


class _Limits(NamedTuple):
    """What the policy allows; a larger number never makes anybody wait longer."""

    pace: float
    capacity: float
    turnover: float


class _Totals(NamedTuple):
    """What was seen since the first renewal. It grows, also if the room's own counters do not."""

    calls: int = 0
    joined: int = 0
    stood_s: float = 0.0
    held_s: float = 0.0


class _Pace(NamedTuple):
    """How many people were called while others waited."""

    people: float
    seconds: float


class _Past(NamedTuple):
    """The room at an earlier renewal, and what people were told then, by their position."""

    at_ms: int
    waiting: int
    limits: _Limits | None
    totals: _Totals
    pace: _Pace
    likely: list[tuple[int, int]]


class _Move(NamedTuple):
    """By how much the wait of somebody moved: as a part of what they were told, and in seconds."""

    part: float
    seconds: float


class Changes:
    """What is told in one room, renewal by renewal, and the reason for its last move."""

    def __init__(self) -> None:
        self.reason: Reason | None = None
        self._since: _Past | None = None  # what the reason was found against
        self._until_ms = 0
        self._last: Stats | None = None
        self._totals = _Totals()
        self._pasts: deque[_Past] = deque(maxlen=TUNING.reason_pasts)

    def note(
        self, policy: Policy, stats: Stats, samples: Sequence[Sample], wait: Answer
    ) -> Reason | None:
        """Take over what is told from now on; return the reason that holds now."""
        if self._last is not None and self._last.epoch != stats.epoch:  # the room was cleared
            self.reason = self._since = None
            self._pasts.clear()
        self._count(stats)
        if stats.waiting and wait(stats.waiting) is not None:
            self._judge(policy, stats, wait)
            self._keep(policy, stats, samples, wait)
        return self.reason

    def _keep(self, policy: Policy, stats: Stats, samples: Sequence[Sample], wait: Answer) -> None:
        last = self._pasts[-1] if self._pasts else None
        late = last is None or stats.now_ms >= last.at_ms + TUNING.reason_step_s * 1000
        # In a line that has just formed, hardly anybody was there to be followed.
        if late or (last is not None and stats.waiting >= 2 * last.waiting):
            past = self._past(policy, stats, samples, wait)
            if past.likely:
                if not late:
                    self._pasts.pop()
                self._pasts.append(past)

    def _count(self, stats: Stats) -> None:
        last, totals = self._last, self._totals
        self._last = stats
        if last is None:
            return
        passed_s = max(0.0, (stats.now_ms - last.now_ms) / 1000)
        self._totals = _Totals(
            totals.calls + _grown(last, stats, "called_total"),
            totals.joined + _grown(last, stats, "joined"),
            totals.stood_s + (passed_s if last.mode in _STANDS else 0.0),
            totals.held_s + (0.0 if last.hold_until_ms is None else passed_s),
        )

    def _judge(self, policy: Policy, stats: Stats, wait: Answer) -> None:
        now_ms = stats.now_ms
        while self._pasts and self._open_s(self._pasts[0], stats) > _REACH_S:
            self._pasts.popleft()  # of another line, or before nobody looked for a while
        for past in reversed(self._pasts):  # the latest change counts
            moves = self._moves(past, stats, wait)
            if moves and max(moves[-1].part, -moves[0].part) > TUNING.reason_move:
                reason = self._evidence(past, policy, stats, moves)
                if reason is not None:
                    self.reason, self._since = reason, past
                    self._until_ms = now_ms + int(TUNING.reason_stays_s * 1000)
                    return
        if self._since is not None:
            moves = self._moves(self._since, stats, wait)
            back = moves and max(moves[-1].part, -moves[0].part) < TUNING.reason_back
            if back or now_ms >= self._until_ms:
                self.reason = self._since = None

    def _open_s(self, past: _Past, stats: Stats) -> float:
        """Return for how long people could be called since then."""
        stood_s = self._totals.stood_s + self._totals.held_s
        stood_s -= past.totals.stood_s + past.totals.held_s
        return (stats.now_ms - past.at_ms) / 1000 - stood_s

    def _moves(self, past: _Past, stats: Stats, wait: Answer) -> list[_Move]:
        """Return how the wait of each person followed moved, the largest fall first."""
        calls, gone = self._thinned(past, stats)
        stay = 1 - gone / max(1, past.waiting - calls)
        passed_s = (stats.now_ms - past.at_ms) / 1000
        moves = []
        for position, told_s in past.likely:
            now = wait(max(1, round((position - calls) * stay))) if position > calls else None
            if now is not None:
                moved_s = now.likely - told_s + passed_s
                moves.append(_Move(moved_s / told_s, moved_s))
        moves.sort()
        return moves

    def _thinned(self, past: _Past, stats: Stats) -> tuple[int, int]:
        """Return how many were called since then, and how many went without being called."""
        calls = self._totals.calls - past.totals.calls
        joined = self._totals.joined - past.totals.joined
        left = max(0, past.waiting - calls)
        return calls, max(0, min(left, past.waiting + joined - calls - stats.waiting))

    def _evidence(
        self, past: _Past, policy: Policy, stats: Stats, moves: list[_Move]
    ) -> Reason | None:
        fell, grew = moves[0].part < -TUNING.reason_move, moves[-1].part > TUNING.reason_move
        totals = self._totals
        stood_s, held_s = totals.stood_s - past.totals.stood_s, totals.held_s - past.totals.held_s
        if stats.hold_until_ms is not None:
            held_s += max(0.0, (stats.hold_until_ms - stats.now_ms) / 1000)
        if grew and max(stood_s, held_s) >= TUNING.reason_share * moves[-1].seconds:
            return Reason.RESTORING if held_s >= stood_s else Reason.PAUSED
        limits = _limits(policy)
        if limits is not None and past.limits is not None:
            pairs = [*zip(past.limits, limits, strict=True)]
            if grew and any(now < then for then, now in pairs):
                return Reason.SLOWER_ADMISSION
            if fell and any(now > then for then, now in pairs):
                return Reason.FASTER_ADMISSION
        calls, gone = self._thinned(past, stats)
        enough = max(TUNING.reason_many, TUNING.reason_share * -moves[0].part) * past.waiting
        if fell and not held_s and gone >= enough:
            return Reason.MANY_LEFT
        # A pace moves every wait. Where calls come in waves, because sessions end together, only
        # some waits move, to and fro.
        slower, faster = moves[0].part > TUNING.reason_move, moves[-1].part < -TUNING.reason_move
        if not (slower or faster):
            return None
        more = _more(past.pace, calls, self._open_s(past, stats), _step(policy))
        if slower and more < 0:
            return Reason.SLOWER_ADMISSION
        return Reason.FASTER_ADMISSION if faster and more > 0 else None

    def _past(self, policy: Policy, stats: Stats, samples: Sequence[Sample], wait: Answer) -> _Past:
        places = {max(1, stats.waiting // part) for part in TUNING.reason_parts}
        answers = [(place, wait(place)) for place in places]
        likely = [
            (place, answer.likely)
            for place, answer in answers
            if answer is not None and answer.likely >= TUNING.reason_least_s
        ]
        pace = _pace(stats, samples)
        return _Past(stats.now_ms, stats.waiting, _limits(policy), self._totals, pace, likely)


def _grown(last: Stats, stats: Stats, counter: str) -> int:
    """Return by how much a counter grew; after a loss it starts again and says nothing."""
    return max(0, stats.counters.get(counter, 0) - last.counters.get(counter, 0))


def _limits(policy: Policy) -> _Limits | None:
    """Return what the policy allows, or None where a host decides."""
    if policy.mode is Mode.MANUAL:
        return None
    if policy.mode is Mode.BYPASS:
        return _Limits(inf, inf, inf)
    pace = inf
    if policy.batch is not None and policy.every_s is not None:
        pace = policy.batch / policy.every_s
    if policy.max_entries is not None and policy.per_s is not None:
        pace = min(pace, policy.max_entries / policy.per_s)
    capacity = inf if policy.capacity is None else policy.capacity
    return _Limits(pace, capacity, 1 / policy.session_s if policy.session_s else inf)


def _step(policy: Policy) -> int:
    """Return how many people may be called at once: calls come in steps of this size."""
    return (policy.batch or 0) if policy.every_s else (policy.max_entries or 0)


def _pace(stats: Stats, samples: Sequence[Sample]) -> _Pace:
    """Return how many were called lately while people waited, newest first, as far as needed."""
    people, seconds = 0, 0.0
    oldest_ms = stats.now_ms - TUNING.reason_before_s * 1000
    for newer, older in pairwise(reversed(samples)):
        if older.at_ms < oldest_ms:
            break
        if newer.waiting and older.waiting and newer.called_total >= older.called_total:
            people += newer.called_total - older.called_total
            seconds += max(0, newer.at_ms - older.at_ms) / 1000
    return _Pace(people, seconds)


def _more(before: _Pace, calls: int, seconds: float, step: int) -> float:
    """Return how many more were called than at the pace before; 0 if chance may explain it."""
    if before.seconds <= 0 or seconds <= 0:
        return 0.0
    due = before.people / before.seconds * seconds
    scatter = sqrt(max(due, 1.0) * (1 + seconds / before.seconds))
    least = max(TUNING.reason_errors * scatter + step, TUNING.reason_pace * due)
    return calls - due if abs(calls - due) > least else 0.0
