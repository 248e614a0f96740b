"""The coverage floor only rises, and is measured where it says."""

from __future__ import annotations

import re
import subprocess
from itertools import pairwise

import pytest

from tests.coverage_floor import FLOOR, MEASURED, raised
from tests.support.dist import ROOT


@pytest.mark.parametrize(
    ("floor", "total", "expected"),
    [(93.5, 93.99, 93.5), (93.5, 94.0, 94.0), (93.5, 97.6, 97.5), (93.5, 80.0, 93.5)],
)
def test_it_only_rises(floor: float, total: float, expected: float) -> None:
    """A better figure raises it by halves; a worse one leaves it unchanged."""
    assert expected == raised(floor, total)


def test_it_never_fell() -> None:
    """In the file's history each floor is higher than the one before."""
    command = ["git", "-C", str(ROOT), "log", "-p", "--reverse", "--format=", "--", str(FLOOR)]
    log = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    floors = [float(floor) for floor in re.findall(r"^\+(\d+\.\d+)$", log, re.M)]
    floors.append(float(FLOOR.read_text("utf-8")))
    assert [] == [pair for pair in pairwise(floors) if pair[1] < pair[0]]


def test_what_is_measured_is_there() -> None:
    """Each pattern names files of the package."""
    source = ROOT / "src/waitroom"
    assert [] == [pattern for pattern in MEASURED if not any(source.glob(pattern))]
