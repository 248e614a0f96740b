"""What must be true of a log of what happened, whoever wrote it. Pure: nothing of `src/` is used.

A log is the room's event stream (server timestamps) beside the workers' own notes. Every function
slides over every event and answers a figure or the list of what is wrong, so that a test can say
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
        """The moment in ms, as deadlines are kept."""
        return self.at_us // 1000


@dataclass(slots=True)
class Replay:
    """What a replay found: `peak` is the most people called + inside at once, `reserved` the most
    who are called or went inside within the window, and `wrong` the moves that are not allowed.
    """

    peak: int = 0
    reserved: int = 0
    wrong: list[str] = field(default_factory=list)
    held: dict[str, str] = field(default_factory=dict)


def replay(
    events: Iterable[Event], session_ms: int, enter_within_ms: int, window_us: int = 0
) -> Replay:
    """Follow everybody through their states; who is past a deadline is out, swept or not."""
    found, ends = Replay(), dict[str, int]()
    deadlines: list[tuple[int, str]] = []
    entries: deque[int] = deque()

    def hold(one: str, state: str, until_ms: int) -> None:
        found.held[one], ends[one] = state, until_ms
        heapq.heappush(deadlines, (until_ms, one))

    for event in events:
        while deadlines and deadlines[0][0] <= event.at_ms:
            until_ms, one = heapq.heappop(deadlines)
            if ends.get(one) == until_ms:
                del found.held[one], ends[one]
        for one in event.ids:
            state = found.held.get(one)
            if event.kind == "called":
                if state is not None:
                    found.wrong.append(f"{one} called while {state}")
                hold(one, "called", event.at_ms + enter_within_ms)
            elif event.kind == "entered":
                if state != "called":
                    found.wrong.append(f"{one} entered while {state or 'not called'}")
                hold(one, "inside", event.at_ms + session_ms)
                entries.append(event.at_us)
            elif event.kind == "ended" and state is not None:
                del found.held[one], ends[one]
        found.peak = max(found.peak, len(found.held))
        while entries and entries[0] < event.at_us - window_us:
            entries.popleft()
        turns = sum(state == "called" for state in found.held.values())
        found.reserved = max(found.reserved, len(entries) + turns)
    return found


def moments(events: Iterable[Event], kind: str) -> list[int]:
    """Return when each person of a kind of event was, in µs."""
    return [event.at_us for event in events if event.kind == kind for _ in event.ids]


def most_in_window(times_us: Iterable[int], window_us: int) -> int:
    """Return the most moments in any window, both its ends included."""
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
    """Return the most calls in one slot of the pace, those of direct calls not counted."""
    slots: Counter[int] = Counter()
    for event in events:
        if event.kind == "called":
            slots[event.at_ms // every_ms] += sum(one not in uncounted for one in event.ids)
    return max(slots.values(), default=0)


def called_ids(events: Iterable[Event]) -> list[str]:
    """Return who was called, in order."""
    return [one for event in events if event.kind == "called" for one in event.ids]


def twice(ids: Iterable[str]) -> list[str]:
    """Return who is listed more than once."""
    return [one for one, times in Counter(ids).items() if times > 1]


def overtaken(ids: Sequence[str], places: Mapping[str, int]) -> list[str]:
    """Return who was called after somebody with a later place; unknown people are out of order."""
    wrong, last = [], -1
    for one in ids:
        place = places.get(one, -1)
        if place <= last:
            wrong.append(one)
        last = max(last, place)
    return wrong


def in_two_states(**states: Collection[str]) -> list[str]:
    """Return who is in more than one of the states at once."""
    return twice(one for ids in states.values() for one in set(ids))


def lost(joined: Iterable[str], events: Iterable[Event], *states: Collection[str]) -> list[str]:
    """Return who joined, and is neither in a state nor said to have ended."""
    known = {one for event in events if event.kind == "ended" for one in event.ids}
    for ids in states:
        known.update(ids)
    return [one for one in joined if one not in known]
