"""The report of a rehearsal: one HTML file that needs nothing else, not even a script."""

from __future__ import annotations

import datetime as dt
from importlib import resources
from typing import Any

from jinja2 import Environment
from markupsafe import Markup

from waitroom.rehearsal import plots
from waitroom.rehearsal.outcome import WORDS, Outcome
from waitroom.version import __version__


def render(outcome: Outcome) -> str:
    """Return the report as HTML."""
    source = (resources.files(__package__) / "report.html").read_text("utf-8")
    page = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True).from_string(source)
    return page.render(
        outcome=outcome,
        scenario=outcome.scenario,
        words=WORDS,
        pictures=_pictures(outcome),
        policy=_policy(outcome),
        clock=_clock,
        span=span,
        version=__version__,
    )


def _pictures(outcome: Outcome) -> list[dict[str, Any]]:
    starts_ms, timeline = outcome.scenario.starts_ms, outcome.timeline
    eta, estimates = next(iter(outcome.estimates.items()), (None, []))
    pictures = [
        ("Waiting", "Everybody in the room over time.", plots.counts(timeline, starts_ms),
         ["waiting", "inside", "called"]),
        ("Called and inside, against the limits", "Dashed: what the room and the site allow.",
         plots.served(timeline, starts_ms), ["called", "inside", "capacity", "takes"]),
        ("Wait by time of arrival", "The median, and the band in which eight of ten lie.",
         plots.waits(outcome.joined_ms, outcome.called_ms, starts_ms), ["waiting"]),
        (f"Estimate ({eta}) against the wait that came true" if eta else "Estimate",
         "Across: how long it still took. Up: what was told. On the dashed line they agree.",
         plots.estimates(estimates, outcome.called_ms), []),
        ("Called, and did not come", "No-shows so far.", plots.no_shows(timeline, starts_ms), []),
    ]  # fmt: skip
    return [
        {"title": title, "about": about, "svg": Markup(svg), "legend": legend}  # noqa: S704 - ours
        for title, about, svg, legend in pictures
        if svg
    ]


def _policy(outcome: Outcome) -> dict[str, Any]:
    return {
        name: value
        for name, value in outcome.scenario.policy.as_dict().items()
        if value is not None
    }


def _clock(ms: int) -> str:
    return dt.datetime.fromtimestamp(ms / 1000, dt.UTC).strftime("%H:%M:%S")


def span(seconds: float) -> str:
    """Return a duration as people read it."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
