"""`waitroom rehearse`: what it prints, where the report goes, and how it ends."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from waitroom.rehearsal import NAMES
from waitroom.report.promises import Promises


def test_the_ready_ones_are_listed(cli: Cli) -> None:
    """Without a scenario it lists the available ones."""
    assert list(NAMES) == [scenario["name"] for scenario in cli.json("rehearse")]
    assert all(name in cli.text("rehearse") for name in NAMES)


def test_a_rehearsal(cli: Cli, tmp_path: Path) -> None:
    """It prints the promises and the result, and writes the report."""
    report = tmp_path / "report.html"
    text = cli.text("rehearse", "per-minute-burst", "--people", 100, "--report", str(report))
    assert "rolling limit  ✓ PASS" in text
    assert "Every promise was kept" in text
    assert report.read_text("utf-8").startswith("<!doctype html>")
    result = cli.json("rehearse", "per-minute-burst", "--people", 100, "--seed", 5)
    assert (True, 5, None) == (result["passed"], result["seed"], result["report"])


def test_a_broken_promise_is_an_exit_code(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit code 1, and it names the promise and what broke it."""
    monkeypatch.setattr(
        Promises, "after_step", lambda self, now_ms, *_: self.reused.breaks(now_ms, "so it goes")
    )
    result = cli.run("rehearse", "per-minute-burst", "--people", 50)
    assert 1 == result.exit_code
    assert "✗ FAIL" in result.stdout
    assert "so it goes" in result.stdout


def test_a_report_needs_its_extra(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without Jinja it says what to install, before anything is played."""
    monkeypatch.setitem(sys.modules, "jinja2", None)
    words = ("rehearse", "per-minute-burst", "--report", "report.html")
    assert "run `pip install 'waitroom[server]'`" in cli.error(*words)[1]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["nothing-of-the-kind"], "ready ones are"),
        (["booking-50", "--people", 1], "10 to"),
        (["booking-50", "--seed", -1], "seed"),
        (["booking-50", "--report", "/nowhere/at/all.html"], "no folder"),
    ],
)
def test_what_cannot_be_rehearsed(cli: Cli, words: list[str | int], says: str) -> None:
    """Errors are reported before anything is played."""
    code, message = cli.error("rehearse", *words)
    assert 2 == code
    assert says in message
