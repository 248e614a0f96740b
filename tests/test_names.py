"""Names are nouns of the domain: no binding in the source has a name that says nothing."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import waitroom

SOURCE = Path(waitroom.__file__).parent
VAGUE = {"one", "found", "held", "said", "told", "type_"}


def vague_names(text: str) -> Iterator[tuple[int, str]]:
    """Yield line and name of each variable, argument or attribute with a vague name.

    Fields of a class are left out: some are the names of public JSON.
    """
    tree = ast.parse(text)
    fields = {
        id(line.target)
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        for line in node.body
        if isinstance(line, ast.AnnAssign)
    }
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                pass
            case ast.arg(arg=name):
                pass
            case _:
                continue
        if name in VAGUE and id(node) not in fields:
            yield node.lineno, name


def test_names_are_nouns_of_the_domain() -> None:
    """Nothing in the package is bound to a vague name."""
    vague = [
        f"{path.relative_to(SOURCE)}:{line} {name}"
        for path in sorted(SOURCE.rglob("*.py"))
        for line, name in vague_names(path.read_text("utf-8"))
    ]
    assert [] == vague


def test_the_check_sees_every_kind_of_binding() -> None:
    """Variables, loops, comprehensions, arguments and attributes count; reads and fields do not."""
    text = (
        "one = said\nfor found in x: pass\n[0 for held in x]\n"
        "def f(told): x.type_ = x.one\nclass C:\n one: int\n"
    )
    bound = [(1, "one"), (2, "found"), (3, "held"), (4, "told"), (4, "type_")]
    assert bound == sorted(vague_names(text))
