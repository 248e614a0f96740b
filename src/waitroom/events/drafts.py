"""What goes into the outbox, made from what scripts noted. Pure: a look in, drafts out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from waitroom.engine.outbox import Draft, Look, Source
from waitroom.models import Mode
from waitroom.moments import from_ms, written

ROOM_TYPES = (
    "room.opened",
    "room.paused",
    "room.resumed",
    "room.changed",
    "room.message",
    "room.ended",
    "room.cleared",
    "room.dropped",
    "room.limit_reached",
    "backend.away",
    "backend.back",
)
PEOPLE_TYPES = ("people.called", "people.adopted", "people.entered", "people.ended")
TYPES = (*ROOM_TYPES, *PEOPLE_TYPES, "gap")
MOST_PEOPLE = 500
FREE_AGAIN = 0.9
"""A reported limit is reported again only after the room was this much below it."""

_PEOPLE = {"called", "entered", "ended"}


def drafts(look: Look, now_ms: int, *, people: bool) -> list[Draft]:
    """Return what a look shows, in order; without `people`, only what concerns the room."""
    entries = list(_gap(look, now_ms))
    groups = _Groups(entries)
    for source in look.sources:
        if source.kind in _PEOPLE:
            if people:
                groups.add(source)
            continue
        groups.close()
        entries += _adopted(source) if people and source.kind == "adopted" else _of_room(source)
    groups.close()
    if look.dropped and not look.relay.get("dropped"):
        entries.append(Draft("room.dropped", int(float(look.dropped)), {}))
    return entries


def _gap(look: Look, now_ms: int) -> Iterator[Draft]:
    """Say that events are missing: the server lost them, or nobody relayed them in time."""
    known = 0 if look.event_no < look.known else look.known
    first = look.sources[0].n if look.sources else look.event_no + 1
    if not look.lost and first <= known + 1:
        return
    since = int(look.relay.get("at", 0))
    until = look.sources[0].at_ms if look.sources else now_ms
    data = {"since": _moment(since), "until": _moment(until), "lost": look.lost}
    yield Draft("gap", until, data)


def _adopted(source: Source) -> Iterator[Draft]:
    """Say whose place is an account's now: the ticket's that signed in."""
    person = {"id": source.ids[0], "at_ms": source.at_ms, "from": source.written["from"]}
    yield Draft("people.adopted", source.at_ms, {"people": [person]})


def _of_room(source: Source) -> Iterator[Draft]:
    at = source.at_ms
    if source.kind == "room.changed":
        changed = source.changed
        yield from _of_change(at, changed)
        data = {"version": int(source.written["version"]), "changed": changed}
        yield Draft("room.changed", at, data)
    elif source.kind in ("room.opened", "room.ended"):
        name = "opens_at" if source.kind == "room.opened" else "ends_at"
        yield Draft(source.kind, at, {name: _moment(int(source.written["moment"]))})
    elif source.kind == "cleared":
        yield Draft("room.cleared", at, {})


def _of_change(at: int, changed: dict[str, dict[str, Any]]) -> Iterator[Draft]:
    """Say by name what operators did, in addition to the change itself."""
    old, new = (changed.get("mode", {}).get(side) for side in ("old", "new"))
    if new == Mode.PAUSED:
        yield Draft("room.paused", at, {})
    elif old == Mode.PAUSED:
        yield Draft("room.resumed", at, {"mode": new})
    if new == Mode.ENDED:
        yield Draft("room.ended", at, {"ends_at": None})
    if "message" in changed:
        yield Draft("room.message", at, {"message": changed["message"]["new"]})


def limits(look: Look, now_ms: int, entries: int | None) -> tuple[list[Draft], str]:
    """Return what to say about limits that were just reached, and the names of all reached.

    `entries` is how many of the rolling limit are taken; None if that is not known.
    """
    active = set(look.relay.get("limits", "").split())
    reached: list[Draft] = []
    counts = {"queue_limit": look.waiting, "capacity": look.admitted, "max_entries": entries}
    for name, count in counts.items():
        limit = look.limits.get(name)
        if count is None:
            continue
        if limit is None or count < limit * FREE_AGAIN:
            active.discard(name)
        elif count >= limit and name not in active and look.waiting > 0:
            active.add(name)
            data = {"limit": name, "value": limit, "count": count, "waiting": look.waiting}
            reached.append(Draft("room.limit_reached", now_ms, data))
    return reached, " ".join(sorted(active))


@dataclass(slots=True)
class _Group:
    kind: str
    reason: str | None
    at_ms: int = 0
    people: list[dict[str, Any]] = field(default_factory=list)
    ids: set[str] = field(default_factory=set)


class _Groups:
    """Groups people to whom the same happened, without changing the order of anybody's steps."""

    def __init__(self, entries: list[Draft]) -> None:
        self._entries = entries
        self._open: list[_Group] = []

    def add(self, source: Source) -> None:
        """Add an event to the last group of its kind, or begin one."""
        group = self._fitting(source)
        places = source.places or (None,) * len(source.ids)
        for ticket_id, place in zip(source.ids, places, strict=False):
            person = {"id": ticket_id, "at_ms": source.at_ms}
            group.people.append(person if place is None else person | {"place_us": place})
        group.ids |= set(source.ids)
        group.at_ms = source.at_ms

    def _fitting(self, source: Source) -> _Group:
        reason = source.written.get("reason")
        for group in reversed(self._open):
            if (group.kind, group.reason) == (source.kind, reason):
                if len(group.people) + len(source.ids) <= MOST_PEOPLE:
                    return group
                break
            if not group.ids.isdisjoint(source.ids):  # readers must read that first
                break
        self._open.append(_Group(source.kind, reason))
        return self._open[-1]

    def close(self) -> None:
        """Return all groups, in the order in which they began."""
        for group in self._open:
            data: dict[str, Any] = {"people": group.people}
            if group.reason is not None:
                data = {"reason": group.reason, **data}
            self._entries.append(Draft(f"people.{group.kind}", group.at_ms, data))
        self._open = []


def _moment(ms: int) -> str | None:
    return written(from_ms(ms)) if ms else None
