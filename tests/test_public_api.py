"""The public API: every name exists, and importing the package loads no more than needed."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
import typing
from collections.abc import Generator, Iterator
from pathlib import Path

import httpx2
import pytest

import waitroom
from waitroom import client

DOC = (Path(__file__).parent.parent / "docs" / "api.md").read_text("utf-8")
SECTIONS = {
    section.partition("`\n")[0]: section for section in re.split(r"^## `", DOC, flags=re.M)[1:]
}
"""The page by its second-level headings."""

CLASSES = [name for name in waitroom.__all__ if inspect.isclass(getattr(waitroom, name))]


def promised(name: str) -> dict[str, typing.Any]:
    """Return the methods that the page names for a class."""
    return {
        method: getattr(getattr(waitroom, name), method)
        for method in re.findall(r"`(\w+)\(\)`", SECTIONS[name])
    }


def ours(hint: typing.Any) -> Iterator[str]:
    """Return the names of all our types in a hint."""
    if isinstance(hint, type) and hint.__module__.partition(".")[0] == "waitroom":
        of_client = hint.__module__.startswith(client.__name__)
        yield f"client.{hint.__name__}" if of_client else hint.__name__
    parts = typing.get_args(hint)
    # A client call is written once, as steps; callers get what comes out at the end.
    for part in parts[-1:] if typing.get_origin(hint) is Generator else parts:
        yield from ours(part)


@pytest.mark.parametrize("name", waitroom.__all__)
def test_every_public_name_can_be_imported(name: str) -> None:
    """Each name of `__all__` is the object of that name in its module."""
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
        "{'redis', 'httpx2', 'jwt', 'fastapi'} & set(sys.modules))"
    )
    printed = subprocess.check_output([sys.executable, "-c", program], text=True)
    assert "['waitroom.version'] set()\n" == printed


def test_every_public_name_has_its_heading() -> None:
    """docs/api.md explains each public name, and none that does not exist."""
    assert sorted(waitroom.__all__) == sorted(SECTIONS)


@pytest.mark.parametrize("name", CLASSES)
def test_the_api_is_complete(name: str) -> None:
    """What a public method returns is public too, and can be named in callers' own types."""
    returned = {
        kind
        for method in promised(name).values()
        # `httpx2` is imported for types only, so that a client loads it with its first call.
        for kind in ours(typing.get_type_hints(method, localns={"httpx2": httpx2})["return"])
    }
    assert set() == returned - {*waitroom.__all__} - {f"client.{kind}" for kind in CLIENT_TYPES}


CLIENT_TYPES = ("Code", "Place", "Room", "Ticket")


def test_the_types_of_the_client_are_named() -> None:
    """docs/api.md names the types of `waitroom.client`, which is where they are."""
    assert [] == [kind for kind in CLIENT_TYPES if f"`{kind}`" not in SECTIONS["Client"]]
    assert [] == [kind for kind in CLIENT_TYPES if not hasattr(client, kind)]


def test_the_names_of_enums_are_all_there() -> None:
    """docs/api.md lists each value of the public enums."""
    for name in ("Mode", "BeforeOpen", "Eta", "WhenAway", "Reason", "State"):
        words = {str(member) for member in getattr(waitroom, name)}
        assert set() == {word for word in words if f"`{word}`" not in SECTIONS[name]}, name


def test_the_fields_of_views_exist() -> None:
    """docs/api.md names only fields that exist."""
    for name in ("Join", "TicketView", "Room", "PolicyChange", "Page", "Advanced"):
        fields = {*dir(getattr(waitroom, name)), *inspect.get_annotations(getattr(waitroom, name))}
        named = set(re.findall(r"`([a-z_]+)`", SECTIONS[name].partition("\n")[2]))
        assert set() == named - fields - set(dir(waitroom.Engine)), name
