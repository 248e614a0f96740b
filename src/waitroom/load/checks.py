"""What must be true of the people's own notes, whatever the server says of itself. Pure.

A request takes time, and what it did was done at some moment of that time. Nothing is called wrong
that could have been right: a place counts as held only while it surely was, an entry only for the
window that it surely lies in, and two people are compared only if one was in line before the other
had asked. So a check that failed has found a fault; one that is ok has found none.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from math import isnan

from waitroom.load.plan import Limits
from waitroom.load.visits import End, Visit


class Verdict(StrEnum):
    """How a check came out."""

    OK = "ok"
    FAILED = "failed"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Check:
    """One check: how it came out, and what was found."""

    name: str
    verdict: Verdict
    found: str


def all_checks(visits: Iterable[Visit], limits: Limits) -> tuple[Check, ...]:
    """Make every check."""
    seen = list(visits)
    return (
        order(seen, limits),
        capacity(seen, limits),
        rolling(seen, limits),
        positions(seen),
        nobody_lost(seen),
    )


def order(visits: Iterable[Visit], limits: Limits) -> Check:
    """Whoever came first was called first."""
    name = "order"
    if not limits.in_order or limits.free:
        return _unknown(name, "the room does not call people in the order of their arrival")
    waited = [one for one in visits if not isnan(one.last_waiting) and not isnan(one.joined)]
    earlier = sorted(waited, key=lambda one: one.joined)
    later = sorted((one for one in visits if not isnan(one.called)), key=lambda one: one.join_sent)
    compared = overtakes = index = 0
    still_waiting = float("-inf")  # the latest moment at which one of those before surely waited
    for one in later:
        while index < len(earlier) and earlier[index].joined < one.join_sent:
            still_waiting = max(still_waiting, earlier[index].last_waiting)
            index += 1
        compared += index > 0
        overtakes += still_waiting > one.called
    if overtakes:
        people = _people(overtakes, "was", "were")
        return _failed(name, f"{people} called while somebody who came before still waited")
    if not compared:
        return _unknown(name, "nobody was called after somebody else had to wait")
    return _ok(name, f"{_people(compared)} called, none before somebody who came earlier")


def capacity(visits: Iterable[Visit], limits: Limits) -> Check:
    """Never more people called + inside at once than `capacity`."""
    name = "capacity"
    if (reason := _no_limit(limits, limits.capacity, "--capacity")) or limits.capacity is None:
        return _unknown(name, reason or "")
    moments: list[tuple[float, int]] = []
    for one in visits:
        if one.called < one.held_until:  # not if either is NaN
            moments += ((one.called, 1), (one.held_until, -1))
    held = most = 0
    for _, change in sorted(moments):  # who goes makes room before who comes takes it
        held += change
        most = max(most, held)
    if most > limits.capacity:
        return _failed(name, f"{most:,} called or inside at once, {limits.capacity:,} allowed")
    if not moments:
        return _unknown(name, "nobody was called")
    return _ok(name, f"at most {most:,} called or inside at once, {limits.capacity:,} allowed")


def rolling(visits: Iterable[Visit], limits: Limits) -> Check:
    """Never more people going inside in any window of `per_s` than `max_entries`."""
    name = "rolling limit"
    reason = _no_limit(limits, limits.max_entries, "--max-entries and --per-s")
    if reason or limits.max_entries is None or limits.per_s is None:
        return _unknown(name, reason or "")
    entries = [one for one in visits if not isnan(one.entered)]
    sent = sorted(one.enter_sent for one in entries)
    done = sorted(one.entered for one in entries)
    # In the window that begins with a request: all that were done by its end, less all that were
    # asked for before it. An entry that took longer than the window is counted as none.
    within = (
        bisect_right(done, start + limits.per_s) - before for before, start in enumerate(sent)
    )
    most = max(within, default=0)
    said = f"{most:,} went inside within {limits.per_s:g} s, {limits.max_entries:,} allowed"
    if most > limits.max_entries:
        return _failed(name, said)
    if not entries:
        return _unknown(name, "nobody went inside")
    return _ok(name, f"at most {said}")


def positions(visits: Iterable[Visit]) -> Check:
    """A position only falls."""
    name = "positions"
    rose = seen = moves = 0
    for one in visits:
        rose += one.rises > 0
        seen += one.positions > 1
        moves += max(0, one.positions - 1)
    if rose:
        return _failed(name, f"the position of {_people(rose)} rose while they waited")
    if not seen:
        return _unknown(name, "nobody saw their position twice")
    return _ok(name, f"{_people(seen)} saw theirs {moves:,} times more: it never rose")


def nobody_lost(visits: Iterable[Visit]) -> Check:
    """Everybody was served, left, was refused, or is still there."""
    name = "nobody lost"
    ends = Counter(one.end for one in visits)
    lost, unreached, late = (ends[end] for end in (End.LOST, End.UNREACHED, End.LATE))
    if lost or unreached:
        parts = [f"{_people(lost)} lost their place though they asked in time"] if lost else []
        parts += [f"{_people(unreached)} got nothing but errors"] if unreached else []
        return _failed(name, ", ".join(parts))
    came = ends.total() - ends[End.NOT_COME]
    if late or not came:
        silent = f"{_people(late)} lost their place, but this load test had asked too late"
        return _unknown(name, silent if late else "nobody came")
    return _ok(name, f"it is known of all {_people(came)} how they ended")


def _no_limit(limits: Limits, value: float | None, option: str) -> str | None:
    """Return why a limit cannot be checked, if it cannot."""
    if limits.free:
        return "the room lets everybody in"
    if value is not None:
        return None
    return "the room has none" if limits.known else f"not known here; give {option}, or --key"


def _people(count: int, one: str = "", many: str = "") -> str:
    found = "1 person" if count == 1 else f"{count:,} people"
    return f"{found} {one if count == 1 else many}".rstrip()


def _ok(name: str, found: str) -> Check:
    return Check(name, Verdict.OK, found)


def _failed(name: str, found: str) -> Check:
    return Check(name, Verdict.FAILED, found)


def _unknown(name: str, found: str) -> Check:
    return Check(name, Verdict.UNKNOWN, found)
