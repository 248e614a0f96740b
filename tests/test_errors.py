"""The errors as a package: all can be imported from it, and are drawn in its tree."""

from __future__ import annotations

import re

from waitroom import errors


def kinds(root: type[errors.WaitroomError]) -> set[str]:
    """Return the names of an error and of all our errors below it."""
    own = {root.__name__} if root.__module__.startswith("waitroom.errors.") else set()
    return own.union(*(kinds(kind) for kind in root.__subclasses__()))


def test_every_error_can_be_imported_from_the_package() -> None:
    """Callers need not know which module defines an error."""
    assert kinds(errors.WaitroomError) == set(errors.__all__)


def test_the_tree_is_whole() -> None:
    """The package's docstring draws every error, and none that does not exist."""
    tree = (errors.__doc__ or "").partition("\n")[2].partition("Every error has")[0]
    words = set(re.findall(r"\b[A-Z]\w+", tree)) - {"API", "HTTP", "Redis", "Valkey", "Waitroom"}
    assert set(errors.__all__) == words
