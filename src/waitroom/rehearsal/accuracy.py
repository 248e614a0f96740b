"""Notes the wait estimates of some people, and compares them with their real waits.

The only definition of how good an estimate is, for reports and for `make bench-eta`:

- every ten seconds, some hundred people get an estimate, as long as they wait
- an estimate counts if the person was called in the end, after more than two minutes
- error      |likely - truth| ÷ truth; the median of all estimates
- covered    low ≤ truth ≤ high; a range wider than its estimate counts as a miss
- jump       from one estimate to the next, `likely` moved by more than a quarter, not counting the
             time that passed
"""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from waitroom.estimate.methods import estimator
from waitroom.models import Eta, Policy, Sample, Stats

WATCHED = 300
EVERY_S = 10.0
LEAST_S = 120.0
_JUMP = 0.25


class Told(NamedTuple):
    """The estimate that one person got at a moment."""

    person: int
    at_ms: int
    low: int
    likely: int
    high: int


@dataclass(frozen=True, slots=True)
class Accuracy:
    """How good a formula was, as shares 0 to 1; None where nothing could be compared."""

    answers: int
    error: float | None = None
    covered: float | None = None
    jumps: float | None = None


class Watch:
    """Asks for estimates; `etas` are the formulas to compare beside the one that is shown."""

    def __init__(self, people: int, etas: Sequence[Eta] = (), most: int = WATCHED) -> None:
        self.every_nth = max(1, people // most)
        self.estimates: dict[Eta, list[Told]] = defaultdict(list)
        self._etas = tuple(etas)

    def ask(
        self,
        policy: Policy,
        stats: Stats,
        samples: Sequence[Sample],
        people: Iterable[tuple[int, int]],
    ) -> None:
        """Note the estimate that each person gets now, at their position."""
        people = tuple(people)
        for eta in self._etas or (policy.eta,):
            answers = estimator(policy.change(eta=eta), stats, samples)
            if answers.kind is not eta and self._etas:
                continue  # the policy lacks what this formula needs
            notes = self.estimates[eta]
            for person, position in people:
                wait = answers.wait(position)
                if wait is not None:
                    notes.append(Told(person, stats.now_ms, *wait))


def judge(estimates: Iterable[Told], called_ms: Sequence[int]) -> Accuracy:
    """Compare estimates with the real waits."""
    errors: list[float] = []
    covered = pairs = jumps = 0
    before: dict[int, Told] = {}
    for answer in estimates:
        truth_s = (called_ms[answer.person] - answer.at_ms) / 1000
        if called_ms[answer.person] == 0 or truth_s <= LEAST_S:
            continue
        errors.append(abs(answer.likely - truth_s) / truth_s)
        narrow = answer.high - answer.low <= answer.likely
        covered += narrow and answer.low <= truth_s <= answer.high
        last = before.get(answer.person)
        if last is not None:
            pairs += 1
            due_s = last.likely - (answer.at_ms - last.at_ms) / 1000
            jumps += abs(answer.likely - due_s) > _JUMP * max(1, last.likely)
        before[answer.person] = answer
    if not errors:
        return Accuracy(0)
    return Accuracy(
        answers=len(errors),
        error=statistics.median(errors),
        covered=covered / len(errors),
        jumps=jumps / pairs if pairs else 0.0,
    )
