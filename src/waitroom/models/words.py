"""The words that describe a policy and a ticket."""

from __future__ import annotations

from enum import StrEnum


class Mode(StrEnum):
    """How a room treats people."""

    OPEN = "open"
    PAUSED = "paused"
    CLOSED = "closed"
    ENDED = "ended"
    BYPASS = "bypass"
    MANUAL = "manual"


class BeforeOpen(StrEnum):
    """What happens before `opens_at`."""

    PASS = "pass"  # noqa: S105 - a word of the policy
    WAIT = "wait"
    REFUSE = "refuse"
    DRAW = "draw"


class Eta(StrEnum):
    """Which estimate of the wait people see."""

    OBSERVED = "observed"
    BATCH = "batch"
    RATE = "rate"
    SERVICE = "service"


class WhenAway(StrEnum):
    """What visitors get while Redis cannot be reached."""

    CLOSED = "closed"
    OPEN = "open"


class Challenge(StrEnum):
    """What a newcomer's browser must do for a place; `observe_…` only counts."""

    NONE = "none"
    WORK = "work"
    SITEVERIFY = "siteverify"
    OBSERVE_WORK = "observe_work"
    OBSERVE_SITEVERIFY = "observe_siteverify"


class WhenUnverified(StrEnum):
    """What newcomers get while the service of a `challenge` cannot be asked."""

    REFUSE = "refuse"
    WORK = "work"
    PASS = "pass"  # noqa: S105 - a word of the policy


class Needs(StrEnum):
    """What a newcomer must show for a place."""

    NOTHING = "nothing"
    IDENTITY = "identity"
    CODE = "code"


class State(StrEnum):
    """Where a ticket is."""

    WAITING = "waiting"
    CALLED = "called"
    INSIDE = "inside"
    GONE = "gone"


class Reason(StrEnum):
    """Why a ticket is gone."""

    FINISHED = "finished"
    LEFT = "left"
    KICKED = "kicked"
    EXPIRED = "expired"
    NO_SHOW = "no_show"
    ABANDONED = "abandoned"
    PASSED = "passed"  # at or before the watermark: served before, or its turn went by
    CLEARED = "cleared"  # from an earlier epoch
