"""A sale as tables for spreadsheets: CSV in which no cell can be taken for a formula. Pure."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise

from waitroom.moments import from_ms, written
from waitroom.report.sale import WORDS, Sale

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")

Row = Sequence[object]


def cell(value: object) -> object:
    """Return a cell that stays text: a quote precedes what a spreadsheet would compute."""
    if value is None:
        return ""
    if not isinstance(value, str):
        return value
    # Some spreadsheets ignore spaces in front.
    return f"'{value}" if value.lstrip(" ").startswith(_FORMULA) or value[:1] in _FORMULA else value


def to_csv(sale: Sale, name: str) -> str:
    """Return one of the tables as CSV."""
    head, rows = TABLES[name]
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(head)
    writer.writerows([cell(value) for value in row] for row in rows(sale))
    return out.getvalue()


def _summary(sale: Sale) -> Iterable[Row]:
    yield "room", sale.room
    yield "since", _time(sale.since_ms)
    yield "until", _time(sale.until_ms)
    yield "verdict", sale.verdict
    for reason in sale.missing:
        yield "incomplete", reason
    for name in WORDS:
        yield name, sale.counts.get(name, 0)
    waits, estimates = sale.waits, sale.estimates
    yield "most_waiting", sale.most_waiting
    yield "most_called_and_inside", sale.most_held
    yield "median_wait_s", waits.median_s
    yield "p90_wait_s", waits.p90_s
    yield "longest_wait_s", waits.longest_s
    yield "estimates", estimates.answers
    yield "estimate_median_error", estimates.error
    yield "estimate_near", estimates.near


def _timeline(sale: Sale) -> Iterable[Row]:
    points = sale.points
    for before, point in pairwise((points[0], *points) if points else ()):
        yield (
            _time(point.at_ms), point.span_ms // 1000, point.waiting, point.most_waiting,
            point.called, point.inside, point.capacity, point.per_minute,
            *(max(0, getattr(point, name) - getattr(before, name)) for name in WORDS),
            point.told_s, point.waited_s,
        )  # fmt: skip


def _waits(sale: Sale) -> Iterable[Row]:
    for group in sale.by_arrival():
        yield (
            _time(group.at_ms), group.span_ms / 1000, group.people,
            group.median_s, group.p90_s, group.longest_s,
        )  # fmt: skip


def _promises(sale: Sale) -> Iterable[Row]:
    for promise in sale.promises:
        first_at = _time(promise.first_ms) if promise.broken else None
        verdict = sale.verdict_of(promise)
        yield promise.name, verdict, promise.checked, promise.broken, first_at, promise.first


def _actions(sale: Sale) -> Iterable[Row]:
    for action in sale.actions:
        detail = json.dumps(action.detail, ensure_ascii=False, default=str)
        yield _time(action.at_ms), action.who, action.way, action.action, detail


def _time(ms: int) -> str:
    return written(from_ms(ms))


TABLES: Mapping[str, tuple[Row, Callable[[Sale], Iterable[Row]]]] = {
    "summary": (("figure", "value"), _summary),
    "timeline": (
        (
            *("at", "span_s", "waiting", "most_waiting", "called", "inside", "capacity"),
            "per_minute", *(f"{name}_in_span" for name in WORDS), "told_s", "waited_s",
        ),
        _timeline,
    ),
    "waits": (("arrived", "span_s", "people", "median_s", "p90_s", "longest_s"), _waits),
    "promises": (("promise", "verdict", "tested", "broken", "first_at", "first"), _promises),
    "actions": (("at", "who", "way", "action", "detail"), _actions),
}  # fmt: skip
"""The available tables: the head of each, and its rows."""
