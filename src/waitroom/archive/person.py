"""What the archive says about one person: the newest days first, as far as a limit allows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

from waitroom.archive.files import ArchivedEvent, files
from waitroom.archive.reading import Budget, Limits
from waitroom.models import Event, Reason

_GAP = b'"type":"gap"'
_KINDS = {"people.called": "called", "people.entered": "entered", "people.ended": "ended"}


@dataclass(frozen=True, slots=True)
class Earlier:
    """The events that name a ticket, oldest first, with the gaps among them."""

    events: tuple[Event, ...] = ()
    since_ms: int | None = None
    """From when on the files were read without a gap; None if nothing was read."""


def earlier(
    folder: Path, room: str, ticket_id: str, span: tuple[int, int], limits: Limits | None = None
) -> Earlier:
    """Read what happened to a ticket between two moments."""
    budget, events, since_ms = Budget(limits or Limits()), list[Event](), None
    for path in reversed(files(folder, room, *span)):
        try:
            day = _Day(path, ticket_id, budget)
        except OSError:  # it was removed, or cannot be read
            break
        if day.first_ms is None:
            break
        since_ms = day.first_ms
        within = [event for event in day.events if span[0] <= event.at_us // 1000 <= span[1]]
        events = within + events
        if not day.is_whole or since_ms <= span[0]:
            break
    gaps = [*takewhile(lambda event: event.kind == "gap", events)]
    if gaps:  # nothing is known of the time before it
        since_ms = gaps[-1].at_us // 1000
    return Earlier(tuple(events[len(gaps) :]), since_ms)


class _Day:
    """A file: its events that name a ticket. If the file is too long, only the end is read."""

    def __init__(self, path: Path, ticket_id: str, budget: Budget) -> None:
        self.events: list[Event] = []
        self.first_ms: int | None = None
        """The time of the first line that was read; None if nothing is known of it."""

        self.is_whole = True
        with path.open("rb") as stored:
            start = 0 if budget.left is None else max(0, path.stat().st_size - budget.left)
            stored.seek(start)
            if start:
                self.is_whole = False
                budget.spend(len(stored.readline()))  # an incomplete line
            for line in stored:
                if not budget.spend(len(line)):
                    self.first_ms = None  # the rest, which is newer, was not read
                    return
                self._take(line, ticket_id)

    def _take(self, line: bytes, ticket_id: str) -> None:
        is_told = ticket_id.encode() in line or _GAP in line[:100]
        if self.first_ms is not None and not is_told:
            return
        try:
            event = ArchivedEvent.of_line(line)
            if self.first_ms is None:
                self.first_ms = event.at_ms
            self.events += _named(event, ticket_id) if is_told else ()
        except (ValueError, KeyError, TypeError, AttributeError):  # not our line
            return


def _named(event: ArchivedEvent, ticket_id: str) -> Iterator[Event]:
    """Yield what an event says about a ticket."""
    if event.type == "gap":
        yield Event("gap", 1000 * event.at_ms, ())
    kind, reason = _KINDS.get(event.type), event.data.get("reason")
    if kind is None:
        return
    for person in event.data["people"]:
        if person["id"] == ticket_id:
            at_us = 1000 * int(person.get("at_ms", event.at_ms))
            places = (int(person["place_us"]),) if "place_us" in person else ()
            yield Event(kind, at_us, (ticket_id,), Reason(reason) if reason else None, places)
