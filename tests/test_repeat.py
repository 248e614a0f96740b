"""`make test-repeat` finds tests that do not pass every time."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests import repeat

# It passes in every other run, like a flaky test.
SOMETIMES = """
import pathlib, sys
path = pathlib.Path(sys.argv[1])
bad = path.exists()
path.unlink() if bad else path.touch()
report = sys.argv[-1].partition("=")[2]
inner = "<failure/>" if bad else ""
pathlib.Path(report).write_text(
    '<testsuite><testcase classname="a" name="steady"/>'
    f'<testcase classname="a" name="unsteady">{inner}</testcase></testsuite>'
)
raise SystemExit(bad)
"""


def test_the_unsteady_are_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A test that fails in one run of two is named, with how often; the stable one is not."""
    command = [sys.executable, "-c", SOMETIMES, str(tmp_path / "odd")]
    assert 1 == repeat.main(2, command)
    output = capsys.readouterr().out
    assert "1 tests were not green every time\n1 of 2 times: a::unsteady\n" in output


def test_all_green(capsys: pytest.CaptureFixture[str]) -> None:
    """A suite that always passes gives an empty list."""
    assert 0 == repeat.main(1, [sys.executable, "-c", "pass"])
    assert "0 tests were not green" in capsys.readouterr().out


def test_a_run_that_breaks_off(capsys: pytest.CaptureFixture[str]) -> None:
    """A run without a report does not count as passed."""
    assert 1 == repeat.main(1, [sys.executable, "-c", "raise SystemExit(3)"])
    assert "the whole run, with code 3" in capsys.readouterr().out
