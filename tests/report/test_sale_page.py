"""The report of a sale as HTML: its first line, its plan, and no foreign markup."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.report.archives import START_MS, point, records
from tests.report.test_gather import COUNTS, SLOTS, book, too_many
from waitroom.errors import InvalidInput
from waitroom.report import plan
from waitroom.report.gather import gather
from waitroom.report.hands import Action
from waitroom.report.sale_page import render
from waitroom.report.summary import action_text

REHEARSAL = {
    "scenario": "spring",
    "people": 5_000,
    "ended": {"no_show": 12},
    "wait_s": {"called": 4_900, "median": 60.0, "p90": 90.0, "longest": 120.0},
    "most_waiting": 3_000,
    "most_called_and_inside": 50,
}


def first_line(html: str) -> str:
    """Return the first line that a reader sees."""
    return html.partition('<p class="verdict')[2].partition(">")[2].partition("<")[0]


def test_the_first_line(tmp_path: Path) -> None:
    """It says whether promises were kept, or that nobody knows."""
    made = records(SLOTS, COUNTS)
    assert first_line(render(gather(made, book().write(tmp_path)))).startswith("✓ PASS")
    html = render(gather(made, None))
    assert first_line(html).startswith("Incomplete")
    assert 6 == html.count('class="unsure">incomplete')
    assert "<code>archive</code>" in html
    bad = book()
    too_many(bad)
    assert first_line(render(gather(made, bad.write(tmp_path / "bad")))).startswith("✗ FAIL")


def test_nobody_writes_markup(tmp_path: Path) -> None:
    """Names and notes are text, and the page may load nothing."""
    evil = "<script>alert(1)</script>"
    actions = [Action(START_MS, evil, "page", "note", {"text": evil})]
    policy = SLOTS.change(title=evil)
    html = render(gather(records(policy, COUNTS, actions=actions), book(policy).write(tmp_path)))
    assert "<script" not in html
    assert "default-src 'none'" in html


def test_plots(tmp_path: Path) -> None:
    """Load, calls and waits are drawn, each with its limits."""
    policy = SLOTS.change(max_entries=3, per_s=60)
    points = [point(n, waiting=9 - n, called_total=n, capacity=2) for n in range(4)]
    sale = gather(records(policy, COUNTS, points=points), book(policy).write(tmp_path))
    html = render(sale)
    for title in (
        "Waiting",
        "Calls per minute",
        "Entries in the window",
        "Wait by time of arrival",
    ):
        assert f"<h2>{title}</h2>" in html
    assert "pace of the room" in html
    assert "Calls per minute" in render(gather(records(policy, COUNTS, points=points), None))


def test_beside_the_plan(tmp_path: Path) -> None:
    """A saved rehearsal or plan is shown next to the actual figures."""
    folder = book().write(tmp_path)
    html = render(gather(records(SLOTS, COUNTS), folder, plan.read(REHEARSAL)))
    assert "rehearsal spring" in html
    assert "5,000" in html
    planned = plan.read(
        {
            "inputs": {"crowd": 700},
            "recommended": {"inside": 50, "most_waiting": 300, "last_wait_s": 60.0},
        }
    )
    assert (700, 60.0, None) == (planned.people, planned.longest_s, planned.median_s)


@pytest.mark.parametrize("document", [[], {}, 5, {"scenario": 1}, {"inputs": 1, "recommended": 2}])
def test_another_file_is_no_plan(document: object) -> None:
    """Anything else is refused with what it accepts."""
    with pytest.raises(InvalidInput, match="waitroom rehearse --json"):
        plan.read(document)


@pytest.mark.parametrize(
    ("action", "detail", "text"),
    [
        ("note", {"text": "doors open"}, "doors open"),
        ("room.change", {"changed": {"capacity": {"old": None, "new": 9}}}, "capacity: none → 9"),
        ("admit", {"called": 5, "force": False}, "called: 5, force: no"),
    ],
)
def test_what_somebody_did(action: str, detail: dict[str, object], text: str) -> None:
    """An action is told in one line."""
    assert text == action_text(Action(0, "kim", "page", action, detail))
