"""What people are told about their wait: the seeds' figures, and how well `observed` foresees."""

from __future__ import annotations

import dataclasses
import math
import random
from collections.abc import Callable
from itertools import pairwise
from time import thread_time
from timeit import repeat
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.counts import count
from tests.support.room_simulator import SAMPLE_S, START_MS, Line, Session, judge
from waitroom.estimate.methods import Estimator, Wait, estimator
from waitroom.models import BeforeOpen, Eta, Mode, Policy, Sample, Stats, preset
from waitroom.moments import from_ms


def estimate(line: Line, **stats: Any) -> Estimator:
    """Return the estimate of a simulated room as it is now."""
    return estimator(line.policy, line.stats(**stats), line.samples)


def fresh(policy: Policy, people: int = 1000, **stats: Any) -> Estimator:
    """Return the estimate of a room that has no history."""
    line = Line(policy, people)
    return estimator(policy, line.stats(**stats), ())


def likely(answers: Estimator, position: int) -> int:
    """Return the middle of the range, which must be there."""
    wait = answers.wait(position)
    assert wait is not None
    assert 0 <= wait.low <= wait.likely <= wait.high
    return wait.likely


def lognormal(mean_s: float, sigma: float = 0.8) -> Session:
    """Return sessions as people make them: many short ones and a few long ones."""
    return lambda rng: mean_s * rng.lognormvariate(-sigma * sigma / 2, sigma)


@pytest.mark.parametrize(
    ("position", "expected"),
    [(1, 10), (1_400, 10), (1_401, 20), (14_000, 100), (100_000, 720)],
)
def test_batch(position: int, expected: int) -> None:
    """000-11: wait = ceil(position / batch) × every_s; the slot that runs now is the doubt."""
    answers = fresh(preset("batch"))
    assert Eta.BATCH == answers.kind
    assert expected == likely(answers, position)
    wait = answers.wait(position)
    assert wait is not None
    assert wait.low <= expected - 10
    assert wait.high - wait.low <= max(21, 0.4 * expected)


@pytest.mark.parametrize(
    ("position", "expected"), [(1, 3), (5, 3), (6, 4), (10, 6), (100, 60), (1_000, 600)]
)
def test_rate(position: int, expected: int) -> None:
    """004-04: wait = position / (max_entries / per_s), at least 3 s."""
    answers = fresh(preset("per-minute"))
    assert (Eta.RATE, expected) == (answers.kind, likely(answers, position))


def test_service_by_session() -> None:
    """Until sessions have ended, a place is held for `session_s`: 50 places free one each 12 s."""
    answers = fresh(preset("slots"), inside=50)
    assert (Eta.SERVICE, 12, 1200) == (answers.kind, likely(answers, 1), likely(answers, 100))


def test_service_by_little() -> None:
    """When sessions end early, mean inside ÷ throughput takes the place of `session_s`."""
    line = Line(preset("slots"), 2000, session=lognormal(120))
    line.run(1200)
    answers = estimate(line)
    assert Eta.SERVICE == answers.kind
    assert 240 == pytest.approx(likely(answers, 100), rel=0.12)


def test_desk_before_and_after_ten_calls() -> None:
    """003-08: fifteen minutes per team until ten were called, then the mean between calls."""
    line = Line(preset("desk"), 50)
    assert [900, 4500] == [likely(estimate(line), 1), likely(estimate(line), 5)]
    for number in range(1, 11):
        line.run(240)
        assert 900 == likely(estimate(line), 1)
        line._call(1)
        line.take_sample()
        assert number == line.count["called_total"]
    answers = estimate(line)
    assert (Eta.SERVICE, 240, 1200) == (answers.kind, likely(answers, 1), likely(answers, 5))


