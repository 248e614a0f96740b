"""Every number that the estimates were tuned with, in one place, with what it does and its source.

None was measured alone: they act together, and `make bench-eta` judges them together. To try
another one, change it here and compare the tables of docs/estimates.md. Pure, stdlib only.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeVar

T = TypeVar("T")


class Source(StrEnum):
    """What a number comes from."""

    REQUIREMENT = "a seed document asks for it"
    RECORDINGS = "tuned on recorded rehearsals of rooms with places, named in docs/estimates.md"
    BACK_TEST = "changed while the scenarios of `make bench-eta` were watched"
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
    desk_turns: int = _tuned(10, "calls after which a desk's own pace counts", Source.REQUIREMENT)
    desk_calls: float = _tuned(
        150.0, "calls, the newest, whose mean is a desk's pace", Source.REQUIREMENT
    )
    range_errors: float = _tuned(
        1.64,
        "standard errors on each side of a range: nine of ten of a normal distribution",
        Source.CHOSEN,
    )
    widest_range: float = _tuned(
        0.6, "most that a range's upper end exceeds the estimate, as a part of it", Source.BACK_TEST
    )
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

    # flow: how a line thins out
    ghost_step_s: int = _tuned(
        30, "moments at which those gone are compared with those who came", Source.BACK_TEST
    )
    hasty_hazard: float = _tuned(
        0.002, "share giving up per second that is as unlikely as ghosts", Source.BACK_TEST
    )
    fit_sharpness: int = _tuned(
        20, "how clearly one explanation wins; a choice of one would jump", Source.BACK_TEST
    )
    few_ghosts: float = _tuned(0.01, "a share below it is not worth the work", Source.CHOSEN)
    most_absent: float = _tuned(0.98, "share of absent people at most", Source.CHOSEN)
    hazard_memory_s: float = _tuned(
        500.0, "how fast what people did long ago loses weight", Source.BACK_TEST
    )
    hazard_reach_s: float = _tuned(1800.0, "and from when on it does not count", Source.CHOSEN)
    hazard_prior_s: float = _tuned(
        30.0, "seconds without anybody giving up that are assumed beforehand", Source.CHOSEN
    )

    # durations: how long sessions last
    usual_share: float = _tuned(
        0.3, "part of `session_s` that sessions last, before any has ended", Source.RECORDINGS
    )
    usual_spread: float = _tuned(0.6, "standard error of that, in logarithms", Source.RECORDINGS)
    scatters: tuple[tuple[float, float], ...] = _tuned(
        ((0.2, 0.15), (0.35, 0.25), (0.5, 0.25), (0.7, 0.25), (0.95, 0.1)),
        "scatters of lognormal lengths that are tried, each with its weight beforehand",
        Source.RECORDINGS,
    )
    count_trust: float = _tuned(
        0.2, "weight of a bin's counts: people come and go together", Source.RECORDINGS
    )
    error_scale: float = _tuned(
        0.75, "errors came true smaller than the fit says, by this factor", Source.RECORDINGS
    )
    least_weight: float = _tuned(0.02, "scatters that weigh less are left out", Source.RECORDINGS)
    median_step: float = _tuned(
        0.3, "between two medians that are tried, in logarithms", Source.RECORDINGS
    )
    most_median_steps: int = _tuned(10, "steps of the search at most", Source.RECORDINGS)
    unknown_error: float = _tuned(
        0.5, "error of a median of which the counts say nothing, in logarithms", Source.RECORDINGS
    )
    unexpected: float = _tuned(
        1e-3, "people who are always expected, for the unlikely happens too", Source.RECORDINGS
    )

    # forecast: a room played forward
    forecast_steps: int = _tuned(40, "steps that are played", Source.RECORDINGS)
    model_doubt: float = _tuned(0.08, "of the wait: what no model knows", Source.RECORDINGS)
    step_blur: float = _tuned(
        0.4, "of a step: when people within it were called", Source.RECORDINGS
    )

    # occupancy: who holds a place since when
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
    most_calls: int = _tuned(100, "calls, the newest, that tell it", Source.RECORDINGS)


TUNING = Tuning()
