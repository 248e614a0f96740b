"""The way of one person through a room, and why they are still waiting. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from waitroom.engine import Steps
from waitroom.engine.audit import Entry
from waitroom.models import BeforeOpen, Event, Mode, Person, Policy, Reason, State
from waitroom.server.rooms.board import Board

AWAY_S = 30.0
"""A person who was heard from within this time is present: pages poll more often."""

_SAME_MS = 10_000
"""An event and a line of the log this close to each other are the same action."""

_ACTIONS = {"called": "call", "reinstated": "reinstate"}


@dataclass(frozen=True, slots=True)
class WayStep:
    """Something that happened to somebody: `key` is its text, `entry` says who did it."""

    at_ms: int
    key: str
    entry: Entry | None = None


@dataclass(frozen=True, slots=True)
class Cause:
    """One reason why somebody is where they are; `at_ms` is shown after the text."""

    key: str
    values: dict[str, Any] = field(default_factory=dict)
    at_ms: int | None = None
    span_s: float | None = None
    left_s: float | None = None


def way(person: Person, steps: Steps, entries: Iterable[Entry], policy: Policy) -> list[WayStep]:
    """Return what is known about somebody's way, oldest first."""
    deeds = [entry for entry in entries if _names(entry, person.id)]
    line: list[WayStep] = []
    joined = _joined_ms(person, steps, policy)
    if joined is not None:
        line.append(WayStep(joined, "step_joined"))
    for event in steps.events:
        entry = _entry_of(event, deeds)
        if entry is not None:
            deeds.remove(entry)
        line.append(WayStep(event.at_us // 1000, _key(event), entry))
    line += [WayStep(entry.at_ms, f"step_did_{entry.action}", entry) for entry in deeds]
    return sorted(line, key=lambda step: step.at_ms)


def gap_ms(person: Person, steps: Steps, line: list[WayStep]) -> int | None:
    """Return since when events are kept, if events of this person may be missing."""
    if steps.complete or steps.since_us is None:
        return None
    since = steps.since_us // 1000
    begins_later = bool(line) and line[0].key == "step_joined" and line[0].at_ms >= since
    return None if begins_later and person.state is not State.GONE else since


def causes(board: Board, person: Person, per_minute: int) -> list[Cause]:
    """Return why somebody is where they are, the most important reason first."""
    stats = board.stats
    if person.state is State.CALLED:
        key = "why_called" if person.until_ms else "why_called_free"
        return [Cause(key, at_ms=person.until_ms)]
    if person.state is State.INSIDE:
        key = "why_inside" if person.until_ms else "why_inside_free"
        return [Cause(key, at_ms=person.until_ms)]
    if person.state is State.GONE:
        return [Cause("why_banned")] if person.banned else []
    ahead = _ahead(person, per_minute, hidden=stats.hidden)
    return [*_standing(board), *_limits(board), ahead, *_away(board, person)]


def _standing(board: Board) -> Iterator[Cause]:
    policy, stats = board.policy, board.stats
    if stats.mode in (Mode.PAUSED, Mode.CLOSED, Mode.ENDED, Mode.MANUAL):
        yield Cause(f"why_{stats.mode}")
    if policy.opens_at_ms is not None and policy.opens_at_ms > stats.now_ms:
        yield Cause("why_before", at_ms=policy.opens_at_ms)
    if stats.hold_until_ms is not None:
        yield Cause("why_hold", at_ms=stats.hold_until_ms)


def _limits(board: Board) -> Iterator[Cause]:
    policy, stats = board.policy, board.stats
    taken = stats.called + stats.inside
    if policy.capacity is not None and taken >= policy.capacity:
        yield Cause("why_capacity", {"n": taken, "of": policy.capacity})
    if policy.max_entries is not None and stats.entries_in_window >= policy.max_entries:
        yield Cause("why_window", {"n": stats.entries_in_window}, span_s=policy.per_s)


def _ahead(person: Person, per_minute: int, *, hidden: bool) -> Cause:
    if hidden:
        return Cause("why_draw")
    if person.position is None:
        return Cause("why_restoring")
    if person.position == 1:
        return Cause("why_next")
    values = {"n": person.position - 1, "pace": per_minute}
    return Cause("why_ahead" if per_minute else "why_ahead_still", values)


def _away(board: Board, person: Person) -> Iterator[Cause]:
    if person.seen_ms is None or board.stats.mode in (Mode.CLOSED, Mode.ENDED):
        return
    silent_s = (board.stats.now_ms - person.seen_ms) / 1000
    if silent_s < AWAY_S:
        yield Cause("why_there")
    elif board.policy.presence_s is None:
        yield Cause("why_silent", span_s=silent_s)
    else:
        left_s = max(0.0, board.policy.presence_s - silent_s)
        yield Cause("why_away", span_s=silent_s, left_s=left_s)


def _names(entry: Entry, ticket_id: str) -> bool:
    detail = entry.detail
    return detail.get("ticket") == ticket_id or ticket_id in (detail.get("tickets") or ())


def _entry_of(event: Event, deeds: Iterable[Entry]) -> Entry | None:
    """Return the line of the log about the same action."""
    action = "kick" if event.reason is Reason.KICKED else _ACTIONS.get(event.kind)
    near = (
        entry
        for entry in deeds
        if entry.action == action and abs(entry.at_ms - event.at_us // 1000) < _SAME_MS
    )
    return next(near, None)


def _key(event: Event) -> str:
    return f"step_{event.reason}" if event.reason is not None else f"step_{event.kind}"


def _joined_ms(person: Person, steps: Steps, policy: Policy) -> int | None:
    """Return when they came, from a place that was neither drawn nor changed."""
    place = person.place if person.place is not None else _called_place(person, steps, policy)
    if place is None or person.defers:
        return None
    if any(event.kind in ("reinstated", "placed") for event in steps.events):
        return None
    at_ms = place // 1000
    drawn = policy.before_open is BeforeOpen.DRAW and at_ms <= (policy.opens_at_ms or 0)
    return None if drawn else at_ms


def _called_place(person: Person, steps: Steps, policy: Policy) -> int | None:
    """Return the place at which somebody was first called; None if places can be deferred."""
    if policy.max_defers:
        return None
    for event in steps.events:
        if event.kind == "called" and len(event.places) == len(event.ids):
            return event.places[event.ids.index(person.id)]
    return None
