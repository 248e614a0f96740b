"""Checks on what the visitors themselves saw, whatever the server says about itself. Pure.

The server handles a request at some moment between sending and reply. The checks give it the
benefit of the doubt: a place counts as held only while it certainly was, an entry counts only for a
window that it certainly lies in, and two people are compared only if one was in line before the
other asked. So a failed check always means a fault; an ok only means that none was seen.
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
    """The result of a check."""

    OK = "ok"
    FAILED = "failed"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Check:
    """One check: its verdict, and the details in words."""

    name: str
    verdict: Verdict
    detail: str


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
    waited = [
        visit for visit in visits if not isnan(visit.last_waiting) and not isnan(visit.joined)
    ]
    earlier = sorted(waited, key=lambda visit: visit.joined)
    later = sorted(
        (visit for visit in visits if not isnan(visit.called)), key=lambda visit: visit.join_sent
    )
    compared = overtakes = index = 0
    still_waiting = float("-inf")  # the latest moment at which an earlier person certainly waited
    for visit in later:
        while index < len(earlier) and earlier[index].joined < visit.join_sent:
            still_waiting = max(still_waiting, earlier[index].last_waiting)
            index += 1
        compared += index > 0
        overtakes += still_waiting > visit.called
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
    for visit in visits:
        if visit.called < visit.held_until:  # not if either is NaN
            moments += ((visit.called, 1), (visit.held_until, -1))
    taken = most = 0
    for _, change in sorted(moments):  # at the same moment, leaving counts before coming
        taken += change
        most = max(most, taken)
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
    entries = [visit for visit in visits if not isnan(visit.entered)]
    sent = sorted(visit.enter_sent for visit in entries)
    done = sorted(visit.entered for visit in entries)
    # For the window that begins with a request: all entries done by its end, less all requests sent
    # before it. An entry that took longer than the window does not count.
    within = (
        bisect_right(done, start + limits.per_s) - before for before, start in enumerate(sent)
    )
    most = max(within, default=0)
    finding = f"{most:,} went inside within {limits.per_s:g} s, {limits.max_entries:,} allowed"
    if most > limits.max_entries:
        return _failed(name, finding)
    if not entries:
        return _unknown(name, "nobody went inside")
    return _ok(name, f"at most {finding}")


def positions(visits: Iterable[Visit]) -> Check:
    """A position only falls."""
    name = "positions"
    rose = seen = moves = 0
    for visit in visits:
        rose += visit.rises > 0
        seen += visit.positions > 1
        moves += max(0, visit.positions - 1)
    if rose:
        return _failed(name, f"the position of {_people(rose)} rose while they waited")
    if not seen:
        return _unknown(name, "nobody saw their position twice")
    return _ok(name, f"{_people(seen)} saw theirs {moves:,} times more: it never rose")


def nobody_lost(visits: Iterable[Visit]) -> Check:
    """Everybody was served, left, was refused, or is still there."""
    name = "nobody lost"
    ends = Counter(visit.end for visit in visits)
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
    """Return the reason if a limit cannot be checked."""
    if limits.free:
        return "the room lets everybody in"
    if value is not None:
        return None
    return "the room has none" if limits.known else f"not known here; give {option}, or --key"


def _people(count: int, singular: str = "", plural: str = "") -> str:
    people = "1 person" if count == 1 else f"{count:,} people"
    return f"{people} {singular if count == 1 else plural}".rstrip()


def _ok(name: str, detail: str) -> Check:
    return Check(name, Verdict.OK, detail)


def _failed(name: str, detail: str) -> Check:
    return Check(name, Verdict.FAILED, detail)


def _unknown(name: str, detail: str) -> Check:
    return Check(name, Verdict.UNKNOWN, detail)
