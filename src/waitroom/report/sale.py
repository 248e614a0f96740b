"""A sale as it happened: figures, promises, and what is not known. Pure."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from waitroom.history import HistoryPoint
from waitroom.models import Policy
from waitroom.moments import from_ms, written
from waitroom.report.estimates import Estimates, Pair
from waitroom.report.hands import Action
from waitroom.report.plan import Plan
from waitroom.report.plots import Moment
from waitroom.report.promises import Promise
from waitroom.report.waits import Waits, part, waits_of
from waitroom.report.witness import Flow, Gap

WORDS = {
    "joined": "came",
    "called_total": "called",
    "entered": "went in",
    "finished": "finished",
    "expired": "session ran out",
    "no_show": "called, did not come",
    "abandoned": "gave up without a word",
    "left": "left",
    "kicked": "removed by an operator",
}
"""The counters of a room, in words and in the order of reports."""

_GROUPS = 60


@dataclass(frozen=True, slots=True)
class Arrivals:
    """People who came in a span and were called, and how long they waited."""

    at_ms: int
    span_ms: int
    people: int
    median_s: float
    p90_s: float
    longest_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Sale:
    """What is known of one room from `since_ms` to `until_ms`."""

    room: str
    since_ms: int
    until_ms: int
    policy: Policy
    counts: Mapping[str, int]
    points: Sequence[HistoryPoint]
    missing: tuple[str, ...]
    """Why the report is incomplete; empty if it is complete."""

    promises: tuple[Promise, ...]
    actions: tuple[Action, ...]
    most_held: int
    forced: int = 0
    joined_ms: array[int] = field(repr=False)
    called_ms: array[int] = field(repr=False)
    pairs: Sequence[Pair] = field(repr=False)
    estimates: Estimates
    flow: Sequence[Flow] = field(default=(), repr=False)
    gaps: Sequence[Gap] = ()
    marks: Sequence[tuple[int, str, str]] = ()
    plan: Plan | None = None

    @property
    def complete(self) -> bool:
        """Whether everything in the report could be known."""
        return not self.missing

    @property
    def passed(self) -> bool:
        """Whether no promise was broken, as far as known."""
        return not any(promise.broken for promise in self.promises)

    @property
    def verdict(self) -> str:
        """FAIL, incomplete or PASS."""
        if not self.passed:
            return "FAIL"
        return "PASS" if self.complete else "incomplete"

    def verdict_of(self, promise: Promise) -> str:
        """Return what is known of a promise."""
        return promise.verdict if self.complete or promise.broken else "incomplete"

    @property
    def most_waiting(self) -> int:
        """The most people who waited at the same time."""
        return max((point.most_waiting for point in self.points), default=0)

    @property
    def waits(self) -> Waits:
        """How long called people waited, according to the archive."""
        return waits_of(self.joined_ms, self.called_ms)

    @property
    def timeline(self) -> list[Moment]:
        """The room over time, at the end of each span."""
        first = self.points[0].no_show if self.points else 0
        return [
            Moment(
                min(point.at_ms + point.span_ms, self.until_ms),
                point.waiting,
                point.called,
                point.inside,
                point.no_show - first,
                point.capacity,
            )
            for point in self.points
        ]

    def by_arrival(self) -> list[Arrivals]:
        """Return the waits by the time at which people came, in up to sixty spans."""
        if not self.joined_ms:
            return []
        low, high = min(self.joined_ms), max(self.joined_ms)
        width = max(1_000, -(-(high - low + 1) // _GROUPS))
        groups: dict[int, array[int]] = {}
        for joined, called in zip(self.joined_ms, self.called_ms, strict=True):
            groups.setdefault((joined - low) // width, array("q")).append(called - joined)
        return [_arrivals(low + n * width, width, sorted(groups[n])) for n in sorted(groups)]

    def figures(self) -> dict[str, Any]:
        """Return all figures for `--json`."""
        waits, estimates = self.waits, self.estimates
        return {
            "room": self.room,
            "since": _written(self.since_ms),
            "until": _written(self.until_ms),
            "verdict": self.verdict,
            "complete": self.complete,
            "missing": list(self.missing),
            "promises": [self._promise(promise) for promise in self.promises],
            "people": dict(self.counts),
            "wait_s": {
                "called": waits.called,
                "median": waits.median_s,
                "p90": waits.p90_s,
                "longest": waits.longest_s,
            },
            "most_waiting": self.most_waiting,
            "most_called_and_inside": self.most_held,
            "forced": self.forced,
            "estimate": {
                "answers": estimates.answers,
                "median_error_pct": _percent(estimates.error),
                "near_pct": _percent(estimates.near),
            },
            "by_arrival": [
                {
                    "at": _written(group.at_ms),
                    "people": group.people,
                    "median_s": group.median_s,
                    "p90_s": group.p90_s,
                    "longest_s": group.longest_s,
                }
                for group in self.by_arrival()
            ],
            "actions": [
                {
                    "at": _written(action.at_ms),
                    "who": action.who,
                    "way": action.way,
                    "action": action.action,
                    "detail": action.detail,
                }
                for action in self.actions
            ],
            "plan": self.plan,
        }

    def _promise(self, promise: Promise) -> dict[str, Any]:
        return {
            "name": promise.name,
            "verdict": self.verdict_of(promise),
            "checked": promise.checked,
            "broken": promise.broken,
            "first": promise.first or None,
            "first_at": _written(promise.first_ms) if promise.broken else None,
        }


def _arrivals(at_ms: int, span_ms: int, waits_ms: Sequence[int]) -> Arrivals:
    median, p90 = (part(waits_ms, share) / 1000 for share in (0.5, 0.9))
    return Arrivals(at_ms, span_ms, len(waits_ms), median, p90, waits_ms[-1] / 1000)


def _written(ms: int) -> str:
    return written(from_ms(ms))


def _percent(share: float | None) -> float | None:
    return None if share is None else round(100 * share, 1)
