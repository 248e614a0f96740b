"""The sum of `make attack`: what was tried, and what held."""

from __future__ import annotations

import pytest

from tests.support.attacks import summary


def report(*, passed: bool, said: str = "", attack: bool = True) -> pytest.TestReport:
    """Make the report of a test."""
    return pytest.TestReport(
        nodeid="x",
        location=("x", 0, "x"),
        keywords={"attack": 1} if attack else {},
        outcome="passed" if passed else "failed",
        longrepr=None,
        when="call",
        sections=[("Captured stdout call", said)],
    )


def test_the_sum_of_a_run() -> None:
    """A test counts as one attack or as many as it says; those of a failed test have not held."""
    many = report(passed=True, said="attacks tried: 7\nx\nattacks tried: 3\n")
    assert ["tried 12, held 11"] == summary([many, report(passed=True), report(passed=False)])
    assert [] == summary([report(passed=True, attack=False)])
