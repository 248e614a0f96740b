"""The result of a load test."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any

from waitroom.load.bottleneck import Bottleneck, Usage
from waitroom.load.checks import Check, Verdict
from waitroom.load.latency import Latency
from waitroom.load.plan import Limits, Plan
from waitroom.load.visits import End, History

WORDS = {
    End.SERVED: "served",
    End.LEFT: "gave up",
    End.NO_SHOW: "called, did not come",
    End.REFUSED: "refused by the room",
    End.WAITING: "still waiting at the end",
    End.CALLED: "called at the end",
    End.INSIDE: "inside at the end",
    End.NOT_COME: "had not come yet",
    End.LATE: "asked too late, by our fault",
    End.LOST: "lost their place",
    End.UNREACHED: "got nothing but errors",
}
"""How people ended, in words."""

SHARES = (0.5, 0.9, 0.99, 0.999)


@dataclass(slots=True)
class Noted:
    """What all processes noted, added up."""

    history: History = field(default_factory=History)
    latency: dict[str, Latency] = field(default_factory=dict)
    errors: Counter[tuple[str, int, str]] = field(default_factory=Counter)
    most_busy: int = 0

    def take(self, report: dict[str, Any]) -> None:
        """Add the final report of a process."""
        for name, (buckets, most_s) in report["latency"].items():
            latency = Latency({int(key): count for key, count in buckets.items()}, most_s)
            self.latency.setdefault(name, Latency()).merge(latency)
        for step, status, code, count in report["errors"]:
            self.errors[step, status, code] += count
        self.most_busy += report["most_busy"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """A finished load test."""

    plan: Plan
    limits: Limits
    noted: Noted = field(repr=False)
    checks: tuple[Check, ...]
    usage: Usage
    bottleneck: Bottleneck
    lasted_s: float
    interrupted: bool = False

    @property
    def passed(self) -> bool:
        """Whether no check failed."""
        return not any(check.verdict is Verdict.FAILED for check in self.checks)

    @property
    def ended(self) -> dict[End, int]:
        """How many people ended in which way."""
        counts = Counter(End(visit.end) for visit in self.noted.history)
        return {end: counts[end] for end in End if counts[end]}

    @property
    def requests(self) -> int:
        """How many requests were answered."""
        return sum(
            latency.count for name, latency in self.noted.latency.items() if name != "lateness"
        )

    def as_dict(self) -> dict[str, Any]:
        """Return everything for `--json`."""
        return {
            "url": self.plan.target.url,
            "room": self.plan.room,
            "people": self.plan.people,
            "passed": self.passed,
            "interrupted": self.interrupted,
            "lasted_s": round(self.lasted_s, 1),
            "checks": [
                {"name": check.name, "verdict": check.verdict, "found": check.detail}
                for check in self.checks
            ],
            "limits": {
                name: getattr(self.limits, name) for name in ("capacity", "max_entries", "per_s")
            },
            "ended": {end.name.lower(): count for end, count in self.ended.items()},
            "requests": self.requests,
            "requests_per_s": round(self.requests / max(self.lasted_s, 1e-3), 1),
            "latency_ms": {
                name: _milliseconds(latency)
                for name, latency in self.noted.latency.items()
                if latency.count
            },
            "errors": [
                {"step": step, "status": status, "code": code, "count": count}
                for (step, status, code), count in self.noted.errors.most_common()
            ],
            "bottleneck": asdict(self.bottleneck),
            "usage": asdict(self.usage),
        }


def _milliseconds(latency: Latency) -> dict[str, float]:
    seconds = {f"p{100 * share:g}": latency.at(share) or 0.0 for share in SHARES}
    most = {name: round(1000 * value, 2) for name, value in seconds.items()}
    return {"count": latency.count} | most | {"max": round(1000 * latency.most_s, 2)}
