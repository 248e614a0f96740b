"""Rooms kept on disk: whom the estimator was asked about, when, and what came true.

Playing a room takes the engine minutes; asking the estimator again takes seconds. So a change of it
can be judged by the same rooms: `KEEP=folder` plays and keeps them, `FROM=folder` asks again.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from bench.eta.rooms import Room
from waitroom.models import Eta, Policy, Sample, Stats
from waitroom.rehearsal.accuracy import Accuracy, Watch, judge


class Question(NamedTuple):
    """What an estimate is made from, and the people and positions that it is asked for."""

    policy: Policy
    stats: Stats
    samples: tuple[Sample, ...]
    people: tuple[tuple[int, int], ...]


class Recording(NamedTuple):
    """A room that was played."""

    room: Room
    seed: int
    questions: list[Question]
    called_ms: Sequence[int]

    def judged(self) -> dict[Eta, Accuracy]:
        """Ask everything again, and compare the answers with the waits that came true."""
        watch = Watch(1, tuple(Eta))
        for question in self.questions:
            watch.ask(*question)
        return {eta: judge(told, self.called_ms) for eta, told in watch.estimates.items()}

    def keep(self, folder: Path) -> None:
        """Write it into a folder."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{self.seed:06}.pickle").write_bytes(pickle.dumps(self))


class Recorder(Watch):
    """Keeps every question, beside asking it."""

    def __init__(self, people: int, etas: Sequence[Eta] = ()) -> None:
        super().__init__(people, etas)
        self.questions: list[Question] = []

    def ask(
        self,
        policy: Policy,
        stats: Stats,
        samples: Sequence[Sample],
        people: Iterable[tuple[int, int]],
    ) -> None:
        """Keep the question, and ask it."""
        question = Question(policy, stats, tuple(samples), tuple(people))
        self.questions.append(question)
        super().ask(*question)


def kept(folder: Path) -> Iterator[Recording]:
    """Read the rooms of a folder, which `keep` wrote: nothing else may lie there."""
    for file in sorted(folder.glob("*.pickle")):
        recording: Recording = pickle.loads(file.read_bytes())  # noqa: S301 - our own files
        yield recording
