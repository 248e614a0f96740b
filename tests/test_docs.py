"""The documentation is whole: every field, verb, setting, error and preset has its place in it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from waitroom import errors
from waitroom.engine.scripts import Verb, lua
from waitroom.models import POLICY_FIELDS, PRESETS
from waitroom.settings import SETTINGS

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"


def headings(name: str) -> set[str]:
    """Return the second-level headings of a page, without their quotes."""
    text = (DOCS / name).read_text("utf-8")
    return {line[3:].strip("` ") for line in text.splitlines() if line.startswith("## ")}


def every_error() -> list[type[errors.WaitroomError]]:
    """Return the whole error tree."""
    classes, todo = [], [errors.WaitroomError]
    while todo:
        error = todo.pop()
        classes.append(error)
        todo += error.__subclasses__()
    return classes


def test_every_policy_field_has_its_heading() -> None:
    """docs/policy.md explains each field of a policy, and none that does not exist."""
    assert set(POLICY_FIELDS) == headings("policy.md")


def test_every_preset_is_listed() -> None:
    """docs/policy.md lists each preset."""
    text = (DOCS / "policy.md").read_text("utf-8")
    assert set(PRESETS) == set(re.findall(r"^\| `([a-z-]+)` \|", text, re.M))


def test_every_verb_has_its_heading() -> None:
    """docs/verbs.md explains each verb, and none that does not exist."""
    assert {str(verb) for verb in Verb} == headings("verbs.md")


def test_keys_of_a_room() -> None:
    """ARCHITECTURE.md has a row for each key of a room, with the type of the scripts' key map."""
    mapped = re.findall(r"^-- +\d+ (\w+) +([A-Z]+) ", lua("_common"), re.M)
    table: dict[str, str] = {}
    rows = r"^\| (`[^|]+) \| ([A-Z, ]+) \|"
    for names, types in re.findall(rows, (ROOT / "ARCHITECTURE.md").read_text("utf-8"), re.M):
        named = re.findall(r"`(\w+)", names)
        kinds = types.split(", ")
        table |= zip(named, kinds * len(named) if len(kinds) == 1 else kinds, strict=False)
    assert dict(mapped) == table


def test_every_package_is_named() -> None:
    """ARCHITECTURE.md names each package by its path, and none that does not exist."""
    source = ROOT / "src" / "waitroom"
    packages = {path.parent.relative_to(source).as_posix() for path in source.rglob("__init__.py")}
    text = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    named = {name for name in re.findall(r"`([a-z_/]+)/`", text) if name != "lua"}
    assert packages - {"."} == named


@pytest.mark.parametrize("page", ["ARCHITECTURE.md", "CONTRIBUTING.md"])
def test_every_module_that_is_named_exists(page: str) -> None:
    """A module is named by the end of its path, and there is one with that end."""
    files = [
        f"/{path.relative_to(ROOT).as_posix()}"
        for folder in ("src", "tests")
        for path in (ROOT / folder).rglob("*.*")
    ]
    named = re.findall(r"(?<![\w./<>*])([\w/]+\.(?:py|lua))\b", (ROOT / page).read_text("utf-8"))
    assert named
    assert [] == [name for name in named if not any(file.endswith(f"/{name}") for file in files)]


def test_every_setting_has_its_heading() -> None:
    """docs/settings.md explains each setting, and none that does not exist."""
    assert {setting.name for setting in SETTINGS} == headings("settings.md")


def test_every_error_code_has_its_heading() -> None:
    """docs/errors.md explains each code that an error can have."""
    assert {error.code for error in every_error()} == headings("errors.md")


def test_error_codes_are_unique() -> None:
    """A code names one class of error."""
    codes = [error.code for error in every_error()]
    assert sorted(set(codes)) == sorted(codes)


@pytest.mark.parametrize("page", sorted([*ROOT.glob("*.md"), *DOCS.glob("*.md")]), ids=str)
def test_links_lead_somewhere(page: Path) -> None:
    """Every relative link of a page leads to a file that is there."""
    for target in re.findall(r"\]\((?!https?:|mailto:|#)([^)#]+)", page.read_text("utf-8")):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"
