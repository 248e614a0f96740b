"""docs/cli.md names every command and every option, and its examples can be typed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_cli import COMMANDS, LEAVES

TEXT = (Path(__file__).parents[2] / "docs" / "cli.md").read_text("utf-8")
SECTIONS = {
    part.partition("\n")[0]: part for part in re.split(r"^## ", TEXT, flags=re.MULTILINE)[1:]
}
EXAMPLES = re.findall(r"^\$ (waitroom .*)$", TEXT, flags=re.MULTILINE)


def title(name: str) -> str:
    """Return the heading of a command."""
    return f"waitroom {name}".strip()


def flags(command: Any) -> set[str]:
    """Return all options of a command, `--no-…` included."""
    return {
        flag
        for param in command.params
        for flag in (*param.opts, *param.secondary_opts)
        if flag.startswith("--")
    }


def test_sections_are_the_commands() -> None:
    """Every command has its heading, and every heading its command."""
    assert {title(name) for name in COMMANDS} == set(SECTIONS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_is_named(name: str) -> None:
    """Options stand in the command's own section; those of policies in the section of `room`."""
    text = SECTIONS[title(name)]
    if name in ("room create", "room set"):
        text += SECTIONS["waitroom room"]
    assert set() == {flag for flag in flags(COMMANDS[name]) if not re.search(rf"`{flag}\b", text)}


@pytest.mark.parametrize("name", LEAVES)
def test_every_command_has_an_example(name: str) -> None:
    """The section of a command shows it in use."""
    assert re.search(rf"^\$ {title(name)}\b", SECTIONS[title(name)], re.MULTILINE)


@pytest.mark.parametrize("example", EXAMPLES)
def test_examples_use_what_there_is(example: str) -> None:
    """Every command and option of an example exists."""
    words = [word for word in example.split()[1:] if not word.startswith(("-", "redis:"))]
    name = next(" ".join(words[:n]) for n in (3, 2, 1) if " ".join(words[:n]) in LEAVES)
    known = flags(LEAVES[name]) | flags(COMMANDS[""])
    assert set(re.findall(r"--[a-z-]+", example)) <= known
