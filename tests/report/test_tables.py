"""Tables for spreadsheets: what people wrote stays text, and figures are the report's."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from tests.report.archives import START_MS, point, records
from tests.report.test_gather import COUNTS, SLOTS, book
from waitroom.report.gather import gather
from waitroom.report.hands import Action
from waitroom.report.sale import Sale
from waitroom.report.tables import TABLES, cell, to_csv


def rows(sale: Sale, name: str) -> list[list[str]]:
    """Return a table as a spreadsheet reads it."""
    return list(csv.reader(io.StringIO(to_csv(sale, name))))


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "  =1"])
def test_a_formula_stays_text(text: str) -> None:
    """Anything that a spreadsheet might compute begins with a quote."""
    assert f"'{text}" == cell(text)


@pytest.mark.parametrize("value", ["kim", "2030-03-17", "", 5, -5, 0.5])
def test_other_cells_are_left_alone(value: object) -> None:
    """Words and numbers stay unchanged, even negative numbers."""
    assert value == cell(value)


def test_nobody_smuggles_a_formula_into_any_table(tmp_path: Path) -> None:
    """Names, notes and fields that people wrote are all escaped."""
    evil = "=HYPERLINK(1)"
    actions = [Action(START_MS, evil, evil, evil, {"text": evil})]
    points = [point(0), point(1, waiting=5, called_total=4)]
    made = records(SLOTS, COUNTS, actions=actions, points=points)
    sale = gather(made, book().write(tmp_path))
    for name in TABLES:
        for row in rows(sale, name):
            assert not [text for text in row if text.startswith(("=", "+", "@", "\t", "\r"))]
    assert [f"'{evil}"] * 3 == rows(sale, "actions")[1][1:4]


def test_the_figures(tmp_path: Path) -> None:
    """Tables say what the report says."""
    points = [point(0, joined=2), point(1, joined=5, waiting=7, most_waiting=9)]
    sale = gather(records(SLOTS, COUNTS, points=points), book().write(tmp_path))
    summary = dict(rows(sale, "summary")[1:])
    assert ("PASS", "4", "9") == (summary["verdict"], summary["joined"], summary["most_waiting"])
    head, _, last = rows(sale, "timeline")
    line = dict(zip(head, last, strict=True))
    assert ("7", "3") == (line["waiting"], line["joined_in_span"])
    assert 4 == sum(int(row[2]) for row in rows(sale, "waits")[1:])
    assert 6 == len(rows(sale, "promises")[1:])
