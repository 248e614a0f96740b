"""Notes what some people were told about their wait, and compares it with the wait that came true.

The one definition of how good an estimate is, for reports and for `make bench-eta`:

- asked every ten seconds, of some hundred people, as long as they wait
- an answer counts if the person was called in the end, after more than two minutes
- error      |likely - truth| ÷ truth; the median of all answers
- covered    low ≤ truth ≤ high; a range wider than its estimate counts as a miss
- jump       from one answer to the next, `likely` moved by more than a quarter beside what the time
             that went by explains
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
    """What one person was told at a moment."""

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
        self.told: dict[Eta, list[Told]] = defaultdict(list)
        self._etas = tuple(etas)

    def watches(self, person: int) -> bool:
        """Tell whether a person is one of those who are asked."""
        return person % self.every_nth == 0

    def ask(
        self,
        policy: Policy,
        stats: Stats,
        samples: Sequence[Sample],
        people: Iterable[tuple[int, int]],
    ) -> None:
        """Note what each person, at their position, is told now."""
        people = tuple(people)
        for eta in self._etas or (policy.eta,):
            answers = estimator(policy.change(eta=eta), stats, samples)
            if answers.kind is not eta and self._etas:
                continue  # the policy has not what this formula needs
            notes = self.told[eta]
            for person, position in people:
                wait = answers.wait(position)
                if wait is not None:
                    notes.append(Told(person, stats.now_ms, *wait))


def judge(told: Iterable[Told], called_ms: Sequence[int]) -> Accuracy:
    """Compare answers with what came true."""
    errors: list[float] = []
    covered = pairs = jumps = 0
    before: dict[int, Told] = {}
    for one in told:
        truth_s = (called_ms[one.person] - one.at_ms) / 1000
        if called_ms[one.person] == 0 or truth_s <= LEAST_S:
            continue
        errors.append(abs(one.likely - truth_s) / truth_s)
        narrow = one.high - one.low <= one.likely
        covered += narrow and one.low <= truth_s <= one.high
        last = before.get(one.person)
        if last is not None:
            pairs += 1
            due_s = last.likely - (one.at_ms - last.at_ms) / 1000
            jumps += abs(one.likely - due_s) > _JUMP * max(1, last.likely)
        before[one.person] = one
    if not errors:
        return Accuracy(0)
    return Accuracy(
        answers=len(errors),
        error=statistics.median(errors),
        covered=covered / len(errors),
        jumps=jumps / pairs if pairs else 0.0,
    )
