"""Made-up sales: an archive as a room would have written it, and the records beside it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from waitroom import archive
from waitroom.archive import ArchivedEvent
from waitroom.history import COUNTERS, HistoryPoint
from waitroom.models import Policy
from waitroom.report.gather import Records
from waitroom.report.hands import Action

ROOM = "sale"
START_MS = 1_900_000_800_000
UNTIL_MS = START_MS + 3_600_000
NOTHING = dict.fromkeys(COUNTERS, 0)


@dataclass
class Book:
    """An archive in the making; moments are seconds since the start."""

    policy: Policy
    events: list[ArchivedEvent] = field(default_factory=list)

    def add(self, at_s: float, kind: str, **data: Any) -> None:
        """Write an event."""
        at_ms = START_MS + round(at_s * 1000)
        self.events.append(ArchivedEvent("", kind, ROOM, at_ms, data))

    def call(self, at_s: float, arrivals: Mapping[str, float]) -> None:
        """Write that people were called, who had come when."""
        people = [
            {"id": name, "place_us": (START_MS + round(came_s * 1000)) * 1000}
            for name, came_s in arrivals.items()
        ]
        self.add(at_s, "people.called", people=people)

    def enter(self, at_s: float, *names: str) -> None:
        """Write that people went in."""
        self.add(at_s, "people.entered", people=[{"id": name} for name in names])

    def end(self, at_s: float, reason: str, *names: str) -> None:
        """Write that people are gone."""
        self.add(at_s, "people.ended", reason=reason, people=[{"id": name} for name in names])

    def write(self, folder: Path) -> Path:
        """Write the files, everything in the order of time, and return their folder."""
        opened = {"policy": self.policy.as_dict(), "counters": NOTHING}
        in_order = sorted(self.events, key=lambda event: event.at_ms)
        events = [
            dataclasses.replace(event, id=f"{event.at_ms}-{number}")
            for number, event in enumerate(in_order)
        ]
        archive.write(folder, ROOM, events, opened)
        return folder


def point(number: int, **values: Any) -> HistoryPoint:
    """Return a minute of the history."""
    numbers: dict[str, Any] = dict.fromkeys(("waiting", "called", "inside", "most_waiting"), 0)
    at_ms = START_MS + 60_000 * number
    return HistoryPoint(at_ms=at_ms, span_ms=60_000, **(numbers | NOTHING | values))


def records(
    policy: Policy,
    counts: Mapping[str, int],
    *,
    points: Sequence[HistoryPoint] = (),
    actions: Iterable[Action] = (),
    before: Mapping[str, int] | None = NOTHING,
) -> Records:
    """Return what Redis would know of the sale."""
    after = None if before is None else {n: before[n] + counts.get(n, 0) for n in COUNTERS}
    return Records(
        room=ROOM,
        since_ms=START_MS,
        until_ms=UNTIL_MS,
        policy=policy,
        points=points,
        actions=tuple(actions),
        before=before,
        after=after,
    )
