"""What a timed change does: an end or an opening, now or later, and people called by hand."""

from __future__ import annotations

from waitroom.estimate.methods import delay_of
from waitroom.estimate.outlook import Prospects, calls_at_once, room_left
from waitroom.models import Mode, Policy
from waitroom.server.operator.levers.facts import Fact, kept_facts
from waitroom.server.rooms.board import Board


def end(board: Board, policy: Policy, prospects: Prospects) -> list[Fact]:
    """Return who is told that it is over, and who is still served."""
    stats, ends_ms = board.stats, policy.ends_at_ms
    if policy.mode_at(stats.now_ms) is Mode.ENDED:
        over = [Fact("fact_ended", n=stats.waiting), *kept_facts(board)]
        return [Fact("fact_end_passed"), *over] if policy.mode is not Mode.ENDED else over
    if ends_ms is None:
        return [Fact("fact_no_end")]
    left_s = (ends_ms - stats.now_ms) / 1000
    facts = [Fact("fact_ends_at", at_ms=ends_ms, span_s=left_s)]
    if not stats.waiting:
        return facts
    left = prospects.still_waiting(policy, left_s) if policy.mode is Mode.OPEN else None
    if left is None:
        return [*facts, Fact("fact_end_unknown", n=stats.waiting)]
    if not left:
        return [*facts, Fact("fact_end_all", n=stats.waiting)]
    return [*facts, Fact("fact_end_left", n=left, of=stats.waiting)]


def events(board: Board, policy: Policy, prospects: Prospects) -> list[Fact]:
    """Return what an opening and an end will do, and how soon."""
    facts = []
    if policy.opens_at != board.policy.opens_at:
        facts += _opening(board, policy)
    if policy.ends_at != board.policy.ends_at:
        facts += end(board, policy, prospects)
    return facts


def _opening(board: Board, policy: Policy) -> list[Fact]:
    stats, opens_ms = board.stats, policy.opens_at_ms
    if opens_ms is not None and opens_ms > stats.now_ms:
        facts = [Fact("fact_opens_at", at_ms=opens_ms, span_s=(opens_ms - stats.now_ms) / 1000)]
        facts.append(Fact(f"fact_before_{policy.before_open}"))
        if not delay_of(board.policy, stats) and stats.mode is Mode.OPEN:
            facts.append(Fact("fact_opens_again"))
        opened = policy.change(opens_at=None, before_open="wait")
        called = calls_at_once(opened, stats)
        return [*facts, Fact("fact_opens_calls", n=called)] if called else facts
    called = calls_at_once(policy, stats) - calls_at_once(board.policy, stats)
    facts = [Fact("fact_opens_now")]
    return [*facts, Fact("fact_at_once", n=called)] if called > 0 else facts


def admission(board: Board, count: int, force: bool) -> tuple[list[Fact], int]:
    """Return who is called by hand and above which limits, and how many people that is."""
    policy, stats = board.policy, board.stats
    wanted = min(count, stats.waiting)
    room = room_left(policy, stats)
    on_hold = stats.hold_until_ms is not None
    early = delay_of(policy, stats) > 0 and not on_hold
    if not force and (stats.mode in (Mode.PAUSED, Mode.CLOSED, Mode.ENDED) or on_hold or early):
        return [Fact("fact_admit_hold" if on_hold else "fact_admit_refused")], 0
    if not wanted:
        return [Fact("fact_nobody_waits")], 0
    bypass = stats.mode is Mode.BYPASS
    called = wanted if force or bypass else min(wanted, room)
    facts = [_called(policy, called, stats.waiting)] if called else []
    if count > stats.waiting:
        facts.append(Fact("fact_admit_fewer", n=stats.waiting))
    if called < wanted:
        facts.append(Fact("fact_admit_room" if called else "fact_admit_none", n=wanted - called))
    taken = stats.called + stats.inside + called
    if policy.capacity is not None and taken > policy.capacity:
        facts.append(Fact("fact_admit_over", n=taken - policy.capacity, of=policy.capacity))
    entries = stats.entries_in_window + stats.called + called
    if policy.max_entries is not None and entries > policy.max_entries:
        over = entries - policy.max_entries
        facts.append(Fact("fact_admit_entries", n=over, of=policy.max_entries))
    return facts, called


def _called(policy: Policy, called: int, waiting: int) -> Fact:
    if policy.enter_within_s is None:
        return Fact("fact_admit_free", n=called, of=waiting)
    return Fact("fact_admit", n=called, of=waiting, exact_s=policy.enter_within_s)
