"""The documentation is complete: every field, verb, setting, error and preset is in it."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.support.programs import needed
from waitroom import Client, errors
from waitroom.client.operator.clients import Operator
from waitroom.engine.scripts import Verb, lua
from waitroom.models import POLICY_FIELDS, PRESETS
from waitroom.rehearsal.scenario_file import read as read_scenario
from waitroom.settings import SETTINGS, declared_rooms, load

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = sorted(
    page for folder in (ROOT, DOCS, DOCS / "ko", DOCS / "decisions") for page in folder.glob("*.md")
)
"""Everything that people read, except what `make docs` generates from the code."""


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


@pytest.mark.parametrize("page", ["ARCHITECTURE.md", "CONTRIBUTING.md", "docs/compatibility.md"])
def test_every_module_that_is_named_exists(page: str) -> None:
    """A module is named by the end of its path, which is unique."""
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


def test_every_secret_may_be_a_file() -> None:
    """docs/settings.md names each variable that may name a file, and no other."""
    page = (DOCS / "settings.md").read_text("utf-8")
    named = set(re.findall(r"\bWAITROOM_[A-Z_]+_FILE\b", page))
    assert {setting.env + "_FILE" for setting in SETTINGS if setting.by_file} == named


def test_every_error_code_has_its_heading() -> None:
    """docs/errors.md explains each code that an error can have."""
    assert {error.code for error in every_error()} == headings("errors.md")


def test_every_call_of_the_client_is_listed() -> None:
    """docs/client.md lists each call of both clients, and none that does not exist."""
    rows = re.findall(r"^\| (`\w+\(.+?) \|", (DOCS / "client.md").read_text("utf-8"), re.M)
    calls = {name for client in (Client, Operator) for name in vars(client) if name[0] != "_"}
    assert calls - {"aclose"} == set(re.findall(r"`(\w+)\(", " ".join(rows)))


def test_error_codes_are_unique() -> None:
    """A code names one class of error."""
    codes = [error.code for error in every_error()]
    assert sorted(set(codes)) == sorted(codes)


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_links_lead_somewhere(page: Path) -> None:
    """Every relative link on a page leads to an existing file."""
    for target in re.findall(r"\]\((?!https?:|mailto:|#)([^)#]+)", page.read_text("utf-8")):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_make_lists_every_target_once() -> None:
    """`make` shows every target, in its group, with its purpose."""
    command = [needed("make"), "--no-print-directory", "help"]
    printed = subprocess.check_output(command, cwd=ROOT, text=True)
    targets = re.findall(r"^([a-z-]+):(?!=)", (ROOT / "Makefile").read_text("utf-8"), re.M)
    assert sorted(targets) == sorted(re.findall(r"^  make ([a-z-]+) +\w", printed, re.M))


HOME = "https://github.com/waitroom/waitroom/blob/main/"
FILES = "https://raw.githubusercontent.com/waitroom/waitroom/main/"


def test_the_readme_can_be_read_elsewhere() -> None:
    """PyPI shows README.md too: links and pictures have full addresses, and their files exist."""
    text = (ROOT / "README.md").read_text("utf-8")
    links = re.findall(r"\]\(([^)]+)\)", text) + re.findall(r'(?:src|srcset|href)="([^"]+)"', text)
    assert [] == [link for link in links if not link.startswith("https://")]
    ours = [link.removeprefix(HOME).removeprefix(FILES) for link in links if "/waitroom/" in link]
    assert len(ours) > 10
    assert [] == [name for name in ours if not (ROOT / name.partition("#")[0]).is_file()]
    pictures = re.findall(r'(?:!\[[^\]]*\]\(|(?:src|srcset)=")([^")]+)', text)
    assert pictures
    assert [] == [link for link in pictures if not link.startswith(FILES)]


BLOCKS = [
    pytest.param(block, id=f"{page.name}-{number}")
    for page in PAGES
    for number, block in enumerate(
        re.findall(r"^```toml\n(.*?)^```", page.read_text("utf-8"), re.M | re.S)
    )
]


@pytest.mark.parametrize("block", BLOCKS)
def test_toml_of_the_docs_is_accepted(block: str, tmp_path: Path) -> None:
    """Every TOML block that a reader might copy is accepted: settings with rooms, or a scenario."""
    path = tmp_path / "waitroom.toml"
    path.write_text(block, "utf-8")
    if "[room]" in block:
        assert read_scenario(path).title
        return
    load({}, toml=path)
    declared_rooms(path)


def test_every_picture_is_shown() -> None:
    """docs/images contains what pages show, and nothing unused."""
    shown = {
        name
        for page in PAGES
        for name in re.findall(r"images/([\w-]+\.\w+)", page.read_text("utf-8"))
    }
    assert {path.name for path in (DOCS / "images").iterdir()} == shown
