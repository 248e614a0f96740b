"""What a lever will do, told before it is pulled: the change, and what it does to the wait.

The estimate that people see follows what was observed, which a change has not yet had time to
alter. So both policies are projected by their limits and the length of sessions seen, and the
estimate of now is scaled by how far the two are apart.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import Any

from waitroom.estimate.flow import History
from waitroom.estimate.methods import estimator
from waitroom.models import Eta, Mode, Policy
from waitroom.server.operator.levers.wishes import FIELDS, Lever, Wish
from waitroom.server.rooms.board import Board


@dataclass(frozen=True, slots=True)
class Preview:
    """What would change, and what that does to the last in line."""

    changed: dict[str, tuple[Any, Any]]
    before_s: float | None
    after_s: float | None
    notes: tuple[tuple[str, int], ...] = ()

    @property
    def same(self) -> bool:
        """Whether the wait stays, as far as anybody would notice."""
        if self.before_s is None or self.after_s is None:
            return False
        return abs(self.before_s - self.after_s) <= max(5.0, 0.03 * self.before_s)


def preview(board: Board, wish: Wish) -> Preview:
    """Return what a wish would do to a room as it is now."""
    before = board.wait(max(1, board.stats.waiting))
    before_s = None if before is None else float(before.likely)
    if wish.lever is Lever.ADMIT:
        return _admission(board, wish, before_s)
    if wish.lever not in FIELDS:
        return Preview({}, before_s, before_s)
    changed = board.policy.change(**wish.changes)  # the policy itself says what is not allowed
    old, new = board.policy.as_dict(), changed.as_dict()
    differ = {name: (old[name], new[name]) for name in old if old[name] != new[name]}
    after_s = _scaled(board, changed, before_s)
    return Preview(differ, before_s, after_s, tuple(_notes(board, changed)))


def _admission(board: Board, wish: Wish, before_s: float | None) -> Preview:
    """Calling people by hand moves everybody behind them up by as many places."""
    policy, stats = board.policy, board.stats
    count, notes = min(wish.count, stats.waiting), []
    if wish.count > stats.waiting:
        notes.append(("note_fewer", stats.waiting))
    if policy.capacity is not None:
        room = max(0, policy.capacity - stats.called - stats.inside)
        if count > room:
            notes.append(("note_forced" if wish.force else "note_room", room))
            count = count if wish.force else room
    if not wish.force and stats.mode in (Mode.PAUSED, Mode.CLOSED, Mode.ENDED):
        notes, count = [("note_refused", 0)], 0
    after = board.wait(stats.waiting - count) if count < stats.waiting else None
    after_s = 0.0 if 0 < stats.waiting == count else None if after is None else float(after.likely)
    return Preview({}, before_s, after_s, tuple(notes))


def _notes(board: Board, policy: Policy) -> list[tuple[str, int]]:
    taken = board.stats.called + board.stats.inside
    notes = []
    if policy.mode is not board.policy.mode:
        notes.append((f"note_{policy.mode}", 0))
    lowered = policy.capacity is not None and policy.capacity != board.policy.capacity
    if lowered and policy.capacity is not None and taken > policy.capacity:
        notes.append(("note_over", taken - policy.capacity))
    if policy.batch is None and board.policy.batch is not None:
        notes.append(("note_no_pace", 0))
    return notes


def _scaled(board: Board, changed: Policy, before_s: float | None) -> float | None:
    now_s, then_s = projected_s(board, board.policy), projected_s(board, changed)
    if then_s is None or before_s is None or not now_s:
        return then_s
    return before_s * then_s / now_s


def projected_s(board: Board, policy: Policy) -> float | None:
    """Return what the limits of a policy give for the last in line, judged by no past pace."""
    stats = board.stats
    holding_s, _ = History(board.policy, stats, board.samples).holding_s()
    plain: dict[str, Any] = {"eta": Eta.OBSERVED}
    if holding_s is not None:
        allowed = Policy.__dataclass_fields__["session_s"].metadata
        plain["session_s"] = max(allowed["low"], min(holding_s, allowed["high"]))
    with contextlib.suppress(ArithmeticError):
        wait = estimator(policy.change(**plain), stats, ()).wait(max(1, stats.waiting))
        return None if wait is None else float(wait.likely)
    return None
