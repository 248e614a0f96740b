"""What a rehearsal plays: a room, who comes when, how they behave, and what goes wrong. Pure."""

from __future__ import annotations

import dataclasses
import random
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, Self

from waitroom.models import Policy
from waitroom.rehearsal.distributions import Spread, fixed

SCALED = ("capacity", "batch", "max_entries", "queue_limit")
"""Fields of a policy that grow with the crowd."""

_CLOSES_AFTER = Spread("exponential", 240.0)
_COMES_BACK_AFTER = Spread("lognormal", 90.0, 0.8)
_ENTERS_AFTER = Spread("lognormal", 4.0, 0.8)
_SESSION = fixed(300.0)


@dataclass(frozen=True, slots=True)
class Arrivals:
    """One stream of people: a spike, a Poisson stream, waves, or moments from a CSV."""

    kind: Literal["spike", "poisson", "waves", "csv"]
    at_s: float = 0.0
    people: float = 0.0  # of the spike, of each wave
    within_s: float = 60.0  # over how long a spike or a wave comes
    per_s: float = 0.0  # of a Poisson stream
    for_s: float = 0.0
    waves: int = 1
    every_s: float = 0.0
    moments: tuple[tuple[float, float], ...] = ()  # second → people

    @property
    def expected(self) -> float:
        """How many people come."""
        if self.kind == "poisson":
            return self.per_s * self.for_s
        if self.kind == "csv":
            return sum(people for _, people in self.moments)
        return self.people * (self.waves if self.kind == "waves" else 1)

    def scaled(self, factor: float) -> Self:
        """Return the same stream with `factor` times the people."""
        moments = tuple((at_s, people * factor) for at_s, people in self.moments)
        return dataclasses.replace(
            self, people=self.people * factor, per_s=self.per_s * factor, moments=moments
        )

    def times(self, rng: random.Random) -> Iterator[float]:
        """Yield the second at which each person comes, in no order."""
        if self.kind == "poisson":
            at_s = self.at_s + rng.expovariate(self.per_s)
            while at_s < self.at_s + self.for_s:
                yield at_s
                at_s += rng.expovariate(self.per_s)
        elif self.kind == "csv":
            for at_s, people in self.moments:
                for _ in range(_whole(people, rng)):
                    yield self.at_s + at_s
        else:
            for wave in range(self.waves if self.kind == "waves" else 1):
                start_s = self.at_s + wave * self.every_s
                for _ in range(round(self.people)):
                    yield start_s + self.within_s * _rush(rng)


def _rush(rng: random.Random) -> float:
    """Draw a moment of a rush, 0 to 1: two thirds of the people come in its first third."""
    while True:
        part = rng.expovariate(3.0)
        if part < 1.0:
            return part


def _whole(people: float, rng: random.Random) -> int:
    """Return a whole number that is `people` on average."""
    return int(people) + (rng.random() < people % 1)


@dataclass(frozen=True, slots=True)
class Behaviour:
    """How people behave; shares are 0 to 1, and no patience means that nobody gives up."""

    patience: Spread | None = None
    leaves: float = 0.5  # share of people giving up who tell the room
    ghosts: float = 0.0  # join and are never seen again
    closes_tab: float = 0.0
    closes_after: Spread = _CLOSES_AFTER
    comes_back_after: Spread = _COMES_BACK_AFTER
    no_shows: float = 0.0
    enters_after: Spread = _ENTERS_AFTER
    session: Spread = _SESSION
    finishes: float = 1.0  # tell the room when their visit is over; other sessions run out
    poll_every_s: float | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """What an operator does at a moment: change policy fields, or admit people by hand."""

    at_s: float
    fields: dict[str, Any]
    admit: int = 0


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault: all data lost at a moment, or our own processes away for a while."""

    at_s: float
    kind: Literal["flush", "away"]
    for_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Origin:
    """How many people the site behind can take from a moment on; with more, visits take longer."""

    at_s: float
    takes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """A whole rehearsal. Times are seconds since its start."""

    name: str
    title: str
    policy: Policy
    arrivals: tuple[Arrivals, ...]
    about: str = ""
    seed: int = 1
    starts_ms: int = 1_900_000_800_000  # 10:00 UTC on a future day
    lasts_s: float = 14_400.0
    step_s: float = 1.0
    people: Behaviour = field(default_factory=Behaviour)
    changes: tuple[Change, ...] = ()
    faults: tuple[Fault, ...] = ()
    origin: tuple[Origin, ...] = ()
    host_every_s: float | None = None
    scale: float = 1.0  # relative to the scenario as it was written

    @property
    def expected(self) -> float:
        """How many people come."""
        return sum(stream.expected for stream in self.arrivals)

    def times(self, rng: random.Random) -> array[float]:
        """Return the second at which everybody comes, in order."""
        times = array("d", (at_s for stream in self.arrivals for at_s in stream.times(rng)))
        return array("d", sorted(at_s for at_s in times if at_s < self.lasts_s))

    def scaled(self, people: int) -> Self:
        """Return the same rehearsal with another number of people, and limits in proportion."""
        factor = people / self.expected
        return dataclasses.replace(
            self,
            policy=self.policy.change(**_scaled(self.policy.as_dict(), factor)),
            arrivals=tuple(stream.scaled(factor) for stream in self.arrivals),
            changes=tuple(
                dataclasses.replace(
                    change,
                    fields=change.fields | _scaled(change.fields, factor),
                    admit=_times(change.admit, factor) if change.admit else 0,
                )
                for change in self.changes
            ),
            origin=tuple(Origin(step.at_s, _times(step.takes, factor)) for step in self.origin),
            scale=self.scale * factor,
        )


def _scaled(fields: dict[str, Any], factor: float) -> dict[str, int]:
    return {name: _times(fields[name], factor) for name in SCALED if fields.get(name) is not None}


def _times(count: int, factor: float) -> int:
    return max(1, round(count * factor))
