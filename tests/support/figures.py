"""Figures that tests measure along the way, shown together at the end of a run.

Only these lines are shown. The whole output of tests that passed would bury what failed.
"""

from __future__ import annotations

from collections.abc import Iterable

import pytest

_MARK = "figure: "


def say(text: str) -> None:
    """Print a figure."""
    print(f"\n{_MARK}{text}")  # noqa: T201


def said(reports: Iterable[pytest.TestReport]) -> list[str]:
    """Return the figures of the tests that passed, each with the name of its test."""
    return [
        f"{report.nodeid.rpartition('::')[2]}: {line.removeprefix(_MARK)}"
        for report in reports
        for line in report.capstdout.splitlines()
        if line.startswith(_MARK)
    ]
