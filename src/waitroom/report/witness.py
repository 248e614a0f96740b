"""Goes through the archive of a sale once, event by event, and keeps what a report needs.

Memory: 16 bytes for each person called, and who is called or inside at a moment. Pure.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from math import ceil
from typing import Any, NamedTuple

from waitroom import moments
from waitroom.archive.files import ArchivedEvent
from waitroom.errors import WaitroomError
from waitroom.models import POLICY_FIELDS, BeforeOpen, Policy
from waitroom.report.hands import Hands
from waitroom.report.promises import Called, to_ms
from waitroom.report.sale_promises import SalePromises

_MOST_SPANS = 360
_LEAST_SPAN_MS = 1_000
_MOST_LISTED = 50
_KINDS = {"people.called": "called", "people.entered": "entered", "people.ended": "ended"}
_MARKED = ("room.opened", "room.ended", "room.limit_reached", "backend.away", "backend.back", "gap")


class Flow(NamedTuple):
    """What moved in a span: calls and entries, the most entries in one window, and the limits."""

    at_ms: int
    span_ms: int
    calls: int
    entries: int
    most_in_window: int
    batch_per_minute: float | None
    max_entries: int | None


class Gap(NamedTuple):
    """A time about which the archive knows nothing."""

    since_ms: int
    until_ms: int


class _Step(NamedTuple):
    """What one person did, or what was done to them."""

    at_ms: int
    kind: str
    person: str
    place_us: int
    reason: str


@dataclass(slots=True)
class _Span:
    calls: int = 0
    entries: int = 0
    most_in_window: int = 0
    batch_per_minute: float | None = None
    max_entries: int | None = None


class Witness:
    """What the archive of one room says about the time from `since_ms` to `until_ms`."""

    def __init__(self, policy: Policy, hands: Hands, since_ms: int, until_ms: int) -> None:
        self.promises = SalePromises(policy, hands)
        self.since_ms, self.until_ms = since_ms, until_ms
        self.events = 0
        self.counts: Counter[str] = Counter()
        self.joined_ms, self.called_ms = array("q"), array("q")
        self.gaps: list[Gap] = []
        self.marks: list[tuple[int, str, str]] = []
        self.opened_ms: int | None = None
        self.changes = 0
        self._span_ms = max(_LEAST_SPAN_MS, ceil((until_ms - since_ms) / _MOST_SPANS))
        self._spans: dict[int, _Span] = {}
        self._knows_policy = self._counts_now = False
        self._steps: list[_Step] = []
        self._written_ms = 0

    @property
    def policy(self) -> Policy:
        """The policy at this moment of the archive."""
        return self.promises.policy

    def hear(self, event: ArchivedEvent) -> None:
        """Take the next event; events before the period only show who is where."""
        if event.type in _KINDS:
            # What was written together happened within about a second, people of the same step
            # together.
            if event.position[0] != self._written_ms:
                self._replay()
            self._written_ms = event.position[0]
            self._steps += _steps(event)
            return
        self._replay()
        if event.at_ms <= self.until_ms or event.type == "archive.opened":
            self._pass_time(event.at_ms)
            self._hear_room(event)

    def finish(self) -> None:
        """The archive is over."""
        self._replay()
        self.promises.finish(self.until_ms)

    def _hear_room(self, event: ArchivedEvent) -> None:
        match event.type:
            case "archive.opened":
                self._open(event)
            case "room.changed":
                self._change(event)
            case "room.cleared":
                self.promises.empty(event.at_ms)
            case "people.adopted":
                for person in event.data.get("people", ()):
                    self.promises.on_adopted(person["id"], person["from"])
            case "gap":
                self._miss(event)
            case "backend.back":
                self.promises.lose_order()
        if self._counts_now and event.type in _MARKED and len(self.marks) < _MOST_LISTED:
            self.marks.append((event.at_ms, event.type, _words(event.data)))

    def _pass_time(self, at_ms: int) -> None:
        if not self._counts_now and at_ms >= self.since_ms:
            self._counts_now = True
            self.promises.begin()
        self.events += self._counts_now

    def _replay(self) -> None:
        """Replay, in order of time, what people did who are written down together."""
        steps, self._steps = sorted(self._steps, key=lambda step: step.at_ms), []
        for at_ms, together in groupby(steps, key=lambda step: step.at_ms):
            if at_ms <= self.until_ms:
                self._pass_time(at_ms)
                self._let_happen(at_ms, list(together))

    def _let_happen(self, at_ms: int, steps: list[_Step]) -> None:
        """Within one moment the order is unknown: people already here go first, to make room."""
        calls = sorted((step for step in steps if step.kind == "called"), key=lambda s: s.place_us)
        fresh = {step.person for step in calls if not self.promises.has(step.person)}
        others = [step for step in steps if step.kind != "called"]
        self._move(at_ms, [step for step in others if step.person not in fresh])
        if calls:
            self._call(at_ms, calls)
        self._move(at_ms, [step for step in others if step.person in fresh])

    def _move(self, at_ms: int, steps: list[_Step]) -> None:
        enters = [step.person for step in steps if step.kind == "entered"]
        if enters:
            self._enter(at_ms, enters)
        self._end(at_ms, [step for step in steps if step.kind == "ended"])

    def flow(self) -> list[Flow]:
        """Return the spans in which something moved, and quiet ones between them, oldest first."""
        if not self._spans:
            return []
        limits: tuple[float | None, int | None] = (None, None)
        spans = []
        for number in range(min(self._spans), max(self._spans) + 2):
            span = self._spans.get(number)
            if span is not None:
                limits = (span.batch_per_minute, span.max_entries)
            span = span or _Span()
            start = self.since_ms + number * self._span_ms
            counts = (span.calls, span.entries, span.most_in_window)
            spans.append(Flow(start, self._span_ms, *counts, *limits))
        return spans

    # What is heard --------------------------------------------------------------------------

    def _open(self, event: ArchivedEvent) -> None:
        """Take the policy from a file's first line; the very first file also says how it began."""
        if not self._knows_policy:
            self.promises.policy = _policy(self.policy, event.data.get("policy"))
            self._knows_policy = True
            self.opened_ms = event.at_ms
            self.promises.forget(event.at_ms)

    def _change(self, event: ArchivedEvent) -> None:
        changed = event.data.get("changed")
        if isinstance(changed, Mapping):
            new = {name: value.get("new") for name, value in changed.items() if _is_change(value)}
            self.promises.policy = _policy(self.policy, self.policy.as_dict() | new)
            self.changes += self._counts_now

    def _miss(self, event: ArchivedEvent) -> None:
        if self._counts_now:
            since, until = (_moment(event, name) for name in ("since", "until"))
            self.gaps.append(Gap(since, until))
        self.promises.forget(event.at_ms)

    def _call(self, at_ms: int, steps: list[_Step]) -> None:
        people, places = [step.person for step in steps], [step.place_us for step in steps]
        direct = places[0] // 1000 >= at_ms
        self.promises.on_called(Called(at_ms, people, direct), places)
        if not self._counts_now:
            return
        self.counts["called_total"] += len(people)
        self.joined_ms.extend(self._arrival(place, at_ms) for place in places)
        self.called_ms.extend([at_ms] * len(people))
        self._span(at_ms).calls += len(people)

    def _enter(self, at_ms: int, people: list[str]) -> None:
        for person in people:
            self.promises.on_entered(person, at_ms)
        if not self._counts_now:
            return
        self.counts["entered"] += len(people)
        span = self._span(at_ms)
        span.entries += len(people)
        if self.policy.max_entries is not None:
            window = self.promises.entered_since(at_ms - to_ms(self.policy.per_s))
            span.most_in_window = max(span.most_in_window, window)

    def _end(self, at_ms: int, steps: list[_Step]) -> None:
        for reason, together in groupby(steps, key=lambda step: step.reason):
            people = [step.person for step in together]
            self.promises.on_ended(people, at_ms, reason)
            self.counts[reason] += len(people) if self._counts_now else 0

    def _arrival(self, place_us: int, called_ms: int) -> int:
        """Return when somebody came. A drawn place is not a time: it counts from the opening."""
        at_ms, opens_ms = place_us // 1000, self.policy.opens_at_ms
        if opens_ms is not None and self.policy.before_open is BeforeOpen.DRAW:
            at_ms = max(at_ms, opens_ms)
        return min(at_ms, called_ms)

    def _span(self, at_ms: int) -> _Span:
        span = self._spans.setdefault((at_ms - self.since_ms) // self._span_ms, _Span())
        policy = self.policy
        span.max_entries = policy.max_entries
        if policy.batch is not None and policy.every_s:
            span.batch_per_minute = 60 * policy.batch / policy.every_s
        return span


def _steps(event: ArchivedEvent) -> Iterator[_Step]:
    """Yield what each person of an event did; skip what is not a person."""
    kind, reason = _KINDS[event.type], str(event.data.get("reason"))
    people = event.data.get("people")
    for person in people if isinstance(people, list) else ():
        if isinstance(person, dict) and isinstance(person.get("id"), str):
            at_ms, place_us = person.get("at_ms", event.at_ms), person.get("place_us", 0)
            if isinstance(at_ms, int) and isinstance(place_us, int):
                yield _Step(at_ms, kind, person["id"], place_us, reason)


def _policy(policy: Policy, fields: object) -> Policy:
    """Return the policy of the archive; if it has anything unknown, the one before stays."""
    if not isinstance(fields, Mapping):
        return policy
    try:
        return Policy(**{name: fields[name] for name in POLICY_FIELDS if name in fields})
    except (WaitroomError, TypeError):
        return policy


def _moment(event: ArchivedEvent, name: str) -> int:
    """Return a moment of an event, or the event's own time if it gives none."""
    try:
        return moments.to_ms(datetime.fromisoformat(str(event.data.get(name))))
    except (ValueError, TypeError):
        return event.at_ms


def _is_change(value: object) -> bool:
    return isinstance(value, Mapping) and "new" in value


def _words(data: Mapping[str, Any]) -> str:
    plain = {name: value for name, value in data.items() if not isinstance(value, dict | list)}
    return ", ".join(f"{name}: {value}" for name, value in plain.items())
