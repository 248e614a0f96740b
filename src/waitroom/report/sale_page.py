"""The report of a sale as HTML, to read and to print."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from waitroom.report import page, plots
from waitroom.report.plots import Mark, Plot, over_time
from waitroom.report.sale import WORDS, Sale
from waitroom.report.summary import action_text, beside_plan, sentences
from waitroom.report.words import clock, moment

_MOST_ACTIONS = 500


def render(sale: Sale) -> str:
    """Return the report as HTML."""
    is_one_day = moment(sale.since_ms)[:10] == moment(sale.until_ms)[:10]
    return page.render(
        "report/sale.html",
        _plots(sale),
        sale=sale,
        words=WORDS,
        sentences=tuple(sentences(sale)),
        beside=beside_plan(sale),
        actions=sale.actions[-_MOST_ACTIONS:],
        more_actions=max(0, len(sale.actions) - _MOST_ACTIONS),
        action_text=action_text,
        when=clock if is_one_day else moment,
        policy=page.policy_rows(sale.policy),
    )


def _plots(sale: Sale) -> Iterator[Plot | None]:
    starts_ms, timeline = sale.since_ms, sale.timeline
    if timeline:
        starts_ms = min(moment.at_ms for moment in timeline)
    yield plots.counts(timeline, starts_ms)
    yield plots.served(timeline, starts_ms)
    yield _calls(sale, starts_ms)
    yield _window(sale, starts_ms)
    yield plots.waits(sale.joined_ms, sale.called_ms, starts_ms)
    yield plots.estimates([(wait, estimate) for wait, estimate in sale.pairs])
    yield plots.no_shows(timeline, starts_ms)


def _calls(sale: Sale, starts_ms: int) -> Plot | None:
    """Draw the calls per minute against the pace: from the archive, or otherwise the history."""
    calls = [(flow.at_ms, 60_000 * flow.calls / flow.span_ms) for flow in sale.flow]
    limits = [(flow.at_ms, flow.batch_per_minute) for flow in sale.flow]
    if not calls:
        pairs = list(pairwise(sale.points))
        calls = [
            (point.at_ms, 60_000 * max(0, point.called_total - before.called_total) / point.span_ms)
            for before, point in pairs
            if point.span_ms
        ]
        limits = [(point.at_ms, point.per_minute) for _, point in pairs]
    marks = [Mark("line", "called", "calls per minute", calls)]
    pace = [(at_ms, limit) for at_ms, limit in limits if limit is not None]
    if pace:
        marks.insert(0, Mark("limit", "capacity", "pace of the room", pace))
    about = "How fast people were called."
    return over_time("calls", "Calls per minute", about, "people", marks, starts_ms)


def _window(sale: Sale, starts_ms: int) -> Plot | None:
    """Draw the entries in the rolling window against their limit."""
    windows = [flow for flow in sale.flow if flow.max_entries is not None]
    marks = [
        Mark("limit", "capacity", "most that may enter",
             [(flow.at_ms, flow.max_entries or 0) for flow in windows]),
        Mark("line", "inside", "entered in the window",
             [(flow.at_ms, flow.most_in_window) for flow in windows]),
    ]  # fmt: skip
    about = "How many had gone in within the window of the limit."
    return over_time("window", "Entries in the window", about, "people", marks, starts_ms)
