"""What must be true of an event log, whoever wrote it. Pure: nothing from `src/` is used.

A log is the room's event stream (server timestamps) together with the workers' own notes. Every
function goes over every event and returns a figure or a list of faults, so that a test can show
both that a limit held and that it was reached. `test_checks.py` shows that each can fail.
"""

from __future__ import annotations

import heapq
from collections import Counter, deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Event:
    """One entry of the stream: `kind` is called, entered or ended."""

    kind: str
    at_us: int
    ids: tuple[str, ...]
    reason: str = ""

    @property
    def at_ms(self) -> int:
        """The moment in ms, as in deadlines."""
        return self.at_us // 1000


@dataclass(slots=True)
class Replay:
    """What a replay found: `peak` is the most people called + inside at once, `reserved` the most
    people called or gone inside within the window, `wrong` the moves that are not allowed, and
    `places` the state of everybody who has a place at the end.
    """

    peak: int = 0
    reserved: int = 0
    wrong: list[str] = field(default_factory=list)
    places: dict[str, str] = field(default_factory=dict)


def replay(
    events: Iterable[Event], session_ms: int, enter_within_ms: int, window_us: int = 0
) -> Replay:
    """Follow everybody through their states; after a deadline they are out, swept or not."""
    result, ends = Replay(), dict[str, int]()
    deadlines: list[tuple[int, str]] = []
    entries: deque[int] = deque()

    def hold(ticket_id: str, state: str, until_ms: int) -> None:
        result.places[ticket_id], ends[ticket_id] = state, until_ms
        heapq.heappush(deadlines, (until_ms, ticket_id))

    for event in events:
        while deadlines and deadlines[0][0] <= event.at_ms:
            until_ms, ticket_id = heapq.heappop(deadlines)
            if ends.get(ticket_id) == until_ms:
                del result.places[ticket_id], ends[ticket_id]
        for ticket_id in event.ids:
            state = result.places.get(ticket_id)
            if event.kind == "called":
                if state is not None:
                    result.wrong.append(f"{ticket_id} called while {state}")
                hold(ticket_id, "called", event.at_ms + enter_within_ms)
            elif event.kind == "entered":
                if state != "called":
                    result.wrong.append(f"{ticket_id} entered while {state or 'not called'}")
                hold(ticket_id, "inside", event.at_ms + session_ms)
                entries.append(event.at_us)
            elif event.kind == "ended" and state is not None:
                del result.places[ticket_id], ends[ticket_id]
        result.peak = max(result.peak, len(result.places))
        while entries and entries[0] < event.at_us - window_us:
            entries.popleft()
        turns = sum(state == "called" for state in result.places.values())
        result.reserved = max(result.reserved, len(entries) + turns)
    return result


def moments(events: Iterable[Event], kind: str) -> list[int]:
    """Return when each event of a kind happened, by person, in µs."""
    return [event.at_us for event in events if event.kind == kind for _ in event.ids]


def most_in_window(times_us: Iterable[int], window_us: int) -> int:
    """Return the largest number of moments in any window, both ends included."""
    inside: deque[int] = deque()
    most = 0
    for at in sorted(times_us):
        inside.append(at)
        while inside[0] < at - window_us:
            inside.popleft()
        most = max(most, len(inside))
    return most


def most_per_slot(
    events: Iterable[Event], every_ms: int, uncounted: Collection[str] = frozenset()
) -> int:
    """Return the most calls in one slot of the pace, not counting direct calls."""
    slots: Counter[int] = Counter()
    for event in events:
        if event.kind == "called":
            slots[event.at_ms // every_ms] += sum(
                ticket_id not in uncounted for ticket_id in event.ids
            )
    return max(slots.values(), default=0)


def called_ids(events: Iterable[Event]) -> list[str]:
    """Return who was called, in order."""
    return [ticket_id for event in events if event.kind == "called" for ticket_id in event.ids]


def twice(ids: Iterable[str]) -> list[str]:
    """Return who is listed more than once."""
    return [ticket_id for ticket_id, times in Counter(ids).items() if times > 1]


def overtaken(ids: Sequence[str], places: Mapping[str, int]) -> list[str]:
    """Return who was called after somebody with a later place; unknown people count too."""
    wrong, last = [], -1
    for ticket_id in ids:
        place = places.get(ticket_id, -1)
        if place <= last:
            wrong.append(ticket_id)
        last = max(last, place)
    return wrong


def in_two_states(**states: Collection[str]) -> list[str]:
    """Return who is in more than one state at once."""
    return twice(ticket_id for ids in states.values() for ticket_id in set(ids))


def lost(joined: Iterable[str], events: Iterable[Event], *states: Collection[str]) -> list[str]:
    """Return who joined, but is in no state and has not ended."""
    known = {ticket_id for event in events if event.kind == "ended" for ticket_id in event.ids}
    for ids in states:
        known.update(ids)
    return [ticket_id for ticket_id in joined if ticket_id not in known]
