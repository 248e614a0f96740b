"""A sale in plain words, and compared with its plan. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from waitroom.report.hands import Action
from waitroom.report.sale import Sale
from waitroom.report.words import count, people, percent, span


def sentences(sale: Sale) -> Iterator[str]:
    """Yield what happened, in a few sentences."""
    counts, waits = sale.counts, sale.waits
    came, called = counts.get("joined", 0), counts.get("called_total", 0)
    if not came and not called:
        yield "Nobody came, and nobody was called."
        return
    entered = count(counts["entered"])
    yield f"{people(came)} came, {count(called)} were called, and {entered} went in."
    yield f"Up to {count(sale.most_waiting)} waited at the same time."
    if waits.called:
        yield (
            f"Half of those called waited up to {span(waits.median_s)}, nine of ten up to "
            f"{span(waits.p90_s)}, and nobody longer than {span(waits.longest_s)}."
        )
    if called and counts["no_show"]:
        yield f"{percent(counts['no_show'] / called)} of those called did not come."
    if sale.estimates.error is not None:
        yield (
            f"What people were told differed from their wait by {percent(sale.estimates.error)} "
            "in the median."
        )
    if sale.forced:
        yield f"{people(sale.forced)} were called with force, beyond the limits."


class Beside(NamedTuple):
    """A figure, as planned and as it turned out."""

    name: str
    planned: str
    came: str


def beside_plan(sale: Sale) -> list[Beside]:
    """Return the figures of the plan beside what happened."""
    plan, waits = sale.plan, sale.waits
    if plan is None:
        return []
    numbers = (
        ("people", plan.people, sale.counts.get("joined")),
        ("called", plan.called, sale.counts.get("called_total")),
        ("called, did not come", plan.no_shows, sale.counts.get("no_show")),
        ("most people waiting", plan.most_waiting, sale.most_waiting),
        ("most called and inside at once", plan.most_held, sale.most_held),
    )
    spans = (
        ("median wait", plan.median_s, waits.median_s),
        ("nine of ten waited less than", plan.p90_s, waits.p90_s),
        ("longest wait", plan.longest_s, waits.longest_s),
    )
    known = waits.called > 0
    rows = [Beside(name, count(p), count(c or 0)) for name, p, c in numbers if p is not None]
    rows += [
        Beside(name, span(planned), span(came) if known else "unknown")
        for name, planned, came in spans
        if planned is not None
    ]
    return rows


def action_text(action: Action) -> str:
    """Return what somebody did, in one line: a note as it is, a change with old and new."""
    detail = action.detail
    changed = detail.get("changed")
    if action.action == "note":
        return str(detail.get("text", ""))
    if isinstance(changed, Mapping):
        return "; ".join(f"{name}: {_change(value)}" for name, value in changed.items())
    return ", ".join(f"{name}: {_plain(value)}" for name, value in detail.items())


def _change(value: Any) -> str:
    if not isinstance(value, Mapping):
        return _plain(value)
    return f"{_plain(value.get('old'))} → {_plain(value.get('new'))}"


def _plain(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return text if len(text) <= 200 else f"{text[:200]}…"
