"""An estimate that moves says why, if the room's own facts show it, and is silent if not."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.room_simulator import Line
from waitroom.estimate.methods import Wait, estimator
from waitroom.estimate.reasons import Changes, Reason
from waitroom.models import Mode, Policy

PACE = Policy(batch=60, every_s=10)
_EVERY_S = 5


class Told:
    """A room whose changes are noted every five seconds, as a process does."""

    def __init__(self, policy: Policy, people: int, **more: Any) -> None:
        self.line = Line(policy, people, **more)
        self.changes = Changes()
        self.reasons: list[Reason | None] = []
        self.facts: dict[str, Any] = {}

    def run(self, seconds: int) -> Reason | None:
        """Let time pass; return the reason at its end."""
        for _ in range(seconds):
            self.line.step()
            if self.line.now_s % _EVERY_S == 0:
                self.note()
        return self.changes.reason

    def note(self, wait: Callable[[int], Wait | None] | None = None) -> Reason | None:
        """Renew once, with the room's own estimate or another."""
        line, stats = self.line, self.line.stats(**self.facts)
        own = estimator(line.policy, stats, [*line.samples, line.sample()]).wait
        self.reasons.append(self.changes.note(line.policy, stats, line.samples, wait or own))
        return self.changes.reason


def test_a_lowered_pace_is_said() -> None:
    """If the policy lets in half as many, the next renewal says so, and goes on for minutes."""
    room = Told(PACE, 9_000)
    assert room.run(300) is None
    room.line.policy = Policy(batch=30, every_s=10)
    assert Reason.SLOWER_ADMISSION == room.note()
    assert Reason.SLOWER_ADMISSION == room.run(180)


def test_a_raised_pace_is_said() -> None:
    """If the policy lets in twice as many, the next renewal says so."""
    room = Told(PACE, 9_000)
    assert room.run(300) is None
    room.line.policy = Policy(batch=120, every_s=10)
    room.run(60)
    assert Reason.FASTER_ADMISSION == room.changes.reason


def test_a_room_that_calls_fewer_than_before_is_slower() -> None:
    """Without a change of the policy, the calls themselves are the evidence."""
    room = Told(Policy(mode=Mode.MANUAL), 4_000, pace=4.0)
    assert room.run(600) is None
    room.line.pace = 1.5
    assert Reason.SLOWER_ADMISSION == room.run(120)
    assert None not in room.reasons[-6:]


def test_a_room_that_calls_more_than_before_is_faster() -> None:
    """The same in the other direction."""
    room = Told(Policy(mode=Mode.MANUAL), 6_000, pace=2.0)
    assert room.run(600) is None
    room.line.pace = 6.0
    assert Reason.FASTER_ADMISSION == room.run(120)


def test_after_a_pause_the_wait_is_longer_by_it() -> None:
    """People who stood for five minutes more than they were told get the pause as the reason."""
    room = Told(PACE, 4_000)
    room.run(200)
    room.line.policy = PACE.change(mode="paused")
    assert room.run(300) is None
    room.line.policy = PACE
    assert Reason.PAUSED == room.run(20)


def test_a_short_pause_explains_no_long_move() -> None:
    """A pause of some seconds is no reason for minutes."""
    room = Told(PACE, 9_000)
    room.run(200)
    room.line.policy = PACE.change(mode="paused")
    room.run(10)
    room.line.policy = PACE
    room.note(lambda place: Wait(place, place, place))
    assert Reason.PAUSED not in room.reasons


@pytest.mark.parametrize("told", [True, False], ids=["told", "not told"])
def test_a_hold_after_a_loss_is_the_reason(told: bool) -> None:
    """Whether the estimate counts the hold at once, or is not told until it is over."""
    room = Told(PACE, 1_800)
    room.run(200)
    hold_ms = room.line.now_ms + 75_000
    room.facts = {"hold_until_ms": hold_ms}
    if told:
        assert Reason.RESTORING == room.note()
    for _ in range(15):
        room.line.now_s += 5  # nobody is called
        room.line.take_sample()
        room.note(None if told else lambda _: None)
    room.facts = {}
    assert Reason.RESTORING == room.run(10)


def test_counters_that_start_again_do_no_harm() -> None:
    """A loss of state takes the counters with it; what was counted before stays counted."""
    room = Told(PACE, 1_800)
    room.run(200)
    room.facts = {"hold_until_ms": room.line.now_ms + 75_000, "counters": {}}
    assert Reason.RESTORING == room.note()


