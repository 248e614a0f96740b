"""SECURITY.md names a test for every threat: each exists, and `make attack` runs it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NAMED = sorted(
    set(re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", (ROOT / "SECURITY.md").read_text()))
)


def _is_attack(node: ast.expr) -> bool:
    return any(isinstance(part, ast.Attribute) and part.attr == "attack" for part in ast.walk(node))


def attacks(tree: ast.Module) -> set[str]:
    """Return the marked tests of a file, marked by themselves or with the whole file."""
    marks = [
        statement.value
        for statement in tree.body
        if isinstance(statement, ast.Assign)
        and any(
            isinstance(name, ast.Name) and name.id == "pytestmark" for name in statement.targets
        )
    ]
    tests = [
        node
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.name.startswith("test_")
    ]
    whole = any(map(_is_attack, marks))
    return {test.name for test in tests if whole or any(map(_is_attack, test.decorator_list))}


def test_there_are_threats() -> None:
    """The table can be parsed."""
    assert 40 <= len(NAMED)


@pytest.mark.parametrize(("path", "name"), NAMED)
def test_what_shows_it_exists(path: str, name: str) -> None:
    """Renamed or removed tests are noticed."""
    marked = attacks(ast.parse((ROOT / path).read_text("utf-8")))
    assert name in marked if name else marked
