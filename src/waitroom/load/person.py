"""One person of the crowd: what they do next, and what they have seen so far."""

from __future__ import annotations

import random
import uuid
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from math import inf, isnan

from waitroom.load.plan import Plan
from waitroom.load.visits import NEVER, End, Visit


class Step(StrEnum):
    """A request that a person makes to the server."""

    JOIN = "join"
    POLL = "poll"
    ENTER = "enter"
    FINISH = "finish"
    LEAVE = "leave"


class Stage(StrEnum):
    """Where somebody is, as far as they know."""

    COMING = "coming"
    WAITING = "waiting"
    CALLED = "called"
    INSIDE = "inside"
    DONE = "done"


_STILL = {
    Stage.COMING: End.NOT_COME,
    Stage.WAITING: End.WAITING,
    Stage.CALLED: End.CALLED,
    Stage.INSIDE: End.INSIDE,
}

_SEEN = tuple(name for name in Visit._fields if name not in ("end", "held_until"))
_FAILING_S = 10.0
"""Somebody who got only errors for this long counts as unreached, not as still to come."""


@dataclass(slots=True)
class Person:
    """A visitor with a plan of their own."""

    stay_s: float
    comes: bool
    """Whether they come when they are called."""

    patience_s: float
    """How long they wait before they give up; infinite for most."""

    step: Step = Step.JOIN
    stage: Stage = Stage.COMING
    ticket: str = ""
    solution: str = ""
    """Of the challenge that the room asked them, if it did."""

    key: str = field(default_factory=lambda: uuid.uuid4().hex)
    first_sent: float = NEVER
    """When the step that has no reply yet was first sent."""

    failing_since: float = NEVER
    pause_s: float = 0.0
    poll_after_s: float = 0.0
    last_sent: float = NEVER
    """When the last successful request was sent."""

    position: int | None = None
    held_until: float = inf
    deadline: float = inf
    """When the turn or the session ends, if they do nothing."""

    join_sent: float = NEVER
    joined: float = NEVER
    last_waiting: float = NEVER
    called: float = NEVER
    enter_sent: float = NEVER
    entered: float = NEVER
    positions: int = 0
    rises: int = 0

    @classmethod
    def make(cls, plan: Plan, chance: random.Random) -> Person:
        """Make a random visitor."""
        long_s = max(plan.arrive_s, 10.0)
        return cls(
            stay_s=plan.stay_s * chance.uniform(0.5, 1.5),
            comes=chance.random() >= plan.no_show,
            patience_s=chance.uniform(0, long_s) if chance.random() < plan.leave else inf,
        )

    @property
    def has_called(self) -> bool:
        """Whether they were called, or let in."""
        return not isnan(self.called)

    def saw_position(self, position: int | None) -> None:
        """Note the position in a reply."""
        if position is None:
            return
        self.positions += 1
        if self.position is not None and position > self.position:
            self.rises += 1
        self.position = position

    def visit(self, end: End, now: float) -> Visit:
        """Return what they saw, at the end of their visit."""
        until = NEVER
        if self.has_called:
            until = min(self.held_until, self.deadline, now if end in _STILL.values() else inf)
        return Visit(end, held_until=until, **{name: getattr(self, name) for name in _SEEN})

    def still(self, now: float) -> End:
        """Return how their visit ends if the test stops now."""
        if self.stage is Stage.COMING and now - self.failing_since > _FAILING_S:
            return End.UNREACHED
        return _STILL[self.stage]


_CLOCKS_S = 0.25
"""How much the clocks of the server and its backend may differ."""


def moment(text: object, offset_s: float) -> float:
    """Return a server time by our monotonic clock, early rather than late; infinite if none."""
    if not isinstance(text, str):
        return inf
    try:
        return datetime.fromisoformat(text).timestamp() - offset_s - _CLOCKS_S
    except ValueError:
        return inf
