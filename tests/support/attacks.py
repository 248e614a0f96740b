"""How many attacks a run tried, and how many of them were repelled: the last line of `make attack`.

A test with the marker `attack` counts as one attack, or as many as it reports with `tried`.
"""

from __future__ import annotations

from collections.abc import Iterable

import pytest

_MARK = "attacks tried: "


def tried(attacks: int) -> None:
    """Record how many attacks the calling test has tried."""
    print(f"\n{_MARK}{attacks}")  # noqa: T201


def summary(reports: Iterable[pytest.TestReport]) -> list[str]:
    """Return the totals of a run, if it had attacks; a failed test's attacks count as not held."""
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
