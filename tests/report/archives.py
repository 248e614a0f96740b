"""Made-up sales: an archive as a room would have written it, and the records with it."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from waitroom.archive import files as archive
from waitroom.archive.files import ArchivedEvent
from waitroom.history import COUNTERS, HistoryPoint
from waitroom.models import Event, Policy
from waitroom.report.gather import Records
from waitroom.report.hands import Action

ROOM = "sale"
START_MS = 1_900_000_800_000
UNTIL_MS = START_MS + 3_600_000
NOTHING = dict.fromkeys(COUNTERS, 0)


@dataclass
class Book:
    """An archive under construction; moments are seconds since the start."""

    policy: Policy
    events: list[ArchivedEvent] = field(default_factory=list)

    def add(self, at_s: float, kind: str, **data: Any) -> None:
        """Write an event."""
        at_ms = START_MS + round(at_s * 1000)
        self.events.append(ArchivedEvent("", kind, ROOM, at_ms, data))

    def call(self, at_s: float, arrivals: Mapping[str, float]) -> None:
        """Write that people were called, and when they had come."""
        people = [
            {"id": name, "place_us": START_MS * 1000 + round(came_s * 1_000_000)}
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
        """Write the files, everything in order of time, and return their folder."""
        opened = {"policy": self.policy.as_dict(), "counters": NOTHING}
        in_order = sorted(self.events, key=lambda event: event.at_ms)
        events = [
            dataclasses.replace(event, id=f"{event.at_ms}-{number}")
            for number, event in enumerate(in_order)
        ]
        archive.write(folder, ROOM, events, opened)
        return folder


def point(number: int, **values: Any) -> HistoryPoint:
    """Return a minute of history."""
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
    """Return what Redis would know about the sale."""
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


def lines_of(room: str, events: Iterable[Event]) -> list[ArchivedEvent]:
    """Return a room's description of itself as archive lines."""
    lines = []
    for number, event in enumerate(events):
        at_ms = event.at_us // 1000
        places = event.places or (None,) * len(event.ids)
        people = [
            {"id": name, "at_ms": at_ms} | ({} if place is None else {"place_us": place})
            for name, place in zip(event.ids, places, strict=True)
        ]
        reason = {} if event.reason is None else {"reason": str(event.reason)}
        data = reason | {"people": people}
        kind = f"people.{event.kind}"
        lines.append(ArchivedEvent(f"{at_ms}-{number + 1}", kind, room, at_ms, data))
    return lines


CONCERT = Policy(
    title="Spring concert", capacity=200, batch=25, every_s=10, session_s=300, enter_within_s=60
)


def concert(folder: Path, people: int = 3_000) -> Records:
    """Write the archive of a typical sale: a rush, a pace, some who do not come."""
    made, batch = Book(CONCERT), CONCERT.batch or 0
    counts: Counter[str] = Counter(joined=people)
    points: list[HistoryPoint] = []
    waiting = [(f"p{n}", 180 * (n / people) ** 2) for n in range(people)]
    leaving: list[tuple[float, str, str]] = []
    for at_s in range(10, 3_600, 10):
        for gone in [who for who in leaving if who[0] <= at_s]:
            leaving.remove(gone)
            made.end(gone[0], gone[1], gone[2])
            counts[gone[1]] += 1
        here = [who for who in waiting if who[1] < at_s][: min(batch, 200 - len(leaving))]
        if here:
            waiting = waiting[len(here) :]
            made.call(at_s, dict(here))
            counts["called_total"] += len(here)
        for number, (name, _) in enumerate(here):
            if number % 12 == 5:
                leaving.append((at_s + 60, "no_show", name))
                continue
            made.enter(at_s + 1 + number % 7, name)
            counts["entered"] += 1
            leaving.append((at_s + 30 + 11 * number % 190, "finished", name))
        if at_s % 60 == 0:
            line = sum(came_s < at_s for _, came_s in waiting)
            numbers = {name: counts[name] for name in COUNTERS}
            points.append(
                point(
                    at_s // 60 - 1,
                    **numbers
                    | {"joined": sum(180 * (n / people) ** 2 < at_s for n in range(people))},
                    waiting=line,
                    most_waiting=line,
                    inside=len(leaving),
                    capacity=200,
                    per_minute=150.0,
                    told_s=round(line / 2.2) + 10,
                )
            )
    made.write(folder)
    return records(CONCERT, counts, points=points, actions=_ACTIONS)


_ACTIONS = (
    Action(
        START_MS - 5_000, "Mina (box office)", "page", "note", {"text": "Doors open at 18:00 sharp"}
    ),
    Action(
        START_MS + 300_000,
        "Jun (on call)",
        "page",
        "room.change",
        {"changed": {"message": {"old": None, "new": "It goes on, in order."}}, "version": 4},
    ),
    Action(START_MS + 1_500_000, "Mina (box office)", "page", "note", {"text": "Bank was slow"}),
)
