"""What operators get, made from the JSON of the server. Pure.

Times are Unix time with the unit in the name, as in the operator API.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from waitroom.client.views import made, moment, wait
from waitroom.estimate.methods import Wait
from waitroom.models import POLICY_FIELDS, CodeBatch, Policy, Reason, State


@dataclass(frozen=True, slots=True)
class Numbers:
    """A room at a glance; `eta_s`, what a newcomer would wait, is told by `stats` alone."""

    waiting: int
    called: int
    inside: int
    entries_in_window: int
    hold_until_ms: int | None
    oldest_wait_ms: int
    may_return: int
    counters: dict[str, int]
    now_ms: int
    eta_s: Wait | None = None


@dataclass(frozen=True, slots=True)
class ManagedRoom:
    """A room with its policy and numbers; after a change also what changed, as (old, new)."""

    name: str
    version: int
    epoch: int
    message_at_ms: int | None
    policy: Policy
    stats: Numbers
    changed: dict[str, tuple[Any, Any]] = field(default_factory=dict)
    undoes: str | None = None


@dataclass(frozen=True, slots=True)
class ManagedRooms:
    """A page of rooms; `problems` are those that cannot be read, by name."""

    rooms: tuple[ManagedRoom, ...]
    problems: dict[str, str]
    after: str | None


@dataclass(frozen=True, slots=True)
class MadeCodes:
    """A new batch of entry codes, and the codes, which nobody can show again."""

    batch: CodeBatch
    codes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Admitted:
    """How many were called, fewer where limits leave no room, and how many wait on."""

    called: int
    waiting: int


@dataclass(frozen=True, slots=True)
class Called:
    """Until when a called ticket may enter; None is without limit."""

    ticket_id: str
    enter_by_ms: int | None


@dataclass(frozen=True, slots=True)
class Kicked:
    """How many were meant, how many of them were here, and whether to call again for more."""

    found: int
    kicked: int
    more: bool


@dataclass(frozen=True, slots=True)
class Reinstated:
    """Where somebody stands again."""

    ticket_id: str
    short_code: str
    position: int
    waiting: int


@dataclass(frozen=True, slots=True)
class ListedTicket:
    """One line of a list; `place` is None before a draw is over."""

    id: str
    short_code: str
    state: State
    place: int | None
    seen_ms: int | None
    until_ms: int | None
    sid: int | None


@dataclass(frozen=True, slots=True)
class TicketPage:
    """A page of a list; `after` is the cursor of the next one."""

    tickets: tuple[ListedTicket, ...]
    after: str | None
    ordered: bool


@dataclass(frozen=True, slots=True)
class Sighting:
    """Somebody in one room, here or gone."""

    room: str
    id: str
    short_code: str
    state: State
    reason: Reason | None
    since_ms: int | None
    position: int | None
    seen_ms: int | None
    until_ms: int | None
    banned: bool


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """Who did what."""

    id: str
    at_ms: int
    key_id: str
    key_name: str
    role: str
    way: str
    action: str
    room: str | None
    detail: dict[str, Any]
    address: str


@dataclass(frozen=True, slots=True)
class AuditPage:
    """A page of the audit log, newest first; `before` is the cursor of the next one."""

    entries: tuple[AuditEntry, ...]
    before: str | None


@dataclass(frozen=True, slots=True)
class RoomEvent:
    """What happened in a room; `cursor` goes on after it. A `gap`, of what is lost, has no id."""

    id: str
    type: str
    room: str
    at: datetime | None
    data: dict[str, Any]
    cursor: str


def numbers(body: Mapping[str, Any]) -> Numbers:
    """Read a room's numbers."""
    return made(Numbers, body, eta_s=wait(body.get("eta_s")))


def managed_room(body: Mapping[str, Any]) -> ManagedRoom:
    """Read a room; fields of a policy that only a newer Waitroom knows are left out."""
    policy = {name: value for name, value in body["policy"].items() if name in POLICY_FIELDS}
    changed = {name: (both["old"], both["new"]) for name, both in body.get("changed", {}).items()}
    return made(
        ManagedRoom,
        body,
        policy=Policy().change(**policy),
        stats=numbers(body["stats"]),
        changed=changed,
    )


def listed(body: Mapping[str, Any]) -> ListedTicket:
    """Read a line of a list."""
    return made(ListedTicket, body, state=State(body["state"]))


def sighting(body: Mapping[str, Any]) -> Sighting:
    """Read somebody who was found."""
    reason = None if body["reason"] is None else Reason(body["reason"])
    return made(Sighting, body, state=State(body["state"]), reason=reason)


def event(body: Mapping[str, Any], cursor: str) -> RoomEvent:
    """Read an event of a room."""
    at = moment(body.get("at"))
    return made(RoomEvent, body, id=body.get("id", ""), at=at, cursor=cursor)
