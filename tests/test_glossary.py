"""The glossary and the code use the same words."""

from __future__ import annotations

import ast
import importlib
import re
from pathlib import Path

import pytest

import waitroom
from waitroom.models import Reason, State

SOURCE = Path(waitroom.__file__).parent
PAGE = Path(__file__).parent.parent / "docs" / "glossary.md"
KEPT, _, GIVEN_UP = PAGE.read_text("utf-8").partition("## Words that we gave up")
ROWS = re.findall(r"^\| ([^|`]+) \| ([^|]+) \| `([\w.]+)` \| ([^|]+) \|$", KEPT, re.M)
OLD = [word for row in re.findall(r"^\| (`[^|]+) \|", GIVEN_UP, re.M) for word in row.split(", ")]


def named_in(source: str) -> set[str]:
    """Return the names of modules, classes and functions that a source text defines."""
    kinds = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    return {node.name for node in ast.walk(ast.parse(source)) if isinstance(node, kinds)}


@pytest.mark.parametrize("name", [row[2] for row in ROWS])
def test_a_word_of_the_glossary_is_in_the_code(name: str) -> None:
    """The third column is a module, a class or a field that exists."""
    modules = name.split(".")
    rest: list[str] = []
    while modules:
        try:
            thing = importlib.import_module(".".join(["waitroom", *modules]))
        except ModuleNotFoundError:
            rest.insert(0, modules.pop())
        else:
            break
    for attribute in rest:
        thing = getattr(thing, attribute)


def test_no_word_is_explained_twice() -> None:
    """One word has one meaning, and one meaning in Korean."""
    for column in (0, 1):
        words = [row[column] for row in ROWS]
        assert sorted(set(words)) == sorted(words)


def test_every_state_is_explained() -> None:
    """A person's states, and most of the reasons why they are gone, have their Korean word."""
    words = {row[0].replace("-", "_") for row in ROWS}
    assert set() == {str(state) for state in State} - words
    assert {"passed", "cleared"} == {str(reason) for reason in Reason} - words


@pytest.mark.parametrize("word", OLD)
def test_a_word_that_we_gave_up_is_gone(word: str) -> None:
    """No class or function has a name from the last table."""
    users = [
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        if word.strip("`") in named_in(path.read_text("utf-8"))
    ]
    assert [] == users


def test_the_check_finds_a_name() -> None:
    """The check can fail: it sees classes, functions and methods."""
    assert {"Book", "find", "near"} == named_in(
        "class Book:\n def find(self): ...\ndef near(): ..."
    )
