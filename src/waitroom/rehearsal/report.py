"""The report of a rehearsal as HTML."""

from __future__ import annotations

from waitroom.rehearsal.accuracy import Told
from waitroom.rehearsal.outcome import WORDS, Outcome
from waitroom.report import page, plots


def render(outcome: Outcome) -> str:
    """Return the report as HTML."""
    starts_ms, timeline = outcome.scenario.starts_ms, outcome.timeline
    eta, answers = next(iter(outcome.estimates.items()), ("", []))
    return page.render(
        "rehearsal/report.html",
        (
            plots.counts(timeline, starts_ms),
            plots.served(timeline, starts_ms),
            plots.waits(outcome.joined_ms, outcome.called_ms, starts_ms),
            plots.estimates(_pairs(answers, outcome), eta),
            plots.no_shows(timeline, starts_ms),
        ),
        outcome=outcome,
        scenario=outcome.scenario,
        words=WORDS,
        policy=page.policy_rows(outcome.scenario.policy),
    )


def _pairs(answers: list[Told], outcome: Outcome) -> list[tuple[float, float]]:
    """Return the real wait and the estimate, for people who were called after the estimate."""
    called_ms = outcome.called_ms
    return [
        ((called_ms[answer.person] - answer.at_ms) / 1000, float(answer.likely))
        for answer in answers
        if called_ms[answer.person] > answer.at_ms
    ]