def test_many_who_leave_are_the_reason() -> None:
    """If a third of the line goes at once, those behind are told why their wait fell."""
    room = Told(PACE, 9_000)
    room.run(200)
    rng = random.Random(5)
    stay = [person for person in room.line.waiting if rng.random() > 0.4]
    room.line.count["abandoned"] += len(room.line.waiting) - len(stay)
    room.line.waiting = stay
    assert Reason.MANY_LEFT == room.run(5)


def test_a_jump_without_evidence_has_no_reason() -> None:
    """An estimate that doubles or halves in a room where nothing changed stays unexplained."""
    room = Told(PACE, 9_000)
    room.run(300)
    for factor in (2.0, 0.5):

        def other(place: int, factor: float = factor) -> Wait:
            span = round(factor * place / 6)
            return Wait(span, span, span)

        for _ in range(12):
            for _ in range(5):
                room.line.step()
            assert room.note(other) is None


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "room",
    [
        lambda rng: Told(PACE, 9_000, rng=rng),
        lambda rng: Told(Policy(batch=100, every_s=60), 2_000, rng=rng),
        lambda rng: Told(Policy(max_entries=100, per_s=60), 2_000, rng=rng),
        lambda rng: Told(Policy(mode=Mode.MANUAL), 3_000, rng=rng, pace=2.0),
        lambda rng: Told(PACE, 6_000, rng=rng, give_up=0.0005, arrivals=2.0),
    ],
    ids=["pace", "minute", "rolling", "by hand", "giving up"],
)
def test_noise_has_no_reason(room: Callable[[random.Random], Told], seed: int) -> None:
    """In rooms where nothing changes, nobody is told that something did."""
    told = room(random.Random(seed))
    told.run(900)
    assert {None} == set(told.reasons[60:])


def test_a_reason_goes_when_the_estimate_is_back() -> None:
    """As soon as people are told what they would have been told anyway, nothing is left to say."""
    room = Told(PACE, 9_000)
    room.run(300)
    as_before = estimator(PACE, room.line.stats(), room.line.samples).wait
    room.line.policy = Policy(batch=30, every_s=10)
    assert Reason.SLOWER_ADMISSION == room.note()
    assert room.note(as_before) is None


def test_the_latest_change_counts() -> None:
    """A pace is lowered by mistake and raised again: those told the longer wait hear why."""
    room = Told(PACE, 9_000)
    room.run(300)
    room.line.policy = Policy(batch=30, every_s=10)
    assert Reason.SLOWER_ADMISSION == room.run(60)
    room.line.policy = PACE
    assert Reason.FASTER_ADMISSION == room.run(5)


def test_a_reason_goes_in_the_end() -> None:
    """After some minutes the new pace is simply the pace."""
    room = Told(PACE, 18_000)
    room.run(300)
    room.line.policy = Policy(batch=30, every_s=10)
    assert Reason.SLOWER_ADMISSION == room.run(30)
    assert room.run(600) is None


def test_a_line_that_has_just_formed_is_followed() -> None:
    """A change within the first seconds is seen, though at first hardly anybody was there."""
    room = Told(PACE, 1)
    room.run(5)
    room.line.waiting += range(1, 9_000)
    room.line.count["joined"] += 8_999
    assert room.run(5) is None
    room.line.policy = Policy(batch=30, every_s=10)
    assert Reason.SLOWER_ADMISSION == room.note()


def test_what_was_told_long_ago_is_forgotten() -> None:
    """A process that did not look for ten minutes does not know what people were told meanwhile."""
    room = Told(PACE, 18_000)
    room.run(300)
    room.line.run(600)
    room.line.policy = Policy(batch=30, every_s=10)
    assert room.note() is None


def test_a_cleared_room_starts_anew() -> None:
    """What people of another line were told is nothing to compare with."""
    room = Told(PACE, 9_000)
    room.run(300)
    room.line.policy = Policy(batch=30, every_s=10)
    assert Reason.SLOWER_ADMISSION == room.note()
    room.facts = {"epoch": 2}
    assert room.note() is None


def test_nothing_is_said_of_an_empty_line() -> None:
    """Nobody waits, so nothing was told and nothing is compared."""
    room = Told(PACE, 0)
    room.run(60)
    room.line.policy = Policy(batch=1, every_s=10)
    assert room.run(60) is None
