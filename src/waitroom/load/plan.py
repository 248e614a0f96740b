"""The size and behaviour of a load test's crowd, and the limits that the room must keep."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

from waitroom.errors import InvalidInput
from waitroom.load.target import Target
from waitroom.models import check_room_name

MOST_PEOPLE = 1_000_000
MOST_CONNECTIONS = 10_000
MOST_PROCESSES = 64
_LONGEST_S = 86_400


@dataclass(frozen=True, slots=True)
class Limits:
    """What a room promises; None means unknown, or no limit if `known`."""

    capacity: int | None = None
    max_entries: int | None = None
    per_s: float | None = None
    known: bool = False
    in_order: bool = True
    """Whether whoever comes first is called first: not so with a draw, or when called by hand."""

    free: bool = False
    """Whether the room lets everybody in (mode `bypass`), so that no limit applies."""

    def __post_init__(self) -> None:
        if (self.max_entries is None) != (self.per_s is None):
            missing = "max_entries" if self.max_entries is None else "per_s"
            raise InvalidInput(missing, "--max-entries and --per-s must be given together")
        for name in ("capacity", "max_entries", "per_s"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise InvalidInput(name, f"{value:g} is not allowed; it takes more than 0")

    @classmethod
    def of(cls, policy: Mapping[str, Any]) -> Self:
        """Take the limits from a policy as the operator API shows it."""
        return cls(
            capacity=policy.get("capacity"),
            max_entries=policy.get("max_entries"),
            per_s=policy.get("per_s"),
            known=True,
            in_order=policy.get("before_open") != "draw" and policy.get("mode") != "manual",
            free=policy.get("mode") == "bypass",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A crowd: how many come within what time, and how they behave."""

    target: Target
    room: str
    people: int = 1_000
    arrive_s: float = 60.0
    stay_s: float = 5.0
    leave: float = 0.05
    """Share of people who give up after a long wait."""

    no_show: float = 0.02
    """Share of people who never come when they are called."""

    longest_s: float = 600.0
    """When to stop, even if people still wait."""

    connections: int = 100
    processes: int = 1
    patience_s: float = 60.0
    """How long somebody who gets only errors continues."""

    seed: int = 1
    starts: float = 0.0
    """The start time by the monotonic clock, which all processes share."""

    def __post_init__(self) -> None:
        check_room_name(self.room)
        _within("people", self.people, 1, MOST_PEOPLE)
        _within("connections", self.connections, 1, MOST_CONNECTIONS)
        _within("processes", self.processes, 1, MOST_PROCESSES)
        _within("arrive", self.arrive_s, 0, _LONGEST_S)
        _within("stay", self.stay_s, 0, _LONGEST_S)
        _within("for", self.longest_s, 1, _LONGEST_S)
        _within("leave", self.leave, 0, 1)
        _within("no_show", self.no_show, 0, 1)
        if self.processes > min(self.people, self.connections):
            raise InvalidInput("processes", "there are fewer people or connections than that")

    def share(self, index: int) -> dict[str, Any]:
        """Return the part of the plan for one process, as JSON."""
        mine = {
            name: (total := getattr(self, name)) * (index + 1) // self.processes
            - total * index // self.processes
            for name in ("people", "connections")
        }
        return asdict(self) | mine | {"processes": 1, "seed": self.seed * 1_000 + index}

    @classmethod
    def read(cls, given: Mapping[str, Any]) -> Self:
        """Return a plan from its JSON."""
        return cls(**{**given, "target": Target(**given["target"])})


def _within(name: str, value: float, low: float, high: float) -> None:
    if not low <= value <= high:
        raise InvalidInput(name, f"{value:g} is not allowed; it takes {low:g} to {high:,.0f}")
