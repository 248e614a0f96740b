"""The result of a rehearsal: numbers that the same seed reproduces, and the time it took."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from typing import Any

from waitroom.models import Eta
from waitroom.rehearsal.accuracy import Accuracy, Told
from waitroom.rehearsal.scenario import Scenario
from waitroom.report.plots import Moment
from waitroom.report.promises import Promise
from waitroom.report.waits import Waits

WORDS = {
    "finished": "finished",
    "expired": "session ran out",
    "no_show": "called, did not come",
    "gave_up": "gave up",
    "missed": "away when called",
    "refused": "refused",
    "lost": "lost",
    "still_there": "still there at the end",
}
"""How people ended, in words."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A finished rehearsal."""

    scenario: Scenario
    seed: int
    people: int
    promises: tuple[Promise, ...]
    ended: dict[str, int]
    waits: Waits
    most_waiting: int
    most_held: int
    origin_over_s: float
    lasted_s: float
    accuracy: dict[Eta, Accuracy]
    timeline: tuple[Moment, ...] = field(repr=False)
    estimates: dict[Eta, list[Told]] = field(repr=False)
    joined_ms: array[int] = field(repr=False)
    called_ms: array[int] = field(repr=False)
    took_s: float = 0.0

    @property
    def passed(self) -> bool:
        """Whether every promise was kept."""
        return not any(promise.broken for promise in self.promises)

    def figures(self) -> dict[str, Any]:
        """Return all figures that depend only on the scenario and its seed."""
        return {
            "scenario": self.scenario.name,
            "seed": self.seed,
            "people": self.people,
            "passed": self.passed,
            "promises": [
                {
                    "name": promise.name,
                    "verdict": promise.verdict,
                    "checked": promise.checked,
                    "broken": promise.broken,
                    "first": promise.first or None,
                    "first_at_s": (promise.first_ms - self.scenario.starts_ms) / 1000
                    if promise.broken
                    else None,
                }
                for promise in self.promises
            ],
            "ended": self.ended,
            "wait_s": {
                "called": self.waits.called,
                "median": self.waits.median_s,
                "p90": self.waits.p90_s,
                "longest": self.waits.longest_s,
            },
            "most_waiting": self.most_waiting,
            "most_called_and_inside": self.most_held,
            "origin_over_s": self.origin_over_s,
            "lasted_s": self.lasted_s,
            "estimate": {
                str(eta): {
                    "answers": accuracy.answers,
                    "median_error_pct": _percent(accuracy.error),
                    "covered_pct": _percent(accuracy.covered),
                    "jumps_pct": _percent(accuracy.jumps),
                }
                for eta, accuracy in self.accuracy.items()
            },
        }

    def as_dict(self) -> dict[str, Any]:
        """Return everything for `--json`."""
        return self.figures() | {"took_s": round(self.took_s, 1)}


def _percent(share: float | None) -> float | None:
    return None if share is None else round(100 * share, 1)
