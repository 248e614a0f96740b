"""Notes the wait estimates of some people, and compares them with their real waits.

The only definition of how good an estimate is, for reports and for `make bench-eta`:

- every ten seconds, some hundred people get an estimate, as long as they wait
- an estimate counts if the person was called in the end, after more than two minutes
- error      |likely - truth| ÷ truth; the median of all estimates from the tenth minute on
- covered    low ≤ truth ≤ high; from the tenth minute on, a range wider than its estimate is a miss
- width      (high - low) ÷ likely; the median of all estimates from the tenth minute on
- jump       from one estimate to the next, `likely` moved by more than a quarter, not counting the
             time that passed, and no reason was given for it (see `waitroom.estimate.reasons`)

Minutes are counted from the first estimate. In a room that is over before, all of them count.
"""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from waitroom.estimate.methods import estimator
from waitroom.estimate.observer import Observer
from waitroom.estimate.reasons import Changes
from waitroom.models import Eta, Policy, Sample, Stats

WATCHED = 300
EVERY_S = 10.0
LEAST_S = 120.0
FIRST_S = 600.0
_JUMP = 0.25
_REASON_S = 60.0  # a reason may need some renewals until the room shows it


class Told(NamedTuple):
    """The estimate that one person got at a moment, and whether a reason for a move was given."""

    person: int
    at_ms: int
    low: int
    likely: int
    high: int
    explained: bool = False


class Minute(NamedTuple):
    """The estimates of one minute since the first: how many, how many held, and their errors."""

    answers: int
    covered: int
    errors: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Accuracy:
    """How good a formula was, as shares 0 to 1; None if nothing could be compared."""

    answers: int
    error: float | None = None
    covered: float | None = None
    jumps: float | None = None
    first_covered: float | None = None
    """Of those told in the first ten minutes."""

    width: float | None = None
    minutes: tuple[Minute, ...] = ()

    @property
    def outlasts_first(self) -> bool:
        """Whether anything was told after the first ten minutes."""
        return len(self.minutes) > FIRST_S / 60


class Watch:
    """Asks for estimates; `etas` are the formulas to compare, besides the one that is shown."""

    def __init__(self, people: int, etas: Sequence[Eta] = (), most: int = WATCHED) -> None:
        self.every_nth = max(1, people // most)
        self.estimates: dict[Eta, list[Told]] = defaultdict(list)
        self._etas = tuple(etas)
        self._observers: dict[Eta, Observer] = defaultdict(Observer)
        self._changes: dict[Eta, Changes] = defaultdict(Changes)

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
            asked = policy.change(eta=eta)
            if eta is Eta.OBSERVED or not self._etas:
                answers = self._observers[eta].renewed(asked, stats, samples)
            else:  # only the middle is compared, and what was learnt changes ranges alone
                answers = estimator(asked, stats, samples)
            if answers.kind is not eta and self._etas:
                continue  # the policy lacks what this formula needs
            reason = self._changes[eta].note(asked, stats, samples, answers.wait)
            notes = self.estimates[eta]
            for person, position in people:
                wait = answers.wait(position)
                if wait is not None:
                    notes.append(Told(person, stats.now_ms, *wait, reason is not None))


def judge(estimates: Iterable[Told], called_ms: Sequence[int]) -> Accuracy:
    """Compare estimates with the real waits."""
    tally = _Tally()
    for answer in estimates:
        truth_s = (called_ms[answer.person] - answer.at_ms) / 1000
        if called_ms[answer.person] != 0 and truth_s > LEAST_S:
            tally.add(answer, truth_s)
    return tally.accuracy()


class _Tally:
    """The sums of one room."""

    def __init__(self) -> None:
        self._start_ms: int | None = None
        self._errors: dict[int, list[float]] = defaultdict(list)
        self._covered: dict[int, int] = defaultdict(int)
        self._widths: dict[int, list[float]] = defaultdict(list)
        self._before: dict[int, Told] = {}
        self._unexplained: dict[int, list[int]] = defaultdict(list)  # person → when
        self._pairs = self._jumps = 0

    def add(self, answer: Told, truth_s: float) -> None:
        """Count an estimate."""
        if self._start_ms is None:
            self._start_ms = answer.at_ms
        since_s = (answer.at_ms - self._start_ms) / 1000
        minute = int(since_s / 60)
        narrow = since_s < FIRST_S or answer.high - answer.low <= answer.likely
        self._errors[minute].append(abs(answer.likely - truth_s) / truth_s)
        self._covered[minute] += narrow and answer.low <= truth_s <= answer.high
        self._widths[minute].append((answer.high - answer.low) / max(1, answer.likely))
        self._compare(answer)

    def _compare(self, answer: Told) -> None:
        """Count a jump since the person's last estimate, unless a reason is given soon after."""
        last = self._before.get(answer.person)
        self._before[answer.person] = answer
        if last is None:
            return
        self._pairs += 1
        due_s = last.likely - (answer.at_ms - last.at_ms) / 1000
        if answer.explained:
            since_ms = answer.at_ms - _REASON_S * 1000
            late = [at for at in self._unexplained.pop(answer.person, []) if at >= since_ms]
            self._jumps -= len(late)
        elif abs(answer.likely - due_s) > _JUMP * max(1, last.likely):
            self._jumps += 1
            self._unexplained[answer.person].append(answer.at_ms)

    def accuracy(self) -> Accuracy:
        """Return what they come to."""
        number = sum(len(errors) for errors in self._errors.values())
        if not number:
            return Accuracy(0)
        first = range(int(FIRST_S / 60))
        told_first = sum(len(self._errors[minute]) for minute in first if minute in self._errors)
        return Accuracy(
            answers=number,
            error=statistics.median(_later(self._errors)),
            covered=sum(self._covered.values()) / number,
            jumps=self._jumps / self._pairs if self._pairs else 0.0,
            first_covered=sum(self._covered[m] for m in first) / told_first if told_first else None,
            width=statistics.median(_later(self._widths)),
            minutes=tuple(
                Minute(len(self._errors[m]), self._covered[m], tuple(self._errors[m]))
                for m in range(max(self._errors) + 1)
            ),
        )


def _later(values: dict[int, list[float]]) -> list[float]:
    """Return the values from the tenth minute on, or all of them if there are none."""
    later = [value for minute, some in values.items() if minute >= FIRST_S / 60 for value in some]
    return later or [value for some in values.values() for value in some]
