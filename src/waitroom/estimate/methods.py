"""How long somebody at a position will wait: the formulas that `eta` names. Pure, stdlib only.

    batch     ceil(position / batch) × every_s
    rate      position / (max_entries / per_s), at least 3 s
    service   position × mean time of a slot / capacity; at a desk, mean time between two calls
    observed  ln(1 + h × position / c) / h, with c calls per second and h the share of those waiting
              who give up per second: the line is served at its head and thins out by itself;
              where places are what people wait for, the room is played forward instead

Everything that needs history (see `flow`) is computed once, in `estimator`, because
`Estimator.wait` runs for every poll. A wait is three whole numbers of seconds, low ≤ likely ≤ high;
None means that there is no honest estimate: paused, closed, ended, or nobody was ever called.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import exp, inf, log1p, sqrt
from typing import NamedTuple

from waitroom.estimate.flow import Flow, History
from waitroom.estimate.forecast import Forecast
from waitroom.estimate.tuning import TUNING
from waitroom.models import BeforeOpen, Eta, Mode, Policy, Sample, Stats

_Z = TUNING.range_errors
_LONGEST_S = 366 * 86_400.0
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


def estimator(policy: Policy, stats: Stats, samples: Sequence[Sample]) -> Estimator:
    """Return the estimate of a room as it is now; `samples` are its series, the oldest first."""
    if policy.mode_at(stats.now_ms) in (Mode.PAUSED, Mode.CLOSED, Mode.ENDED):
        return Estimator(policy.eta, _unknown)
    delay_s = delay_of(policy, stats)
    if policy.mode is Mode.BYPASS or delay_s < 0:
        return Estimator(policy.eta, _at_once)
    history = History(policy, stats, samples)
    flow = history.flow()
    observed = _unknown if flow is None else _observed(flow, delay_s)
    answer = _FORMULAS[policy.eta](policy, history, observed, delay_s)
    if answer is None:
        return Estimator(Eta.OBSERVED, observed)
    return Estimator(policy.eta, answer)


def _unknown(_position: int) -> Wait | None:
    return None


def _at_once(_position: int) -> Wait | None:
    return Wait(0, 0, 3)


def delay_of(policy: Policy, stats: Stats) -> float:
    """Return how long nobody is called; negative before an opening that everybody may pass."""
    opens_in = ((policy.opens_at_ms or 0) - stats.now_ms) / 1000
    if opens_in > 0 and policy.before_open is BeforeOpen.PASS:
        return -1.0
    hold_s = ((stats.hold_until_ms or 0) - stats.now_ms) / 1000
    return max(0.0, opens_in, hold_s)


def _observed(flow: Flow, delay_s: float) -> Answer:
    forecast = flow.forecast
    return _steady(flow, delay_s) if forecast is None else _played(flow, forecast, delay_s)


def _steady(flow: Flow, delay_s: float) -> Answer:
    """Free places go first and fast; then the line moves by `flow.rate` and thins out."""
    free, fast, rate, hazard = flow.free, flow.fast, flow.rate, flow.hazard
    proven, there = flow.proven, 1.0 - flow.ghosts
    # `fast` may be infinite: nothing but the places limits them.
    head_s = log1p(hazard * free / fast) / hazard if hazard else free / fast
    left = exp(-hazard * head_s)  # of those behind, when the free places are gone
    thinning, thin_fast = left * hazard / rate, hazard / fast
    fixed = _Z * _Z * (flow.doubt * flow.doubt)
    noise = _Z * _Z * flow.dispersion / rate if rate < inf else 0.0
    leaving = (_Z * TUNING.hazard_drift * hazard) ** 2
    widest = 1.0 + TUNING.widest_range  # a range that is wider than its estimate says nothing
    before = delay_s - flow.grain_s  # where a range begins: rooms that call in steps are coarser
    after = delay_s + flow.grain_s + _UP
    middle = delay_s + 0.5

    def wait(position: int) -> Wait | None:
        ahead = proven + (position - proven) * there if position > proven else position
        if ahead <= free:
            span = log1p(thin_fast * ahead) / hazard if thin_fast else ahead / fast
        elif hazard:
            span = head_s + log1p(thinning * (ahead - free)) / hazard
        else:
            span = head_s + (ahead - free) / rate
        if span > _LONGEST_S:
            span = _LONGEST_S
        # Everything grows with `span`, so nobody further back ever gets an earlier time.
        spread = 1.0 + (sqrt(fixed + noise / span + leaving * span * span) if span else 0.0)
        if spread > widest:
            spread = widest
        low, high = int(before + span / spread), int(after + span * spread)
        return _new(Wait, (low if low > 0 else 0, int(middle + span), high))

    return wait


def _played(flow: Flow, forecast: Forecast, delay_s: float) -> Answer:
    """Look up when it is a position's turn in the room as it was played forward."""
    rate, hazard, proven, there = flow.rate, flow.hazard, flow.proven, 1.0 - flow.ghosts
    times, positions = forecast.times, forecast.positions
    lows, highs, spread = _ranges(forecast, flow)
    end_s, last = times[-1], positions[-1]
    thinning = hazard / (rate * exp(min(500.0, hazard * end_s)))
    middle, after = delay_s + 0.5, delay_s + _UP

    def wait(position: int) -> Wait | None:
        ahead = proven + (position - proven) * there if position > proven else position
        if ahead < last:
            at = bisect_right(positions, ahead)
            part = (ahead - positions[at - 1]) / (positions[at] - positions[at - 1])
            span = times[at - 1] + part * (times[at] - times[at - 1])
            low = lows[at - 1] + part * (lows[at] - lows[at - 1])
            high = highs[at - 1] + part * (highs[at] - highs[at - 1])
        else:
            more = log1p(thinning * (ahead - last)) / hazard if hazard else (ahead - last) / rate
            span = end_s + more if end_s + more < _LONGEST_S else _LONGEST_S
            low, high = lows[-1] + (span - end_s) / spread, highs[-1] + (span - end_s) * spread
        return _new(Wait, (int(low + delay_s), int(middle + span), int(after + high)))

    return wait


def _ranges(forecast: Forecast, flow: Flow) -> tuple[list[float], list[float], float]:
    """Return where ranges begin and end at each time, and how much wider they get behind."""
    lows, highs, spread = [0.0], [0.0], 1.0
    leaving = (TUNING.hazard_drift * flow.hazard) ** 2
    for span, doubt in zip(forecast.times[1:], forecast.doubts[1:], strict=True):
        spread = 1.0 + min(TUNING.widest_range, _Z * sqrt(doubt + leaving * span * span))
        # Nobody further back ever gets an earlier time, nor a range of zero width.
        lows.append(max(lows[-1], min(span / spread, span - flow.grain_s)))
        highs.append(max(highs[-1], span * spread, span + flow.grain_s))
    return lows, highs, spread


def _batch(policy: Policy, _: History, observed: Answer, delay_s: float) -> Answer | None:
    if policy.batch is None or policy.every_s is None or policy.mode is Mode.MANUAL:
        return None
    batch, every_s = policy.batch, policy.every_s
    middle, after = delay_s + 0.5, delay_s + _UP

    def wait(position: int) -> Wait | None:
        span = -(-position // batch) * every_s if position > 1 else every_s
        # The slot that runs now may end at any moment, so one of them is in doubt.
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
