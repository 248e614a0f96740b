"""The types of the desk: stores, waiting types, parties, and their places. Pure.

A party is whoever waits together for one table. A store has one line per waiting type, and
`line_name` is the name of that type. Times are Unix time in ms, sort keys in µs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from typing import Any

MINUTES_PER_TEAM = 15.0
"""Assumed for a line that has too few seatings to learn from."""

SAMPLES_KEPT = 150
SAMPLES_NEEDED = 10
TEAMS_BEFORE_NOTICE = 3


class Status(StrEnum):
    """Where a party is."""

    WAITING = "WAITING"
    CALLED = "CALLED"
    SEATED = "SEATED"
    CANCELLED = "CANCELLED"
    NO_SHOW = "NO_SHOW"

    @property
    def live(self) -> bool:
        """Whether the party is still in the line."""
        return self in (Status.WAITING, Status.CALLED)


class Action(StrEnum):
    """What may be done to a party."""

    CALL = "call"
    SEAT = "seat"
    NO_SHOW = "no_show"
    CANCEL = "cancel"
    UNDO = "undo"
    """Takes back the last change of its status, with its times."""

    RESTORE = "restore"
    """Brings a party that was cancelled or did not show up back to its old place."""

    DEFER = "defer"
    """Lets some parties go first (미루기)."""


class Source(StrEnum):
    """From where a party joined."""

    ON_SITE = "on_site"
    REMOTE = "remote"


class StoreMode(StrEnum):
    """Whether a store takes new parties; those who wait keep their places in any mode."""

    OPEN = "open"
    PAUSED = "paused"
    CLOSED = "closed"


class OnSite(StrEnum):
    """How guests who join by themselves show that they are at the store."""

    NONE = "none"
    """Not at all: only a host says who is there."""

    POSTER = "poster"
    """By a printed code, which stays the same."""

    ROTATING = "rotating"
    """By the code on a screen at the store, which changes every minute."""


LineId = tuple[str, str]
"""A store, and the name of one of its lines."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingType:
    """One of a store's lines, like dine-in or takeout."""

    name: str
    """Part of addresses: small letters, digits and dashes."""

    title: str
    queue_limit: int | None = None
    largest_party: int = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Store:
    """A store as its hosts see it."""

    id: str
    title: str
    time_zone: str = "Asia/Seoul"
    country: str = "KR"
    """Of phone numbers without a country code: two letters of ISO 3166."""

    mode: StoreMode = StoreMode.OPEN
    reason: str | None = None
    """Why it is paused or closed, for guests."""

    closes_at: str | None = None
    """Local time, "22:00": a party whose wait would pass it cannot join."""

    max_defers: int = 2
    remote: bool = True
    """Whether guests may join from elsewhere."""

    on_site: OnSite = OnSite.POSTER
    joins_per_hour: int | None = 20
    """How many may join from one address within an hour."""

    keep_phones_days: int = 7
    webhook_url: str | None = None
    webhook_secret: str | None = field(default=None, repr=False)
    types: tuple[WaitingType, ...] = ()
    version: int = 1
    created_ms: int = 0

    def waiting_type(self, name: str) -> WaitingType | None:
        """Return one of its lines."""
        return next((line for line in self.types if line.name == name), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Party:
    """A party as the record has it."""

    id: int
    store: str
    line_name: str
    ticket: str
    """Its id in the live line, 16 characters."""

    day: date
    number: int
    """The number of the day, from 1: what is called out."""

    size: int
    name: str | None
    phone: str | None = field(repr=False)
    note: str | None
    source: Source
    status: Status
    sort_key: int
    """Decides the order: the registration in µs, or a key behind another party after a defer."""

    teams_ahead: int
    """How many waited before it when it registered."""

    defers: int
    revision: int
    """Counts its changes; the live line ignores older ones."""

    registered_ms: int
    called_ms: int | None = None
    seated_ms: int | None = None
    ended_ms: int | None = None
    """When it was cancelled or did not show up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One line of a party's history."""

    party: int
    at_ms: int
    before: Status | None
    after: Status
    action: str
    """join, call, seat, no_show, cancel, undo, restore, defer, erase or show_phone."""

    by: str
    """"guest", or the name of the host's key."""

    detail: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Turnover:
    """How fast a line moves, by its last seatings: how many, and their mean minutes per team."""

    samples: int = 0
    mean_minutes: float = 0.0

    @property
    def minutes_per_team(self) -> float:
        """The mean, once there are enough seatings."""
        return self.mean_minutes if self.samples >= SAMPLES_NEEDED else MINUTES_PER_TEAM

    def wait_minutes(self, position: int) -> int:
        """Return the expected wait at a position, in whole minutes."""
        return round(self.minutes_per_team * position)


@dataclass(frozen=True, slots=True)
class Range:
    """An honest range of the wait, in minutes."""

    low: int
    likely: int
    high: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A guest's place, from the live line alone while they wait."""

    store: str
    line_name: str
    status: Status
    position: int
    """1 is next; 0 if they are not waiting (called, seated or gone)."""

    waiting: int
    wait_minutes: int | None = None
    """Minutes per team × position."""

    observed: Range | None = None
    """The range that the engine has observed for this line."""
