"""Alerts and dashboard query existing metrics, and anybody who is woken knows what to do."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.deploy.files import DASHBOARD, EXPRESSIONS, ROOT, RULES
from waitroom.server.metrics.families import METRICS


def known_samples() -> set[str]:
    """Return every name under which Prometheus stores one of our samples."""
    names = set()
    for family in METRICS:
        suffixes = ["_bucket", "_sum", "_count"] if family.kind == "histogram" else [""]
        names |= {family.shown + suffix for suffix in suffixes}
    return names


def labels_of(name: str) -> set[str]:
    """Return the labels that a sample has, with those that Prometheus adds."""
    base = re.sub(r"_(bucket|sum|count)$", "", name)
    (family,) = (metric for metric in METRICS if metric.shown in (name, base))
    return {*family.labels, "le", "instance", "job"}


@pytest.mark.parametrize(("where", "expr"), EXPRESSIONS, ids=lambda value: str(value)[:40])
def test_every_metric_exists(where: str, expr: str) -> None:
    """Alerts and panels query existing metrics, by labels that they have."""
    used = re.findall(r"\b((?:waitroom|process)_\w+)(?:\{([^}]*)\})?", expr)
    assert used or 'up{job="waitroom"}' in expr, where
    for name, matchers in used:
        assert name in known_samples(), where
        assert set(re.findall(r"(\w+)\s*[=!]~?", matchers)) <= labels_of(name), where
    for by in re.findall(r"by \(([^)]*)\)", expr):
        known = set().union(*(labels_of(name) for name, _ in used))
        assert set(re.split(r",\s*", by)) <= known, where
    assert expr.count("(") == expr.count(")"), where


def test_every_metric_is_on_the_dashboard() -> None:
    """A metric that nobody looks at is not worth counting."""
    text = " ".join(expr for _, expr in EXPRESSIONS)
    exempt = {
        "waitroom_build_info",  # for joins
        "waitroom_rooms",
        "waitroom_room_restored_total",
        "waitroom_room_deferrals_total",
        "waitroom_room_reinstated_total",
    }
    missing = {family.shown for family in METRICS if family.shown not in text}
    assert set() == missing - exempt


def test_panels_do_not_overlap() -> None:
    """Every panel of the dashboard has its own position and id."""
    panels = DASHBOARD["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    cells: set[tuple[int, int]] = set()
    for panel in panels:
        at = panel["gridPos"]
        own = {(at["x"] + x, at["y"] + y) for x in range(at["w"]) for y in range(at["h"])}
        assert set() == cells & own, panel["title"]
        assert at["x"] + at["w"] <= 24, panel["title"]
        cells |= own


def test_every_alert_is_in_the_runbook() -> None:
    """docs/runbook.md has a section per alert, each with meaning, check and action."""
    text = (ROOT / "docs" / "runbook.md").read_text("utf-8")
    sections = dict(re.findall(r"^## `(\w+)`\n(.*?)(?=^## |\Z)", text, re.M | re.S))
    assert sorted(rule["alert"] for rule in RULES) == sorted(sections)
    for name, section in sections.items():
        for word in ("**Means**", "**Check**", "**Do**"):
            assert word in section, f"{name}: {word}"


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: str(rule["alert"]))
def test_alerts_say_what_to_do(rule: dict[str, Any]) -> None:
    """An alert has a severity, waits a moment, says what happens, and links to its section."""
    assert rule["labels"]["severity"] in ("page", "ticket")
    assert re.fullmatch(r"\d+[sm]", rule["for"])
    assert rule["annotations"]["summary"]
    link = f"docs/runbook.md#{rule['alert'].lower()}"
    assert link == rule["annotations"]["runbook_url"]
