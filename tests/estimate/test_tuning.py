"""Every tuned number of the estimates is in one place, with what it does and its source."""

from __future__ import annotations

import ast
from dataclasses import FrozenInstanceError, fields
from pathlib import Path

import pytest

from waitroom.estimate import tuning
from waitroom.estimate.tuning import TUNING, Source, Tuning

FOLDER = Path(tuning.__file__).parent
# Bounds of arithmetic and rounding: nobody would try another value of these.
NOT_TUNED = {"LONGEST_S", "_ALMOST_NONE", "_LEVELS", "_LIMITS", "_NO_CAPACITY", "_UP"}


def numbers(path: Path) -> set[str]:
    """Return the names that a module gives to numbers."""
    names: set[str] = set()
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, ast.Assign) and not any(
            isinstance(part, ast.Name | ast.Call | ast.Attribute) for part in ast.walk(node.value)
        ):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return names


def test_each_number_is_explained() -> None:
    """Each field says what it does, and what measured it or that nothing did."""
    for spec in fields(Tuning):
        assert len(spec.metadata["does"].split()) >= 3, spec.name
        assert isinstance(spec.metadata["source"], Source), spec.name


def test_each_number_is_used() -> None:
    """No field is left over that no formula reads."""
    text = "".join(path.read_text("utf-8") for path in FOLDER.glob("*.py"))
    assert set() == {spec.name for spec in fields(Tuning) if f"TUNING.{spec.name}" not in text}


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.py")), ids=lambda path: path.stem)
def test_no_number_is_named_elsewhere(path: Path) -> None:
    """A module of the estimates has no tuned constants of its own."""
    assert set() == numbers(path) - NOT_TUNED


def test_the_numbers_are_frozen() -> None:
    """Nobody changes them at run time."""
    with pytest.raises(FrozenInstanceError):
        TUNING.range_errors = 2.0  # type: ignore[misc]
