"""The estimate of one room over time: it keeps what was told, and learns from what came true.

A process keeps one `Observer` per room in use, and one `Peers` for all of them. Its work is bounded
and never done for a visitor's call: a new estimate every few seconds, a comparison every quarter of
a minute, and after a restart one replayed moment of the room's samples per renewal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import takewhile

from waitroom.estimate.calibration import Calibration
from waitroom.estimate.flow import History
from waitroom.estimate.leaving import Ages
from waitroom.estimate.methods import Estimator, delay_of, estimator
from waitroom.estimate.ranges import Table, bounded, table_of
from waitroom.estimate.tuning import TUNING
from waitroom.history import COUNTERS
from waitroom.models import Policy, Sample, Stats

_LIMITS = "capacity", "batch", "every_s", "max_entries", "per_s", "session_s", "enter_within_s"


class Peers:
    """Who gave up in each room of a process, by age: assumed of the others beforehand."""

    def __init__(self) -> None:
        self._rooms: dict[str, Ages] = {}

    def note(self, room: str, ages: Ages) -> None:
        """Note what a room showed; the room that was noted longest ago is forgotten."""
        self._rooms.pop(room, None)
        self._rooms[room] = ages
        if len(self._rooms) > TUNING.peers:
            del self._rooms[next(iter(self._rooms))]

    def of_others(self, room: str) -> Ages | None:
        """Return what the other rooms showed, weighing no more than a few people would."""
        others = [ages for name, ages in self._rooms.items() if name != room]
        if not others:
            return None
        sums = [
            [sum(values) for values in zip(*columns, strict=True)]
            for columns in zip(*others, strict=True)
        ]
        left, dropped, stood_s = sums
        parts = [
            min(1.0, TUNING.peers_stood_s / seconds) if seconds else 0.0 for seconds in stood_s
        ]
        scaled = (
            [value * part for value, part in zip(column, parts, strict=True)]
            for column in (left, dropped, stood_s)
        )
        return Ages(*scaled)


class Observer:
    """The estimates of one room."""

    def __init__(self, room: str = "", peers: Peers | None = None) -> None:
        self._room, self._peers = room, peers
        self._calibration = Calibration()
        self._limits: tuple[object, ...] | None = None
        self._made: tuple[float, Estimator] | None = None
        self._learnt_s = 0.0
        self._replay: Iterator[bool] = iter(())

    def renewed(self, policy: Policy, stats: Stats, samples: Sequence[Sample]) -> Estimator:
        """Return the estimate as it is now; `samples` are the room's series, oldest first."""
        now_s = stats.now_ms / 1000
        limits = (
            *(policy.eta, stats.epoch, policy.mode_at(stats.now_ms), stats.hold_until_ms),
            *(getattr(policy, name) for name in _LIMITS),
        )
        if limits != self._limits:
            first = self._limits is None
            self._limits, self._made = limits, None
            self._calibration.forget()
            self._replay = self._replayed(policy, stats, samples) if first else iter(())
        caught_up = not next(self._replay, False)
        made, delay_s = self._made, delay_of(policy, stats)
        if made and 0 <= now_s - made[0] < TUNING.renew_s and not delay_s:
            return made[1]
        answer = estimator(
            policy, stats, samples, lambda past: self._observe(past, now_s, learn=caught_up)
        )
        # A delay is a part of the answer, and may be taken back at any time: an opening, a hold.
        self._made = None if delay_s else (now_s, answer)
        return answer

    def _observe(self, history: History, now_s: float, *, learn: bool = True) -> Table | None:
        """Return what a room's past tells, corrected by what came true of what it told before."""
        flow = history.flow()
        if flow is None:
            return None
        elsewhere = None if self._peers is None else self._peers.of_others(self._room)
        leaving = history.leaving(elsewhere)
        if self._peers is not None:
            self._peers.note(self._room, leaving.seen)
        table = table_of(flow, leaving)
        if learn and now_s - self._learnt_s >= TUNING.kept_every_s:
            self._learnt_s = now_s
            self._calibration.learn(now_s, history.whole)
            self._calibration.keep(now_s, table)
        return bounded(self._calibration.corrected(table), history.seconds)

    def _replayed(self, policy: Policy, stats: Stats, samples: Sequence[Sample]) -> Iterator[bool]:
        """Learn from samples that were made before us, a moment per step, oldest first."""
        since = list(takewhile(lambda each: _is_same(each, policy, stats), reversed(samples)))
        since.reverse()
        last_s = 0.0
        for at, sample in enumerate(since):
            now_s = sample.at_ms / 1000
            if not sample.waiting or now_s - last_s < TUNING.replay_every_s:
                continue
            if now_s >= stats.now_ms / 1000 - TUNING.renew_s:
                return
            last_s = now_s
            history = History(policy, _stats_of(sample, stats), since[: at + 1])
            self._observe(history, now_s)
            yield True


def _is_same(sample: Sample, policy: Policy, stats: Stats) -> bool:
    """Return whether a sample was made under the limits of now; one that cannot tell was not."""
    limits = (policy.mode_at(stats.now_ms), policy.capacity, policy.per_minute)
    return limits == (sample.mode, sample.capacity, sample.per_minute)


def _stats_of(sample: Sample, stats: Stats) -> Stats:
    """Return the stats of a room at the time of a sample."""
    return replace(
        stats,
        now_ms=sample.at_ms,
        waiting=sample.waiting,
        called=sample.called,
        inside=sample.inside,
        counters={name: getattr(sample, name) for name in COUNTERS},
    )
