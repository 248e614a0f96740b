"""A room in numbers: now, and at moments of its past."""

from __future__ import annotations

from dataclasses import dataclass

from waitroom.models.words import Mode


@dataclass(frozen=True, slots=True)
class Stats:
    """A room at a glance. Counters run since the room was made and survive `clear`."""

    room: str
    mode: Mode
    """The current mode: `ended` once `ends_at` has come, whatever the policy says."""

    version: int
    epoch: int
    waiting: int
    called: int
    inside: int
    entries_in_window: int
    hold_until_ms: int | None
    oldest_wait_ms: int
    may_return: int
    """Dropped for silence, but not for good: a poll gives them their place back."""

    counters: dict[str, int]
    now_ms: int
    message_at_ms: int | None = None
    """When the message of the policy was set, if known."""

    hidden: bool = False
    """Nobody may learn the order: places are drawn, and the room is not open yet."""


@dataclass(frozen=True, slots=True)
class Sample:
    """A room at one moment, for charts and estimates; the counters run since the room was made."""

    at_ms: int
    waiting: int
    called: int
    inside: int
    joined: int
    called_total: int
    entered: int
    finished: int
    left: int
    kicked: int
    expired: int
    no_show: int
    abandoned: int
    waited_s: int | None = None
    """How long the last person called from the head had waited; None if nobody was."""

    told_s: int | None = None
    """The likely wait that a newcomer was told, if known."""

    mode: Mode | None = None
    """The mode at that time; None in a sample of an older version, or of `stats`."""

    capacity: int | None = None
    per_minute: float | None = None
    """The most calls or entries per minute that the policy allowed; None = no limit."""

    woke_ms: int | None = None
    """Until when nothing had changed since the last sample, if that was a minute or longer."""