@pytest.mark.parametrize(
    "policy",
    [
        Policy(eta=Eta.BATCH, max_entries=100, per_s=60),
        Policy(eta=Eta.RATE, batch=10, every_s=6),
        Policy(eta=Eta.SERVICE, batch=10, every_s=6),
        Policy(eta=Eta.SERVICE, capacity=5, session_s=None, batch=10, every_s=6),
    ],
    ids=["batch", "rate", "service", "service without session"],
)
def test_missing_fields(policy: Policy) -> None:
    """A formula whose fields the policy does not have gives way to what is observed."""
    answers = fresh(policy)
    assert (Eta.OBSERVED, 600) == (answers.kind, likely(answers, 1000))


@pytest.mark.parametrize("name", ["batch", "per-minute"])
def test_by_hand_keeps_no_pace(name: str) -> None:
    """Whoever calls by hand is not bound by the pace, so nothing is promised from it."""
    answers = fresh(preset(name, mode=Mode.MANUAL))
    assert (Eta.OBSERVED, None) == (answers.kind, answers.wait(5))


@pytest.mark.parametrize("eta", list(Eta))
@pytest.mark.parametrize("mode", [Mode.PAUSED, Mode.CLOSED, Mode.ENDED])
def test_paused(eta: Eta, mode: Mode) -> None:
    """Nobody is told a time while nobody is called, whatever the formula."""
    policy = preset("per-minute", capacity=5, eta=eta, mode=mode)
    assert fresh(policy).wait(1) is None
    over = preset("per-minute", capacity=5, eta=eta, ends_at=from_ms(START_MS - 1))
    assert fresh(over).wait(1) is None


@pytest.mark.parametrize("eta", list(Eta))
def test_hold_and_opening_are_added(eta: Eta) -> None:
    """A hold, or the time to the opening, whichever is longer, comes before everything else."""
    policy = preset("per-minute", capacity=5, eta=eta)
    opening = policy.change(opens_at=from_ms(START_MS + 300_000))
    base = likely(fresh(policy), 50)
    assert base + 75 == likely(fresh(policy, hold_until_ms=START_MS + 75_000), 50)
    assert base + 300 == likely(fresh(opening), 50)
    assert base + 300 == likely(fresh(opening, hold_until_ms=START_MS + 75_000), 50)
    assert base == likely(fresh(policy, hold_until_ms=START_MS - 1), 50)


def test_everybody_passes() -> None:
    """In bypass, and before an opening that all may pass, there is no wait."""
    early = Policy(batch=1, every_s=60, opens_at=from_ms(START_MS + 1), before_open=BeforeOpen.PASS)
    assert Wait(0, 0, 3) == fresh(early).wait(500)
    assert Wait(0, 0, 3) == fresh(Policy(batch=1, every_s=60, mode=Mode.BYPASS)).wait(500)


def test_no_limit_no_wait() -> None:
    """A room without any limit lets everybody in at once."""
    assert 0 == likely(fresh(Policy()), 100_000)


def test_nothing_is_known() -> None:
    """By hand and never called, or sessions without an end: no number is made up."""
    assert fresh(Policy(mode=Mode.MANUAL)).wait(1) is None
    assert fresh(Policy(capacity=5, session_s=None), inside=5).wait(1) is None


def test_right_after_opening() -> None:
    """Without history the policy's own pace is told; with two limits, the tighter one."""
    assert 100 == likely(fresh(Policy(batch=10, every_s=1)), 1000)
    both = Policy(batch=10, every_s=1, max_entries=60, per_s=60)
    assert 1000 == likely(fresh(both), 1000)


def test_free_places_go_first() -> None:
    """Before a room of 50 is full its first 50 do not wait; the next one waits for an end."""
    answers = fresh(Policy(capacity=50, session_s=600))
    assert [0, 0, 12, 600] == [likely(answers, place) for place in (1, 50, 51, 100)]


def test_free_places_go_at_the_pace() -> None:
    """Where a pace fills the room, its free places go at that pace and the rest more slowly."""
    answers = fresh(Policy(capacity=60, session_s=600, batch=10, every_s=10))
    assert 30 == likely(answers, 30)
    assert 63 + 10 * 37 == pytest.approx(likely(answers, 100), abs=10)


