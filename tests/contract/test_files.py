"""The vectors in contract/ are those that the Python gate makes today."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.contract import files, folding
from waitroom.gates.paths import folded


@pytest.mark.parametrize("path", files.texts(), ids=lambda path: path.name)
def test_files_are_current(path: Path) -> None:
    """`make vectors` would change nothing."""
    assert files.texts()[path] == path.read_text("utf-8"), "run `make vectors`"


@pytest.mark.parametrize("name", files.MAKERS)
def test_no_two_cases_are_the_same(name: str) -> None:
    """A duplicate case proves nothing."""
    cases = [str(case) for case in files.read(name)["cases"]]
    assert len(set(cases)) == len(cases) > 5


@pytest.mark.skipif(not folding.is_ours(), reason="another Unicode than that of the table")
def test_the_table_folds_as_the_gate_does() -> None:
    """Two letters that the table merges are one to the Python gate too, and no others."""
    rows = [line.split() for line in folding.table().splitlines()[1:]]
    for letter, *folding_ in rows:
        text = "".join(chr(int(code, 16)) for code in folding_)
        assert folded(f"/{text}") == folded(f"/{chr(int(letter, 16))}"), letter
