"""What a lever will do, in numbers, shown before the operator confirms it.

The wait that people see now is scaled by the difference between the two policies when both are
played forward (`estimate.outlook`), so that "before" is the number on the page.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from waitroom.estimate.methods import delay_of, estimator
from waitroom.estimate.outlook import Outlook, Prospects
from waitroom.history import sample_of
from waitroom.models import Mode, Policy
from waitroom.server.operator.levers import events, saying
from waitroom.server.operator.levers.facts import Fact, kept_facts
from waitroom.server.operator.levers.wishes import Lever, Wish
from waitroom.server.rooms.board import Board

_STANDS = (Mode.PAUSED, Mode.CLOSED, Mode.ENDED)
_OWN_LIMIT = {Lever.CAPACITY: "capacity", Lever.PACE: "pace", Lever.LIMIT: "entries"}


@dataclass(frozen=True, slots=True)
class Preview:
    """What would change, and the effects, fact by fact."""

    changed: dict[str, tuple[Any, Any]] = field(default_factory=dict)
    facts: tuple[Fact, ...] = ()
    before_s: float | None = None
    """The wait of the last in line, or of a newcomer if nobody waits."""

    after_s: float | None = None


def preview(board: Board, wish: Wish) -> Preview:
    """Return what a wish would do to a room as it is now."""
    if wish.lever in (Lever.CALL, Lever.KICK, Lever.REINSTATE):
        return Preview(facts=(Fact(f"fact_{wish.lever}"),))
    if wish.lever is Lever.ADMIT:
        return _admission(board, wish)
    policy = board.policy.change(**wish.changes)  # the policy itself refuses what is not allowed
    old, new = board.policy.as_dict(), policy.as_dict()
    changed = {name: (old[name], new[name]) for name in old if old[name] != new[name]}
    if not changed:
        return Preview()
    if wish.lever in _SAYS:
        return Preview(changed, tuple(_SAYS[wish.lever](board, policy)))
    change = Change(board, policy)
    facts = _TELLS[wish.lever](change)
    return Preview(changed, tuple(facts), change.before_s, change.after_s)


class Change:
    """A room before and after a change of its policy, or a call by hand."""

    def __init__(self, board: Board, policy: Policy, admitted: int = 0) -> None:
        self.board, self.policy, stats = board, policy, board.stats
        samples = (*board.samples, sample_of(stats))
        self.prospects = Prospects(board.policy, stats, samples)
        self.stands = policy.mode_at(stats.now_ms) in _STANDS
        # A room that stands still is judged as it will be once it continues.
        new = policy.change(mode=Mode.OPEN, ends_at=None) if self.stands else policy
        base = board.policy.change(
            **{name: getattr(new, name) for name in ("mode", "ends_at", "opens_at", "before_open")}
        )
        self.position = max(1, stats.waiting)
        wait = board.wait(self.position)
        self.before_s = None if wait is None else float(wait.likely)
        self.old: Outlook = self.prospects.under(base)
        self.new: Outlook = self.prospects.under(new, admitted=admitted)
        # What people are told has learnt from what came true, which a new estimate has not.
        unchanged = base == board.policy
        usual = wait if unchanged else estimator(base, stats, samples).wait(self.position)
        delay_s = max(0.0, delay_of(new, stats))
        self.after_s = self._scaled(None if usual is None else float(usual.likely), delay_s)

    def _scaled(self, usual_s: float | None, delay_s: float) -> float | None:
        old_s, new_s = self.old.last_s, self.new.last_s
        if new_s is None or usual_s is None or old_s is None or old_s <= delay_s:
            return new_s
        return delay_s + max(0.0, usual_s - delay_s) * (new_s - delay_s) / (old_s - delay_s)

    @property
    def same(self) -> bool:
        """Whether the wait does not change noticeably."""
        if self.before_s is None or self.after_s is None:
            return False
        return abs(self.before_s - self.after_s) <= max(5.0, 0.03 * self.before_s)


def _limit_facts(lever: Lever, change: Change) -> list[Fact]:
    stats, policy = change.board.stats, change.policy
    facts = []
    if change.stands:
        facts.append(Fact("fact_stands", mode=policy.mode_at(stats.now_ms)))
    if policy.mode is Mode.MANUAL:
        facts.append(Fact("fact_by_hand"))
    else:
        facts += wait_facts(change, _OWN_LIMIT[lever])
        facts += _called_facts(change)
        facts += _level_facts(change)
    taken = stats.called + stats.inside
    if lever is Lever.CAPACITY and policy.capacity is not None and taken > policy.capacity:
        facts.append(Fact("fact_over", n=taken - policy.capacity))
    if lever is Lever.LIMIT and policy.max_entries is not None:
        over = stats.entries_in_window - policy.max_entries
        facts += [Fact("fact_window_over", n=over)] if over > 0 else []
    if policy.batch is None and change.board.policy.batch is not None:
        facts.append(Fact("fact_no_pace"))
    return [*facts, *_basis_facts(change)]


def wait_facts(change: Change, own_limit: str = "") -> list[Fact]:
    """Return facts about the wait of the last in line, or of a newcomer."""
    waiting, before_s, after_s = change.board.stats.waiting, change.before_s, change.after_s
    if not waiting:
        nobody = Fact("fact_nobody")
        if after_s is None:
            return [nobody]
        straight = Fact("fact_new_in") if after_s < 1 else Fact("fact_new_waits", after_s=after_s)
        return [nobody, straight]
    if after_s is None:
        return [Fact("fact_last_unknown", n=waiting)]
    if after_s < 1:
        return [Fact("fact_last_at_once", n=waiting)]
    if change.stands or before_s is None:
        return [Fact("fact_last_then", n=waiting, after_s=after_s)]
    if change.same:
        bound = change.new.bound
        other = bound != own_limit and bound != "nothing" and own_limit
        key = f"fact_last_same_{bound}" if other else "fact_last_same"
        return [Fact(key, n=waiting, after_s=before_s)]
    return [Fact("fact_last_change", n=waiting, before_s=before_s, after_s=after_s)]


def _called_facts(change: Change) -> list[Fact]:
    """Return who is called at once because of the change, and the rate of calls afterwards."""
    facts = []
    if not change.stands and (more := change.new.at_once - change.old.at_once) > 0:
        paced = change.policy.batch is not None and change.new.at_once == change.policy.batch
        facts.append(Fact("fact_at_once_paced" if paced else "fact_at_once", n=more))
    old, new = change.old.rate, change.new.rate
    if change.board.stats.waiting and old and new:
        before, after = (0 if rate > 1e6 else round(60 * rate) for rate in (old, new))
        if before and after and abs(after - before) > max(1, 0.03 * before):
            facts.append(Fact("fact_rate", before=before, after=after))
    return facts


def _level_facts(change: Change) -> list[Fact]:
    """Return where the number of people called and inside levels off."""
    stats, policy, level = change.board.stats, change.policy, change.new.level
    if not stats.waiting or level is None:
        return []
    taken = stats.called + stats.inside
    way = "stays" if abs(level - taken) <= max(1, 0.03 * taken) else "rises"
    way = "falls" if way == "rises" and level < taken else way
    if policy.capacity is None:
        return [Fact(f"fact_level_{way}_free", n=level, now=taken)]
    if policy.mode is Mode.BYPASS and level > policy.capacity:
        return [Fact("fact_level_above", n=level, now=taken, of=policy.capacity)]
    return [Fact(f"fact_level_{way}", n=min(level, policy.capacity), now=taken, of=policy.capacity)]


def _basis_facts(change: Change) -> list[Fact]:
    """Return how long a place is held, if the other facts depend on it."""
    stats, session_s = change.board.stats, change.prospects.session_s
    if not stats.waiting or change.policy.mode is Mode.MANUAL:
        return []
    if session_s is None:
        return [Fact("fact_basis_none")]
    key = "fact_basis_seen" if change.prospects.is_measured else "fact_basis_guess"
    return [Fact(key, span_s=session_s)]


def _mode_facts(change: Change) -> list[Fact]:
    board, policy, stats = change.board, change.policy, change.board.stats
    mode = policy.mode_at(stats.now_ms)
    if mode is Mode.PAUSED:
        facts = [Fact("fact_paused", n=stats.waiting), *kept_facts(board), Fact("fact_may_join")]
        silent = policy.presence_s and stats.waiting
        return [*facts, Fact("fact_silent", exact_s=policy.presence_s)] if silent else facts
    if mode in (Mode.CLOSED, Mode.ENDED):
        return [Fact(f"fact_{mode}", n=stats.waiting), *kept_facts(board)]
    if mode is Mode.BYPASS:
        return [Fact("fact_bypass", n=stats.waiting), *_level_facts(change)]
    if mode is Mode.MANUAL:
        return [Fact("fact_manual", n=stats.waiting), *kept_facts(board)]
    facts = [Fact("fact_open")]
    facts += [Fact("fact_at_once", n=change.new.at_once)] if change.new.at_once else []
    return [*facts, *wait_facts(change), *_level_facts(change), *_basis_facts(change)]


def _queue_facts(change: Change) -> list[Fact]:
    waiting, limit = change.board.stats.waiting, change.policy.queue_limit
    unchanged = Fact("fact_queue_wait")
    if limit is None:
        return [Fact("fact_queue_none"), unchanged]
    if waiting > limit:
        return [Fact("fact_queue_over", n=waiting - limit, of=limit), unchanged]
    if waiting == limit:
        return [Fact("fact_queue_full", of=limit), unchanged]
    facts = [Fact("fact_queue_left", n=limit - waiting, now=waiting)]
    growth = change.prospects.arrivals - (change.new.rate or 0.0)
    if growth > 0:
        facts.append(Fact("fact_queue_fills", span_s=(limit - waiting) / growth))
    return [*facts, unchanged]


def _admission(board: Board, wish: Wish) -> Preview:
    """Return the effects of a call by hand: who, above which limits, and for those behind them."""
    facts, called = events.admission(board, wish.count, wish.force)
    change = Change(board, board.policy, called)
    if called and board.policy.mode_at(board.stats.now_ms) is Mode.OPEN:
        left = board.stats.waiting - called
        if left and change.after_s is not None and change.before_s is not None:
            key = "fact_behind_same" if change.same else "fact_behind_change"
            facts.append(Fact(key, n=left, before_s=change.before_s, after_s=change.after_s))
    return Preview({}, tuple(facts), change.before_s, change.after_s)


_SAYS: dict[Lever, Callable[[Board, Policy], list[Fact]]] = {
    Lever.MESSAGE: saying.message,
    Lever.TEXTS: saying.texts,
}
_TELLS: dict[Lever, Callable[[Change], list[Fact]]] = {
    **{lever: partial(_limit_facts, lever) for lever in _OWN_LIMIT},
    Lever.MODE: _mode_facts,
    Lever.QUEUE: _queue_facts,
    Lever.END: lambda change: events.end(change.board, change.policy, change.prospects),
    Lever.EVENTS: lambda change: events.events(change.board, change.policy, change.prospects),
}