BOUNDS: dict[str, tuple[Callable[[], Line], int, int, float, float]] = {
    # name: (room, seconds, asked after, most error, least covered)
    "pace": (lambda: Line(Policy(batch=50, every_s=10), 4000), 900, 0, 0.03, 0.99),
    "pace per minute": (
        lambda: Line(Policy(max_entries=100, per_s=60, batch=10, every_s=6), 1500),
        1000, 0, 0.02, 0.99,
    ),
    "rolling limit": (lambda: Line(Policy(max_entries=100, per_s=60), 1500), 1000, 0, 0.08, 0.95),
    "by hand": (lambda: Line(Policy(mode=Mode.MANUAL), 1500, pace=2.0), 800, 0, 0.08, 0.9),
    "slots": (
        lambda: Line(Policy(capacity=50), 700, session=lognormal(120)), 2000, 300, 0.12, 0.85,
    ),
    "slots from the start": (
        lambda: Line(Policy(capacity=50), 500, session=lognormal(120)), 1600, 0, 0.15, 0.85,
    ),
    "people give up": (
        lambda: Line(Policy(batch=20, every_s=10), 3000, give_up=0.001, arrivals=2),
        1200, 0, 0.06, 0.95,
    ),
    "people give up, by hand": (
        lambda: Line(Policy(mode=Mode.MANUAL), 2000, pace=2.0, give_up=0.0008),
        1200, 0, 0.08, 0.9,
    ),
    "pace, then places": (
        lambda: Line(
            Policy(batch=20, every_s=10, capacity=300, session_s=600), 1500,
            session=lognormal(250, 0.6),
        ),
        1700, 600, 0.12, 0.85,
    ),
    "tables, by hand": (
        lambda: Line(
            Policy(mode=Mode.MANUAL, capacity=40, session_s=None), 250,
            session=lognormal(600, 0.25), pace=50.0,
        ),
        3000, 700, 0.12, 0.85,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BOUNDS)
def test_foresees(name: str) -> None:
    """Compared with what came: half of the answers are close, the range holds, few jump."""
    make, seconds, after_s, error, covered = BOUNDS[name]
    verdict = judge(make(), seconds, after_s, every_s=7)
    assert verdict.answers > 400
    assert verdict.error <= error
    assert verdict.covered >= covered
    assert verdict.jumps <= (0.1 if name == "rolling limit" else 0.05)  # it moves in big steps
    assert verdict.width <= 1.0


@pytest.mark.parametrize(("before", "after"), [(4.0, 2.0), (2.0, 4.0), (1.0, 3.0)])
def test_a_change_is_believed_within_a_minute_or_so(before: float, after: float) -> None:
    """80 s after the pace changed the estimate is near the new one, and was near the old one."""
    line = Line(Policy(mode=Mode.MANUAL), 5000, pace=before)
    line.run(600)
    assert 1000 / before == pytest.approx(likely(estimate(line), 1000), rel=0.1)
    line.pace = after
    line.run(80)
    assert 1000 / after == pytest.approx(likely(estimate(line), 1000), rel=0.25)
    line.run(240)
    assert 1000 / after == pytest.approx(likely(estimate(line), 1000), rel=0.15)


def test_a_lowered_pace_counts_at_once() -> None:
    """A pace that the operator lowers holds from the same second, whatever was seen before."""
    line = Line(Policy(batch=50, every_s=10), 5000)
    line.run(600)
    assert 200 == likely(estimate(line), 1000)
    line.policy = line.policy.change(batch=20)
    assert 500 == likely(estimate(line), 1000)


@pytest.mark.parametrize(
    "policy",
    [Policy(batch=20, every_s=10), Policy(capacity=50), Policy(max_entries=100, per_s=60)],
    ids=["pace", "slots", "rolling"],
)
def test_pause_and_resume(policy: Policy) -> None:
    """A pause tells no time, and after it the pace from before it is known."""
    line = Line(policy, 3000, session=lognormal(60))
    line.run(600)
    before = likely(estimate(line), 500)
    line.policy = policy.change(mode=Mode.PAUSED)
    line.run(200)
    assert estimate(line).wait(500) is None
    line.policy = policy
    line.run(10)
    assert before == pytest.approx(likely(estimate(line), 500), rel=0.2)
    line.run(60)
    assert before == pytest.approx(likely(estimate(line), 500), rel=0.2)


def test_empty_line_is_no_slow_one() -> None:
    """Time in which nobody waited says nothing of the pace of those who wait later."""
    line = Line(Policy(mode=Mode.MANUAL), 400, pace=2.0)
    line.run(150)
    before = likely(estimate(line), 100)
    line.waiting.clear()
    line.run(600)
    line.waiting = list(range(1000, 1400))
    line.take_sample()
    line.run(10)
    assert before == pytest.approx(likely(estimate(line), 100), rel=0.3)


def test_giving_up_shortens() -> None:
    """T = ln(1 + h p / c) / h: whoever stands far back gains most by others who give up."""
    line = Line(Policy(batch=20, every_s=10), 6000, give_up=0.001)
    line.run(600)
    answers = estimate(line)
    expected = [math.log1p(0.001 * place / 2) / 0.001 for place in (100, 1500)]
    assert expected[0] == pytest.approx(likely(answers, 100), rel=0.05)
    assert expected[1] == pytest.approx(likely(answers, 1500), rel=0.1)


def test_leaving_from_inside_is_no_giving_up() -> None:
    """`left` counts everybody; whoever left a place inside did not shorten the line."""
    line = Line(Policy(batch=20, every_s=10), 3000, session=lognormal(30))
    line.run(600)
    calm = likely(estimate(line), 1000)
    ended = [
        dataclasses.replace(sample, finished=0, left=sample.finished) for sample in line.samples
    ]
    counters = line.count | {"finished": 0, "left": line.count["finished"]}
    answers = estimator(line.policy, line.stats(counters=counters), ended)
    assert calm == likely(answers, 1000)


def test_no_shows_make_room() -> None:
    """Who is called and never enters uses no entry up, so more are called than may enter."""
    policy = Policy(max_entries=60, per_s=60)
    samples = [
        Sample(START_MS + 5000 * i, 5000, 0, 0, 9999, 10 * i, 5 * i, 5 * i, 0, 0, 0, 5 * i, 0)
        for i in range(120)
    ]
    last = samples[-1]
    counters = dataclasses.asdict(last)
    stats = Line(policy, 1).stats(now_ms=last.at_ms, waiting=5000, counters=counters)
    assert 500 == likely(estimator(policy, stats, samples), 1000)


def test_slower_than_the_pace() -> None:
    """If a room falls short of its own pace for long, what is seen is told."""
    policy = Policy(batch=20, every_s=10)
    line = Line(policy.change(batch=10), 5000)
    line.run(900)
    line.policy = policy
    assert 1000 == pytest.approx(likely(estimate(line), 1000), rel=0.05)


def test_a_loss_begins_again() -> None:
    """Counters that begin again from zero are left out; what stands on both sides counts."""
    line = Line(Policy(mode=Mode.MANUAL), 3000, pace=2.0)
    line.run(300)
    line.count = dict.fromkeys(line.count, 0)
    line.run(300)
    assert 250 == pytest.approx(likely(estimate(line), 500), rel=0.15)


def test_a_room_that_filled_at_once_stands_still_first() -> None:
    """While hardly anybody ends the next waits longer than the mean, and less once they all do."""
    line = Line(Policy(capacity=200, session_s=1200), 1000, session=lognormal(300, 0.3))
    line.run(100)
    assert likely(estimate(line), 40) > 1.3 * 40 * 300 / 200
    line.run(150)
    assert likely(estimate(line), 40) < 0.9 * 40 * 300 / 200


def test_fixed_sessions_come_in_waves() -> None:
    """Places taken together end together, which is foreseen once it shows that few end early."""
    line = Line(Policy(capacity=50, session_s=600), 300, session=lambda _: 600.0)
    verdict = judge(line, 4000, 300, every_s=20)
    assert verdict.covered >= 0.85
    assert verdict.error <= 0.1


numbers = st.integers(0, 10**6)
moments = st.integers(START_MS - 5_000_000, START_MS + 100_000)
samples_of_any_kind = st.lists(
    st.builds(Sample, moments, *[numbers] * (len(dataclasses.fields(Sample)) - 1)), max_size=12
)


@st.composite
def policies(draw: st.DrawFn) -> Policy:
    """Make any policy at all."""

    def maybe(low: float, high: float) -> Any:
        return draw(st.none() | st.floats(low, high).map(lambda x: round(x, 3)))

    people = st.none() | st.integers(1, 10**9)
    batch, most = draw(people), draw(people)
    return Policy(
        mode=draw(st.sampled_from(Mode)),
        eta=draw(st.sampled_from(Eta)),
        capacity=draw(people),
        batch=batch,
        every_s=None if batch is None else draw(st.floats(0.01, 10**7)),
        max_entries=most,
        per_s=None if most is None else draw(st.floats(1, 10**7)),
        session_s=maybe(0.001, 10**7),
        enter_within_s=maybe(0.001, 10**7),
        renewable=draw(st.booleans()),
        opens_at=draw(st.none() | moments.map(from_ms)),
    )


@st.composite
def stats_of_any_kind(draw: st.DrawFn) -> Stats:
    """Make any state of a room."""
    names = [spec.name for spec in dataclasses.fields(Sample)][4:]
    return Line(Policy(), 0).stats(
        waiting=draw(numbers),
        called=draw(numbers),
        inside=draw(numbers),
        hold_until_ms=draw(st.none() | moments),
        counters=draw(st.dictionaries(st.sampled_from(names), numbers)),
    )


@given(policies(), stats_of_any_kind(), samples_of_any_kind, st.booleans())
def test_any_history(policy: Policy, stats: Stats, samples: list[Sample], in_order: bool) -> None:
    """Losses, clocks that step, twins, nonsense: no error, no negative, in order, monotone."""
    if in_order:
        samples.sort(key=dataclasses.astuple)
    answers = estimator(policy, stats, samples)
    last = Wait(0, 0, 0)
    for place in (0, 1, 2, 3, 10, 99, 100, 101, 5_000, 10**6, 10**9):
        wait = answers.wait(place)
        if wait is None:
            assert Wait(0, 0, 0) == last
            continue
        assert 0 <= wait.low <= wait.likely <= wait.high
        assert all(before <= now for before, now in zip(last, wait, strict=True))
        last = wait


@settings(deadline=None, max_examples=count("simulated_rooms"))
@given(
    st.integers(1, 40),
    st.integers(1, 30),
    st.none() | st.integers(1, 60),
    st.floats(0, 0.002),
    st.integers(0, 2**32),
)
def test_any_simulated_room(
    batch: int, every_s: int, capacity: int | None, give_up: float, seed: int
) -> None:
    """In rooms of many kinds a place further back never hears an earlier time, at any moment."""
    policy = Policy(batch=batch, every_s=every_s, capacity=capacity)
    rng = random.Random(seed)
    line = Line(policy, 400, rng, lognormal(60), give_up, arrivals=1)
    for _ in range(20):
        line.run(SAMPLE_S)
        waits = [estimate(line).wait(place) for place in range(1, 300, 7)]
        for before, now in pairwise(waits):
            assert before is not None
            assert now is not None
            assert before.low <= now.low
            assert before.likely <= now.likely
            assert before.high <= now.high


@pytest.mark.parametrize("name", ["observed", "batch", "per-minute", "slots"])
def test_is_cheap(name: str) -> None:
    """It runs for every poll, so it may cost no more than making its answer a dozen times."""
    policy = Policy(batch=20, every_s=10) if name == "observed" else preset(name)
    line = Line(policy, 3000, give_up=0.001)
    line.run(300)
    wait = estimate(line).wait
    ours = min(repeat(lambda: wait(500), timer=thread_time, number=2_000, repeat=15))
    making = min(repeat(lambda: Wait(1, 2, 3), timer=thread_time, number=2_000, repeat=15))
    assert ours < 12 * making
