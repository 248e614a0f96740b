"""A simulated room, second by second, that produces the samples for judging an estimate.

It is much simpler than the engine: a list of people, a policy's limits, sessions of a given length,
and people who give up. It knows when everybody is called, so each estimate can be checked.
"""

from __future__ import annotations

import dataclasses
import random
import statistics
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from waitroom.estimate.methods import estimator
from waitroom.models import Policy, Sample, Stats

START_MS = 1_763_232_000_000
SAMPLE_S = 5
LIVE = ("at_ms", "waiting", "called", "inside")
Session = Callable[[random.Random], float]


@dataclass
class Line:
    """A room under simulation; `rng` makes it repeatable."""

    policy: Policy
    people: int
    rng: random.Random = field(default_factory=lambda: random.Random(1))
    session: Session = lambda _: 300.0
    give_up: float = 0.0  # chance per second, for each person who waits
    arrivals: float = 0.0  # people per second
    pace: float | None = None  # calls per second where the policy leaves it open (manual rooms)
    now_s: int = 0

    def __post_init__(self) -> None:
        self.waiting = list(range(self.people))
        self.next_id = self.people
        self.ends: list[float] = []
        self.called_at: dict[int, int] = {}
        self.samples: list[Sample] = []
        self.count = dict.fromkeys(
            (
                spec.name
                for spec in dataclasses.fields(Sample)
                if spec.default is dataclasses.MISSING and spec.name not in LIVE
            ),
            0,
        )
        self.count["joined"] = self.people
        self.slot_used = 0
        self.entries: list[int] = []
        self.owed = 0.0
        self.take_sample()

    @property
    def now_ms(self) -> int:
        """Return the room's clock."""
        return START_MS + 1000 * self.now_s

    def take_sample(self) -> None:
        """Add the sample of this second."""
        self.samples.append(self.sample())

    def sample(self, **changes: int) -> Sample:
        """Return the room at this second."""
        values: dict[str, Any] = {
            "at_ms": self.now_ms,
            "waiting": len(self.waiting),
            "called": 0,
            "inside": len(self.ends),
        }
        return Sample(**(values | self.count | changes))

    def stats(self, **changes: Any) -> Stats:
        """Return what the engine would say now."""
        values: dict[str, Any] = {
            "room": "concert",
            "mode": self.policy.mode,
            "version": 1,
            "epoch": 1,
            "waiting": len(self.waiting),
            "called": 0,
            "inside": len(self.ends),
            "entries_in_window": 0,
            "hold_until_ms": None,
            "oldest_wait_ms": 0,
            "may_return": 0,
            "counters": dict(self.count),
            "now_ms": self.now_ms,
        }
        return Stats(**(values | changes))

    def step(self) -> None:
        """Let a second pass."""
        self.now_s += 1
        alive = [end for end in self.ends if end > self.now_s]
        self.count["finished"] += len(self.ends) - len(alive)
        self.ends = alive
        if self.give_up:
            stay = [person for person in self.waiting if self.rng.random() >= self.give_up]
            self.count["abandoned"] += len(self.waiting) - len(stay)
            self.waiting = stay
        self._arrive()
        self._call(self._budget())
        if self.now_s % SAMPLE_S == 0:
            self.take_sample()

    def run(self, seconds: int) -> None:
        """Let some seconds pass."""
        for _ in range(seconds):
            self.step()

    def _arrive(self) -> None:
        number = int(self.arrivals) + (self.rng.random() < self.arrivals % 1)
        self.waiting += range(self.next_id, self.next_id + number)
        self.next_id += number
        self.count["joined"] += number

    def _budget(self) -> int:
        policy = self.policy
        if policy.mode == "paused" or (policy.mode == "manual" and self.pace is None):
            return 0
        left = float(len(self.waiting))
        if policy.capacity is not None:
            left = min(left, policy.capacity - len(self.ends))
        if policy.batch is not None and policy.every_s is not None:
            if self.now_s % int(policy.every_s) == 0:
                self.slot_used = 0
            left = min(left, policy.batch - self.slot_used)
        if policy.max_entries is not None and policy.per_s is not None:
            self.entries = [at for at in self.entries if at > self.now_s - policy.per_s]
            left = min(left, policy.max_entries - len(self.entries))
        if self.pace is not None:
            self.owed += self.rng.gammavariate(self.pace, 1.0)
            left = min(left, int(self.owed))
            self.owed -= left
        return max(0, int(left))

    def _call(self, number: int) -> None:
        for person in self.waiting[:number]:
            self.called_at[person] = self.now_s
        self.ends += [self.now_s + self.session(self.rng) for _ in range(number)]
        self.entries += [self.now_s] * number
        del self.waiting[:number]
        self.slot_used += number
        self.count["called_total"] += number
        self.count["entered"] += number


@dataclass(frozen=True)
class Verdict:
    """How good the answers were: medians and shares, 0 to 1."""

    error: float
    covered: float
    jumps: float
    width: float
    answers: int


def judge(
    line: Line,
    seconds: int,
    after_s: int = 0,
    every_s: int = 5,
    events: dict[int, Callable[[Line], None]] | None = None,
    least_s: int = 30,
) -> Verdict:
    """Run a line, ask for people all over it every few seconds, and compare with what happened."""
    estimates: list[tuple[int, int, Any]] = []
    step = max(1, line.people // 40)
    for second in range(seconds):
        if events and second in events:
            events[second](line)
        line.step()
        if second >= after_s and second % every_s == 0:
            answers = estimator(line.policy, line.stats(), line.samples)
            for at, person in enumerate(line.waiting):
                if person % step == 0:
                    estimates.append((person, line.now_s, answers.wait(at + 1)))
    return _verdict(line, estimates, least_s)


def _verdict(line: Line, estimates: list[tuple[int, int, Any]], least_s: int) -> Verdict:
    errors, covered, widths, jumps, pairs = [], 0, [], 0, 0
    last: dict[int, tuple[int, float]] = {}
    for person, at, wait in estimates:
        if person not in line.called_at or wait is None:
            continue
        truth = line.called_at[person] - at
        covered += wait.low <= truth <= wait.high
        if truth >= least_s:
            errors.append(abs(wait.likely - truth) / truth)
            widths.append((wait.high - wait.low) / max(1, wait.likely))
        if person in last and last[person][1] >= least_s:
            pairs += 1
            due = last[person][1] - (at - last[person][0])
            jumps += abs(wait.likely - due) > 0.25 * last[person][1]
        last[person] = (at, wait.likely)
    asked = sum(1 for person, _, wait in estimates if person in line.called_at and wait is not None)
    return Verdict(
        statistics.median(errors), covered / asked, jumps / max(1, pairs),
        statistics.median(widths), asked,
    )  # fmt: skip
