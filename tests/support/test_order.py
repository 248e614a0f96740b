"""The order of a run: the longest files first, and a different order for each seed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import order

ROOT = Path(__file__).parents[2]


def test_what_takes_long_exists() -> None:
    """The table names only files and folders that exist."""
    assert [] == [name for name in order.LONGEST if not (ROOT / name).exists()]


def test_shuffle(request: pytest.FixtureRequest) -> None:
    """The same seed gives the same order, another seed another one; files stay whole."""
    tests = request.session.items
    mixed = order.shuffled(tests, 1)
    assert mixed == order.shuffled(tests, 1)
    assert sorted(map(id, tests)) == sorted(map(id, mixed))
    files = [order.file_of(item.nodeid) for item in mixed]
    runs = [file for place, file in enumerate(files) if place == 0 or files[place - 1] != file]
    assert len(set(runs)) == len(runs)
