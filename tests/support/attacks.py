"""How many attacks a run has tried, and how many of them held: the last line of `make attack`.

A test with the marker `attack` is one attack, or as many as it says with `tried`.
"""

from __future__ import annotations

from collections.abc import Iterable

import pytest

_MARK = "attacks tried: "


def tried(attacks: int) -> None:
    """Say how many attacks the test that calls this has tried."""
    print(f"\n{_MARK}{attacks}")  # noqa: T201


def summary(reports: Iterable[pytest.TestReport]) -> list[str]:
    """Return the sum of a run, if it had attacks: all of a test that failed count as not held."""
    told = [
        (_count(report), report.passed)
        for report in reports
        if "attack" in report.keywords and (report.when == "call" or report.failed)
    ]
    if not told:
        return []
    held = sum(attacks for attacks, passed in told if passed)
    return [f"tried {sum(attacks for attacks, _ in told)}, held {held}"]


def _count(report: pytest.TestReport) -> int:
    lines = report.capstdout.splitlines()
    return sum(int(line.removeprefix(_MARK)) for line in lines if line.startswith(_MARK)) or 1
