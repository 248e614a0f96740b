"""Every number that the estimates were tuned with, in one place, with its effect and its source.

None was measured alone: they act together, and `make bench-eta` judges them together. To try
another value, change it here and compare the tables of docs/estimates.md. Pure, stdlib only.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeVar

T = TypeVar("T")


class Source(StrEnum):
    """Where a number comes from."""

    REQUIREMENT = "a recipe asks for it (docs/from-the-seeds.md), or a promise of ours"
    RECORDINGS = "tuned on recorded rehearsals of rooms with places, with an earlier estimator"
    BACK_TEST = "changed while rooms of `make bench-eta` were watched: see docs/estimates.md"
    CHOSEN = "chosen, not measured"


def _tuned(default: T, does: str, source: Source) -> T:
    tuned: T = field(default=default, metadata={"does": does, "source": source})
    return tuned


@dataclass(frozen=True, slots=True)
class Tuning:
    """The numbers, by the module that uses them."""

    # methods: formulas and ranges
    least_rate_s: int = _tuned(3, "least wait that `rate` tells", Source.REQUIREMENT)
    desk_turn_s: float = _tuned(
        900.0, "time per team at a desk, until `desk_turns` were called", Source.REQUIREMENT
    )
    desk_turns: int = _tuned(
        10, "calls after which a desk's own turnover counts", Source.REQUIREMENT
    )
    desk_calls: float = _tuned(
        150.0, "calls, the newest, whose mean is a desk's turnover", Source.REQUIREMENT
    )
    range_errors: float = _tuned(
        1.64,
        "standard errors on each side of a range: nine of ten of a normal distribution",
        Source.CHOSEN,
    )
    widest_range: float = _tuned(0.9, "widest range on each side, in logarithms", Source.BACK_TEST)
    service_doubt: float = _tuned(
        0.35, "standard error of the time between two calls at a desk, as a part", Source.CHOSEN
    )
    hazard_drift: float = _tuned(
        0.3, "how wrong the share of people who give up may be, as a part of it", Source.CHOSEN
    )

    # intervals: which samples are used
    history_s: float = _tuned(3600.0, "older samples do not count", Source.CHOSEN)
    fine_s: float = _tuned(
        900.0, "samples older than this are thinned out, to save work", Source.CHOSEN
    )
    coarse_ms: int = _tuned(30_000, "to one in this time", Source.CHOSEN)
    longest_gap_s: float = _tuned(
        300.0, "between samples further apart nothing is known", Source.CHOSEN
    )

    # rates: how fast people were called
    shortest_window_s: float = _tuned(
        60.0, "window that a changed rate has to fill before it counts in full", Source.CHOSEN
    )
    window_people: float = _tuned(
        40.0, "people that the first window should hold; it is made longer for it", Source.BACK_TEST
    )
    longest_start: float = _tuned(
        10.0, "by this factor of `shortest_window_s` at most", Source.CHOSEN
    )
    window_growth: float = _tuned(1.5, "a window is so many times the one before", Source.CHOSEN)
    agreement: float = _tuned(
        2.5, "two rates agree within so many standard errors", Source.BACK_TEST
    )
    agreement_fade: float = _tuned(
        1.5, "how steeply a longer window loses weight as it agrees less", Source.CHOSEN
    )
    block_s: float = _tuned(15.0, "length of the blocks that scatter is told from", Source.CHOSEN)
    most_blocks: int = _tuned(60, "blocks that are looked at", Source.CHOSEN)
    dispersion_prior: int = _tuned(
        4, "blocks' worth of Poisson scatter that is assumed beforehand", Source.CHOSEN
    )
    least_dispersion: float = _tuned(0.2, "no room is taken to be calmer", Source.CHOSEN)

    # flow: how a line moves
    kept_rate_doubt: float = _tuned(
        0.04, "standard error of a rate that the room itself keeps, as a part", Source.BACK_TEST
    )
    seen_rate_doubt: float = _tuned(
        0.08, "the same of a rate that was only seen: it may change", Source.BACK_TEST
    )
    stalled_doubt: float = _tuned(
        0.5, "the same where people were due and nobody was called", Source.CHOSEN
    )
    pause_s: float = _tuned(
        15.0, "people wait, there is room, nobody is called for this long: a pause", Source.CHOSEN
    )
    pause_steps: float = _tuned(3.0, "and for so many steps of the pace", Source.CHOSEN)
    nearly_full: float = _tuned(
        0.9, "part of the capacity from which on places are what people wait for", Source.CHOSEN
    )
    few_answers: int = _tuned(
        20, "people who entered or did not, before their share counts", Source.CHOSEN
    )
    most_extra: float = _tuned(
        5.0, "factor at most by which no-shows let more people be called", Source.CHOSEN
    )
    holding_reach_s: float = _tuned(
        900.0, "how far back the time that a place is held is looked for", Source.CHOSEN
    )
    holding_releases: int = _tuned(
        5, "places given back before that time is believed", Source.CHOSEN
    )
    holding_doubt: float = _tuned(0.6, "its standard error at most, as a part", Source.CHOSEN)
    holding_base: float = _tuned(0.05, "and at least", Source.CHOSEN)
    holding_early: float = _tuned(
        0.5, "added before a whole session has gone by: only short ones ended", Source.CHOSEN
    )
    slack_doubt: float = _tuned(
        0.2, "part of that doubt that counts where places are never short", Source.CHOSEN
    )
    slack_growth: float = _tuned(
        3.0, "how fast the rest comes in as they become short", Source.CHOSEN
    )
    played_grain_s: float = _tuned(
        10.0, "a room is played in steps: no time is sure to less than this", Source.RECORDINGS
    )

    arrivals_s: float = _tuned(
        300.0, "how far back newcomers are counted, for where a changed room goes", Source.CHOSEN
    )

    # leaving: how a line thins out
    most_absent: float = _tuned(0.98, "share of absent people at most", Source.CHOSEN)
    usual_presence_s: float = _tuned(
        150.0,
        "silence after which a room without `presence_s` is taken to drop people",
        Source.CHOSEN,
    )
    leaving_ages: tuple[float, ...] = _tuned(
        (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0),
        "ages at which the likelihood of giving up may change, in units of `presence_s`",
        Source.CHOSEN,
    )
    cohorts: int = _tuned(60, "groups of people who came together, at most", Source.CHOSEN)
    cohort_s: float = _tuned(15.0, "time within which they came, at least", Source.CHOSEN)
    leaving_rounds: int = _tuned(5, "rounds in which those who gave up are divided", Source.CHOSEN)
    hazard_fading: float = _tuned(
        0.7, "part of it that is left at an age that nobody has reached yet", Source.CHOSEN
    )
    unseen_hazard: float = _tuned(
        0.0004, "standard error of it at an age that nobody has reached yet", Source.CHOSEN
    )
    hazard_prior_s: float = _tuned(
        2000.0, "seconds of one person standing that the assumption counts for", Source.CHOSEN
    )

    # observer: one room over time
    renew_s: float = _tuned(
        10.0,
        "an estimate is used for this long; `estimator_ms` says what that costs",
        Source.CHOSEN,
    )
    replay_every_s: float = _tuned(
        60.0, "moments of old samples that are replayed after a restart", Source.CHOSEN
    )
    peers: int = _tuned(50, "rooms of a process whose people are assumed elsewhere", Source.CHOSEN)
    peers_stood_s: float = _tuned(
        6000.0, "seconds of standing in line that they count for at most, by age", Source.CHOSEN
    )

    # ranges
    wide_s: float = _tuned(
        600.0, "after this time no range is wider than its estimate", Source.REQUIREMENT
    )

    # turns: whose turn it is when
    turn_step: float = _tuned(
        0.1, "a line is walked in steps of this part of the way behind", Source.CHOSEN
    )

    # calibration: what was told against what came true
    kept_every_s: float = _tuned(15.0, "how often a table is kept and compared", Source.CHOSEN)
    tables_kept: int = _tuned(240, "tables that are kept: an hour", Source.CHOSEN)
    horizons_s: tuple[float, ...] = _tuned(
        (60.0, 120.0, 240.0, 480.0, 960.0, 1920.0), "spans that are told apart", Source.CHOSEN
    )
    comparisons_kept: int = _tuned(
        120, "comparisons that are kept of each: half an hour", Source.CHOSEN
    )
    first_width: float = _tuned(
        2.1, "errors on each side of a range, before anything came true", Source.BACK_TEST
    )
    first_weight: float = _tuned(
        1.5, "independent comparisons that this counts for", Source.BACK_TEST
    )
    least_doubt: float = _tuned(0.03, "no table is taken to be surer", Source.CHOSEN)

    # durations: how long sessions last
    usual_share: float = _tuned(
        0.3, "part of `session_s` that sessions last, before any has ended", Source.RECORDINGS
    )
    usual_spread: float = _tuned(0.8, "standard error of that, in logarithms", Source.BACK_TEST)
    rough_spreads: tuple[float, float] = _tuned(
        (0.25, 0.8), "least and most scatter around the length that was seen", Source.CHOSEN
    )
    rough_people: float = _tuned(
        8.0, "people at most that are made up with such a length", Source.BACK_TEST
    )
    used_up_share: float = _tuned(
        0.15, "share that uses up `session_s`, before anything was seen", Source.CHOSEN
    )
    longest_session: float = _tuned(
        12.0, "times the usual length, where the policy sets no end", Source.CHOSEN
    )
    most_lengths: int = _tuned(120, "bins of lengths at most", Source.CHOSEN)
    usual_people: float = _tuned(1.5, "people that the assumption counts for", Source.BACK_TEST)
    first_rounds: int = _tuned(2, "rounds until the middle is looked for", Source.CHOSEN)
    session_rounds: int = _tuned(
        8, "rounds in which ends are divided among cohorts", Source.BACK_TEST
    )
    least_scatter: float = _tuned(0.3, "least square of the scatter of sessions", Source.CHOSEN)

    # forecast: a room played forward
    forecast_steps: int = _tuned(40, "steps that are played", Source.RECORDINGS)
    model_doubt: float = _tuned(0.08, "of the wait: what no model knows", Source.RECORDINGS)

    # occupancy: who has held a place since when
    kept_full: float = _tuned(
        0.85, "part of the capacity that a host keeps in use who goes by it", Source.RECORDINGS
    )
    few_releases: int = _tuned(
        3, "places given back before anything is told without `session_s`", Source.RECORDINGS
    )
    rough_turnovers: int = _tuned(
        8, "times that all places are given back, for a first rough time", Source.RECORDINGS
    )
    bins_per_session: int = _tuned(6, "bins of time per rough session", Source.RECORDINGS)
    fewest_bins: int = _tuned(10, "bins at least", Source.RECORDINGS)
    most_bins: int = _tuned(30, "bins at most", Source.RECORDINGS)
    few_calls: int = _tuned(20, "calls before it is told how people answer them", Source.RECORDINGS)
    answers_s: float = _tuned(600.0, "how far back answers to calls are looked at", Source.CHOSEN)

    # reasons: why an estimate moved
    reason_move: float = _tuned(
        0.25, "part of what was told that counts as a move", Source.REQUIREMENT
    )
    reason_back: float = _tuned(
        0.12, "less than this, and the estimate is back: half of a move", Source.CHOSEN
    )
    reason_step_s: float = _tuned(30.0, "between two moments that are compared with", Source.CHOSEN)
    reason_pasts: int = _tuned(
        8,
        "such moments that are kept: in four minutes a slow change adds up",
        Source.CHOSEN,
    )
    reason_stays_s: float = _tuned(
        90.0, "how long a reason outlives its evidence: three polls of the slowest", Source.CHOSEN
    )
    reason_parts: tuple[int, ...] = _tuned(
        (1, 4, 16), "parts of the line at whose ends people are followed", Source.CHOSEN
    )
    reason_least_s: float = _tuned(
        60.0, "shorter waits are not followed: they move by chance", Source.CHOSEN
    )
    reason_share: float = _tuned(
        0.5, "part of a move that a pause, a hold or people who left must explain", Source.CHOSEN
    )
    reason_many: float = _tuned(
        0.1, "part of a line that must have gone at least, to be many", Source.CHOSEN
    )
    reason_before_s: float = _tuned(
        300.0, "how far back calls are counted, to compare later ones with", Source.CHOSEN
    )
    reason_errors: float = _tuned(
        2.0, "standard errors by which calls must differ from those before", Source.CHOSEN
    )
    reason_pace: float = _tuned(0.15, "and by this part of them at least", Source.CHOSEN)


TUNING = Tuning()
