"""What a room would do under another policy, compared with what it then did."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.server.operator.boards import sample, stats
from tests.support.room_simulator import Line
from waitroom.estimate.outlook import Bound, Outlook, Prospects, calls_at_once
from waitroom.models import Mode, Policy


def lognormal(rng: random.Random) -> float:
    """Return the length of a session: 150 s in the middle, some much longer."""
    return rng.lognormvariate(5, 0.5)


def outlook(line: Line, **changes: Any) -> Outlook:
    """Return what a simulated room would do after a change."""
    prospects = Prospects(line.policy, line.stats(), line.samples)
    return prospects.under(line.policy.change(**changes))


SLOTS = Policy(capacity=100, session_s=600)
CASES: dict[str, tuple[Line, dict[str, Any]]] = {
    "capacity up": (Line(SLOTS, 3000, session=lognormal), {"capacity": 200}),
    "capacity down": (
        Line(SLOTS.change(capacity=200), 3000, session=lognormal),
        {"capacity": 100},
    ),
    "people give up": (Line(SLOTS, 3000, session=lognormal, give_up=0.0005), {"capacity": 200}),
    "others come": (Line(SLOTS, 3000, session=lognormal, arrivals=0.5), {"capacity": 300}),
    "pace up": (Line(Policy(batch=20, every_s=10), 3000, session=lognormal), {"batch": 50}),
    "pace up to the capacity": (
        Line(Policy(batch=20, every_s=10, capacity=500), 3000, session=lognormal),
        {"batch": 60},
    ),
    "rolling limit": (
        Line(Policy(max_entries=100, per_s=60), 3000, session=lognormal),
        {"max_entries": 200},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_foreseen_comes_true(name: str) -> None:
    """The last one's wait within 15 %, and the places taken by then within 20 %."""
    line, changes = CASES[name]
    line.run(600)
    ahead, last, start_s = outlook(line, **changes), line.waiting[-1], line.now_s
    line.policy = line.policy.change(**changes)
    while last in line.waiting:
        line.step()
    assert line.now_s - start_s == pytest.approx(ahead.last_s, rel=0.15)
    assert len(line.ends) == pytest.approx(ahead.level, rel=0.2)


def test_those_called_at_once() -> None:
    """Free places are given away in the second of the change, or a step of the pace."""
    line = Line(SLOTS, 3000, session=lambda _: 5_000.0)
    line.run(60)
    assert (0, 50) == (outlook(line).at_once, outlook(line, capacity=150).at_once)
    line.policy = line.policy.change(capacity=150)
    line.step()
    assert 150 == len(line.ends)
    paced = Policy(batch=20, every_s=10, capacity=500)
    assert 20 == calls_at_once(paced, stats(600, 0, 45))
    assert 5 == calls_at_once(paced, stats(600, 100, 395))
    for mode, called in ((Mode.PAUSED, 0), (Mode.MANUAL, 0), (Mode.BYPASS, 600)):
        assert called == calls_at_once(paced.change(mode=mode), stats(600, 0, 45))


def test_what_limits_a_room() -> None:
    """The tightest of its limits, as far as sessions are known."""
    line = Line(Policy(batch=20, every_s=10, capacity=500), 3000, session=lognormal)
    line.run(600)
    assert Bound.PACE == outlook(line).bound
    assert Bound.CAPACITY == outlook(line, batch=2_000).bound
    assert Bound.ENTRIES == outlook(line, max_entries=10, per_s=60).bound
    assert Bound.NOTHING == outlook(line, batch=None, every_s=None, capacity=None).bound


def test_nothing_is_known_of_sessions() -> None:
    """Without a length of sessions a capacity tells nothing, but a pace does."""
    now = stats(600, 0, 50)
    policy = Policy(capacity=50, session_s=None)
    prospects = Prospects(policy, now, ())
    assert prospects.under(policy).last_s is None
    paced = prospects.under(policy.change(capacity=None, batch=10, every_s=10))
    assert 600 == pytest.approx(paced.last_s, abs=0.01)
    assert paced.level is None
    assert (None, False) == (prospects.session_s, prospects.is_measured)


numbers = st.integers(1, 5_000)
SAMPLES = (
    sample(60, waiting=700, called_total=400, entered=390, finished=300, inside=90, joined=1100),
    sample(30, waiting=650, called_total=450, entered=440, finished=350, inside=90, joined=1150),
)


@settings(max_examples=150, deadline=None)
@given(
    waiting=numbers,
    inside=numbers,
    capacity=numbers,
    more=numbers,
    batch=st.none() | numbers,
    entries=st.none() | numbers,
    gone=st.integers(0, 300),
)
def test_more_never_lengthens_the_wait(
    *,
    waiting: int,
    inside: int,
    capacity: int,
    more: int,
    batch: int | None,
    entries: int | None,
    gone: int,
) -> None:
    """More capacity, a faster pace or a higher limit: nobody waits longer, no fewer are called."""
    now = stats(waiting, 0, inside)
    counters = {"called_total": 500, "entered": 480, "finished": 400, "joined": 1200}
    now.counters.update(counters | {"abandoned": gone})
    policy = Policy(
        capacity=capacity,
        batch=batch,
        every_s=None if batch is None else 10,
        max_entries=entries,
        per_s=None if entries is None else 60,
    )
    prospects = Prospects(policy, now, SAMPLES)
    before = prospects.under(policy)
    wider: list[dict[str, Any]] = [{"capacity": capacity + more}, {"capacity": None}]
    wider += [{"batch": batch + more}] if batch else []
    wider += [{"max_entries": entries + more}] if entries else []
    for changes in wider:
        after = prospects.under(policy.change(**changes))
        assert after.last_s is not None
        assert before.last_s is not None
        assert after.last_s <= before.last_s + 1e-6, changes
        assert after.at_once >= before.at_once
    fewer = prospects.under(policy, admitted=min(more, waiting))
    assert fewer.last_s is not None
    assert before.last_s is not None
    # Another line is walked in other steps, so times differ by less than a hundredth.
    assert fewer.last_s <= before.last_s * 1.01
