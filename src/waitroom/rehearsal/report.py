"""The report of a rehearsal: one HTML file that needs nothing else, not even a script."""

from __future__ import annotations

import datetime as dt
import re
from importlib import resources
from typing import Any

from jinja2 import Environment
from markupsafe import Markup, escape

from waitroom.rehearsal import plots
from waitroom.rehearsal.outcome import WORDS, Outcome
from waitroom.version import __version__


def render(outcome: Outcome) -> str:
    """Return the report as HTML."""
    source = (resources.files(__package__) / "report.html").read_text("utf-8")
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"clock": _clock, "code": _code, "count": _count, "span": span}
    return environment.from_string(source).render(
        outcome=outcome,
        scenario=outcome.scenario,
        words=WORDS,
        plots=_plots(outcome),
        policy=_policy(outcome),
        version=__version__,
    )


def _plots(outcome: Outcome) -> list[dict[str, Any]]:
    starts_ms, timeline = outcome.scenario.starts_ms, outcome.timeline
    eta, answers = next(iter(outcome.estimates.items()), ("", []))
    every = (
        plots.counts(timeline, starts_ms),
        plots.served(timeline, starts_ms),
        plots.waits(outcome.joined_ms, outcome.called_ms, starts_ms),
        plots.estimates(eta, answers, outcome.called_ms),
        plots.no_shows(timeline, starts_ms),
    )
    return [
        {"title": plot.title, "about": plot.about, "marks": plot.marks, "svg": Markup(plot.svg)}  # noqa: S704 - ours
        for plot in every
        if plot
    ]


def _policy(outcome: Outcome) -> dict[str, str]:
    """Return the fields that are set, as a scenario's TOML has them."""
    return {
        name: _value(name, value)
        for name, value in outcome.scenario.policy.as_dict().items()
        if value is not None
    }


def _value(name: str, value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, int | float):
        return str(value)
    text = f"{value:,.0f}" if value == int(value) else f"{value:g}"
    return f"{text} ({span(value)})" if name.endswith("_s") and value >= 60 else text


def _code(text: str) -> Markup:
    """Return text as HTML: `like this` is code."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))  # noqa: S704 - escaped


def _count(number: int) -> str:
    return f"{number:,}"


def _clock(ms: int) -> str:
    return dt.datetime.fromtimestamp(ms / 1000, dt.UTC).strftime("%H:%M:%S")


def span(seconds: float) -> str:
    """Return a duration as people read it: two units at most, and no zeros."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    units = ((hours, "h"), (minutes, "min")) if hours else ((minutes, "min"), (rest, "s"))
    return " ".join(f"{number} {unit}" for number, unit in units if number) or "0 s"
