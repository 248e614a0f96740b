"""Docstrings of public classes name only fields that exist."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from enum import Enum
from pathlib import Path

import pytest

import waitroom
from waitroom import estimate, models
from waitroom.engine.scripts import Verb, script
from waitroom.models import POLICY_FIELDS

# Besides its own fields, a class may name a field of a policy, a verb, or a kind of event.
EVENTS = {
    kind for verb in Verb for kind in re.findall(r"event\('(\w+)'", script(verb, flags=True).source)
}
SHARED = {*POLICY_FIELDS, *Verb, *EVENTS, "None"}


def modules() -> Iterator[str]:
    """Return the modules whose classes are checked."""
    for package in (models, estimate):
        for info in pkgutil.iter_modules(package.__path__):
            yield f"{package.__name__}.{info.name}"


def classes() -> Iterator[type]:
    """Return the classes that these modules define."""
    for name in modules():
        for _, value in inspect.getmembers(importlib.import_module(name), inspect.isclass):
            if value.__module__ == name:
                yield value


def named(text: str) -> set[str]:
    """Return the names between backticks; for a call, the called name."""
    return set(re.findall(r"`([a-zA-Z_]\w*)[`(]", text))


@pytest.mark.parametrize("kind", [*classes()], ids=lambda kind: kind.__qualname__)
def test_fields_in_a_docstring_exist(kind: type) -> None:
    """Each name between backticks is a field of the class, of a policy, a verb or an event."""
    own = set(dir(kind)) | set(inspect.get_annotations(kind))
    if issubclass(kind, Enum):
        own |= {str(member.value) for member in kind}
    assert set() == named(kind.__doc__ or "") - own - SHARED


PACKAGES = sorted(Path(waitroom.__file__).parent.glob("*/**/__init__.py"))


@pytest.mark.parametrize("module", PACKAGES, ids=lambda path: path.parent.name)
def test_a_package_says_what_it_must_not_do(module: Path) -> None:
    """Its docstring has a sentence on its purpose, and one on its limits."""
    text = ast.get_docstring(ast.parse(module.read_text("utf-8"))) or ""
    assert text.count(".") > 1
    assert re.search(r"\b(must|nothing)\b", text, re.IGNORECASE), text
