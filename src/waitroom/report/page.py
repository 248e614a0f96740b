"""The page of a report: one HTML file that needs nothing else, not even a script. Needs Jinja2."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from importlib import resources
from typing import Any

from jinja2 import Environment, FunctionLoader
from markupsafe import Markup, escape

from waitroom.models import Policy
from waitroom.report import words
from waitroom.report.plots import Plot
from waitroom.version import __version__


def render(template: str, plots: Iterable[Plot | None], **values: Any) -> str:
    """Return a report as HTML; `template` is a path in the package, and extends the common page."""
    environment = Environment(
        loader=FunctionLoader(_source), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {
        "clock": words.clock,
        "code": code,
        "count": words.count,
        "moment": words.moment,
        "percent": words.percent,
        "span": words.span,
    }
    drawn = [
        {"title": plot.title, "about": plot.about, "marks": plot.marks, "svg": Markup(plot.svg)}  # noqa: S704 - ours
        for plot in plots
        if plot
    ]
    return environment.get_template(template).render(plots=drawn, version=__version__, **values)


def _source(path: str) -> str:
    return resources.files("waitroom").joinpath(path).read_text("utf-8")


def policy_rows(policy: Policy) -> Mapping[str, str]:
    """Return the fields that are set, as in a TOML file."""
    fields = policy.as_dict().items()
    return {name: field_text(name, value) for name, value in fields if value is not None}


def field_text(name: str, value: object) -> str:
    """Return the value of a policy field: no needless digits, and long times also in minutes."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, int | float):
        return str(value)
    text = f"{value:,.0f}" if value == int(value) else f"{value:g}"
    return f"{text} ({words.span(value)})" if name.endswith("_s") and value >= 60 else text


def code(text: str) -> Markup:
    """Return text as HTML: `like this` is code."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))  # noqa: S704 - escaped
