"""How long somebody at a position will wait: the formulas that `eta` names. Pure, stdlib only.

    batch     ceil(position / batch) × every_s
    rate      position / (max_entries / per_s), at least 3 s
    service   position × mean time of a slot / capacity; at a desk, mean time between two calls
    observed  when as many were called as are in front and do not give up: the line is served at its
              head and thins out by itself (see `turns`)

Everything that needs history (see `flow`) is computed once, in `estimator`, because
`Estimator.wait` runs for every poll. A wait is three whole numbers of seconds, low ≤ likely ≤ high;
None means that there is no honest estimate: paused, closed, ended, or nobody was ever called.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import NamedTuple

from waitroom.estimate.flow import History
from waitroom.estimate.ranges import Table, table_of
from waitroom.estimate.tuning import TUNING
from waitroom.estimate.turns import LONGEST_S
from waitroom.models import BeforeOpen, Eta, Mode, Policy, Sample, Stats

_Z = TUNING.range_errors
_UP = 0.999999  # added before `int()`, so that a number is rounded up
_new = tuple.__new__  # twice as fast as `Wait(…)`, and this runs for every poll


class Wait(NamedTuple):
    """Seconds still to wait; nine of ten waits should end between `low` and `high`."""

    low: int
    likely: int
    high: int


Answer = Callable[[int], Wait | None]


@dataclass(frozen=True, slots=True)
class Estimator:
    """`wait(position)` answers; `kind` is the formula in use, maybe not the one asked for."""

    kind: Eta
    wait: Answer


def observed_in(history: History) -> Table | None:
    """Return when each position is called, as far as a room's past tells; None if it does not."""
    flow = history.flow()
    return None if flow is None else table_of(flow, history.leaving())


def estimator(
    policy: Policy,
    stats: Stats,
    samples: Sequence[Sample],
    observe: Callable[[History], Table | None] = observed_in,
) -> Estimator:
    """Return the estimate of a room as it is now; `samples` are its series, oldest first."""
    if policy.mode_at(stats.now_ms) in (Mode.PAUSED, Mode.CLOSED, Mode.ENDED):
        return Estimator(policy.eta, _unknown)
    delay_s = delay_of(policy, stats)
    if policy.mode is Mode.BYPASS or delay_s < 0:
        return Estimator(policy.eta, _at_once)
    history = History(policy, stats, samples)
    table = observe(history)
    observed = _unknown if table is None else _answer(table, delay_s)
    answer = _FORMULAS[policy.eta](policy, history, observed, delay_s)
    if answer is None:
        return Estimator(Eta.OBSERVED, observed)
    return Estimator(policy.eta, answer)


def _unknown(_position: int) -> Wait | None:
    return None


def _at_once(_position: int) -> Wait | None:
    return Wait(0, 0, 3)


def delay_of(policy: Policy, stats: Stats) -> float:
    """Return for how long nobody is called; negative before an opening that everybody may pass."""
    opens_in = ((policy.opens_at_ms or 0) - stats.now_ms) / 1000
    if opens_in > 0 and policy.before_open is BeforeOpen.PASS:
        return -1.0
    hold_s = ((stats.hold_until_ms or 0) - stats.now_ms) / 1000
    return max(0.0, opens_in, hold_s)


def _answer(table: Table, delay_s: float) -> Answer:
    """Look up when it is a position's turn."""
    positions, times, lows, highs, each_s, spread = table
    end_s, last = times[-1], positions[-1]
    low_s, high_s = lows[-1], highs[-1]
    middle, after = delay_s + 0.5, delay_s + _UP

    def wait(position: int) -> Wait | None:
        if position < last:
            at = bisect_right(positions, position)
            part = (position - positions[at - 1]) / (positions[at] - positions[at - 1])
            span = times[at - 1] + part * (times[at] - times[at - 1])
            low = lows[at - 1] + part * (lows[at] - lows[at - 1])
            high = highs[at - 1] + part * (highs[at] - highs[at - 1])
        else:
            more = (position - last) * each_s
            if end_s + more > LONGEST_S:
                more = LONGEST_S - end_s
            span, low, high = end_s + more, low_s + more / spread, high_s + more * spread
        return _new(Wait, (int(low + delay_s), int(middle + span), int(after + high)))

    return wait


def _batch(policy: Policy, _: History, observed: Answer, delay_s: float) -> Answer | None:
    if policy.batch is None or policy.every_s is None or policy.mode is Mode.MANUAL:
        return None
    batch, every_s = policy.batch, policy.every_s
    middle, after = delay_s + 0.5, delay_s + _UP

    def wait(position: int) -> Wait | None:
        span = -(-position // batch) * every_s if position > 1 else every_s
        # The slot that runs now may end at any moment, so one slot is in doubt.
        low, high = int(span - every_s + delay_s), int(span + after)
        other = observed(position)
        if other is not None:
            low, high = other[0] if other[0] < low else low, other[2] if other[2] > high else high
        return _new(Wait, (low, int(span + middle), high))

    return wait


def _rate(policy: Policy, _: History, observed: Answer, delay_s: float) -> Answer | None:
    if policy.max_entries is None or policy.per_s is None or policy.mode is Mode.MANUAL:
        return None
    most, per_s = policy.max_entries, policy.per_s
    grain_s = per_s if policy.every_s is None else min(per_s, policy.every_s)
    least_s = TUNING.least_rate_s
    middle, after = delay_s + 0.5, delay_s + _UP

    def wait(position: int) -> Wait | None:
        span = position * per_s / most
        if span < least_s:
            span = least_s
        doubt = grain_s if 2 * grain_s < span else span / 2
        low, high = int(span - doubt + delay_s), int(span + doubt + after)
        other = observed(position)
        if other is not None:
            low, high = other[0] if other[0] < low else low, other[2] if other[2] > high else high
        return _new(Wait, (low, int(span + middle), high))

    return wait


def _service(policy: Policy, history: History, observed: Answer, delay_s: float) -> Answer | None:
    each_s, doubt = None, TUNING.service_doubt
    if policy.capacity is not None:
        holding_s, doubt = history.holding_s()
        each_s = None if holding_s is None else holding_s / policy.capacity
    elif policy.mode is Mode.MANUAL:
        each_s = history.turn_s(TUNING.desk_turns) or TUNING.desk_turn_s
    if each_s is None:
        return None
    turn_s, fixed, noise = each_s, (_Z * doubt) ** 2, _Z * _Z
    middle, after = delay_s + 0.5, delay_s + _UP

    def wait(position: int) -> Wait | None:
        number = position if position > 1 else 1
        span = turn_s * number
        spread = 1.0 + sqrt(fixed + noise / number)
        low, high = int(span / spread + delay_s), int(span * spread + after)
        other = observed(position)
        if other is not None:
            low, high = other[0] if other[0] < low else low, other[2] if other[2] > high else high
        return _new(Wait, (low, int(span + middle), high))

    return wait


def _no_formula(*_: object) -> Answer | None:
    return None


_FORMULAS: dict[Eta, Callable[[Policy, History, Answer, float], Answer | None]] = {
    Eta.OBSERVED: _no_formula,
    Eta.BATCH: _batch,
    Eta.RATE: _rate,
    Eta.SERVICE: _service,
}
