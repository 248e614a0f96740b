"""The estimate of one room over time: renewed, learnt from, and taken up again after a restart."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from tests.support.room_simulator import Line
from waitroom.estimate.leaving import Ages
from waitroom.estimate.methods import estimator
from waitroom.estimate.observer import Observer, Peers
from waitroom.estimate.tuning import TUNING
from waitroom.models import Mode, Policy

POLICY = Policy(capacity=40, session_s=600, presence_s=None)


def room(policy: Policy = POLICY, people: int = 900) -> Line:
    """Return a room in which three of ten stay for 20 s and the others for 150."""
    return Line(policy, people, session=lambda rng: 20.0 if rng.random() < 0.3 else 150.0)


def observed(line: Line, observer: Observer, seconds: int) -> None:
    """Renew the estimate of a room every five seconds."""
    for _ in range(seconds // 5):
        line.run(5)
        line.samples[-1] = replace(
            line.samples[-1],
            mode=line.policy.mode,
            capacity=line.policy.capacity,
            per_minute=line.policy.per_minute,
        )
        observer.renewed(line.policy, line.stats(), line.samples)


def test_an_estimate_is_used_for_some_seconds() -> None:
    """Renewals within them answer the same; a change of the room is told at once."""
    line, observer = room(), Observer()
    line.run(300)
    first = observer.renewed(line.policy, line.stats(), line.samples)
    line.run(2)
    assert first is observer.renewed(line.policy, line.stats(), line.samples)
    line.policy = POLICY.change(capacity=20)
    changed = observer.renewed(line.policy, line.stats(), line.samples)
    assert changed is not first
    last = len(line.waiting)
    before, after = first.wait(last), changed.wait(last)
    assert before is not None
    assert after is not None
    assert after.likely > 1.3 * before.likely


def test_an_opening_that_is_taken_back_is_told_at_once() -> None:
    """An estimate that waits for the opening is not used once there is none."""
    line, observer = room(), Observer()
    line.run(300)
    opens_at = datetime.fromtimestamp(line.now_ms / 1000 + 86_400, UTC)
    later = POLICY.change(opens_at=opens_at)
    far = observer.renewed(later, line.stats(), line.samples).wait(1)
    near = observer.renewed(POLICY, line.stats(), line.samples).wait(1)
    assert far is not None
    assert near is not None
    assert far.likely >= 86_400 > near.likely


def test_ranges_narrow_as_they_hold() -> None:
    """After half an hour the range is narrower than the model alone would tell, and holds."""
    line, observer = room(people=3_000), Observer()
    observed(line, observer, 1_800)
    position = 200
    wait = observer.renewed(line.policy, line.stats(), line.samples).wait(position)
    person, asked_s = line.waiting[position - 1], line.now_s
    assert wait is not None
    while person not in line.called_at:
        line.step()
    assert wait.low <= line.called_at[person] - asked_s <= wait.high
    assert wait.high - wait.low < 0.8 * wait.likely


def test_a_restart_learns_from_the_samples() -> None:
    """A process that comes new to a room replays its samples, a moment per renewal."""
    line, old = room(people=3_000), Observer()
    observed(line, old, 1_800)
    new, stats = Observer(), line.stats()
    first = new.renewed(line.policy, stats, line.samples).wait(200)
    for second in range(60):
        later = replace(stats, now_ms=stats.now_ms + 100 * second)
        new.renewed(line.policy, later, line.samples)
    later = replace(stats, now_ms=stats.now_ms + 1000 * int(TUNING.renew_s + 1))
    then = new.renewed(line.policy, later, line.samples).wait(200)
    plain = estimator(line.policy, stats, line.samples).wait(200)
    assert first is not None
    assert then is not None
    assert plain is not None
    assert then.high - then.low < first.high - first.low
    assert then.likely == pytest.approx(plain.likely, rel=0.25)


def test_nothing_is_told_while_nobody_is_called() -> None:
    """A pause has no estimate, and after it what was told before is not compared."""
    line, observer = room(), Observer()
    observed(line, observer, 600)
    line.policy = POLICY.change(mode=Mode.PAUSED)
    assert observer.renewed(line.policy, line.stats(), line.samples).wait(10) is None
    line.policy = POLICY
    assert observer.renewed(line.policy, line.stats(), line.samples).wait(10) is not None


def test_rooms_learn_from_each_other() -> None:
    """Who gives up elsewhere is assumed of a new room, with the weight of a few people only."""
    peers, number = Peers(), len(TUNING.leaving_ages)
    assert peers.of_others("a") is None
    peers.note("a", Ages([500.0] * number, [0.0] * number, [500_000.0] * number))
    assert peers.of_others("a") is None
    others = peers.of_others("b")
    assert others is not None
    assert TUNING.peers_stood_s == pytest.approx(others.stood_s[0])
    assert 0.001 == pytest.approx(others.left[0] / others.stood_s[0])
    for i in range(2 * TUNING.peers):
        peers.note(f"room-{i}", Ages([0.0] * number, [0.0] * number, [1.0] * number))
    others = peers.of_others("b")
    assert others is not None
    assert TUNING.peers == others.stood_s[0], "the oldest are forgotten"


def test_hostile_series() -> None:
    """Samples that repeat, step back or start again raise nothing."""
    rng = random.Random(3)
    line, observer = room(), Observer()
    line.run(600)
    for _ in range(50):
        samples = [rng.choice(line.samples) for _ in range(rng.randrange(40))]
        stats = line.stats(now_ms=line.now_ms + rng.randrange(-900_000, 900_000))
        wait = observer.renewed(line.policy, stats, samples).wait(rng.randrange(1, 10**6))
        assert wait is None or 0 <= wait.low <= wait.likely <= wait.high
