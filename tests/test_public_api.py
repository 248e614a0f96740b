"""The public API: every name is there, and importing the package loads nothing that it need not."""

from __future__ import annotations

import subprocess
import sys

import pytest

import waitroom


@pytest.mark.parametrize("name", waitroom.__all__)
def test_every_public_name_can_be_imported(name: str) -> None:
    """Each name of `__all__` is the object of that name in the module that holds it."""
    value = getattr(waitroom, name)
    assert name == getattr(value, "__name__", name)


def test_an_unknown_name_is_an_attribute_error() -> None:
    """A misspelled name fails as it does in any other module."""
    with pytest.raises(AttributeError, match="no attribute 'Enginee'"):
        _ = waitroom.Enginee


def test_the_package_alone_loads_nothing_else() -> None:
    """`import waitroom` loads neither Redis nor an HTTP client: a gate has neither installed."""
    program = (
        "import sys, waitroom; "
        "print(sorted(name for name in sys.modules if name.startswith('waitroom.')), "
        "{'redis', 'httpx', 'jwt', 'fastapi'} & set(sys.modules))"
    )
    printed = subprocess.check_output([sys.executable, "-c", program], text=True)
    assert "['waitroom.version'] set()\n" == printed
