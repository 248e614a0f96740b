"""docs/cli.md names every command and every option; the commands on all pages are valid."""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_cli import COMMANDS, LEAVES
from tests.test_docs import PAGES

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "cli.md").read_text("utf-8")
SECTIONS = {
    part.partition("\n")[0]: part for part in re.split(r"^## ", TEXT, flags=re.MULTILINE)[1:]
}
TYPED = re.compile(r"^ *\$ (?!pip )(?:[^#\n]*[ /(])?(waitroom (?:[^\n#|>&)]|\\\n)*)", re.MULTILINE)


def examples() -> list[str]:
    """Return every `waitroom …` that a page or a command's help shows, each once."""
    pages = [file.read_text("utf-8") for file in PAGES]
    pages += [command.help or "" for command in COMMANDS.values()]
    return sorted({found.strip() for page in pages for found in TYPED.findall(page)})


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
    """Options are in the command's own section; those of policies in the section of `room`."""
    text = SECTIONS[title(name)]
    if name in ("room create", "room set"):
        text += SECTIONS["waitroom room"]
    assert set() == {flag for flag in flags(COMMANDS[name]) if not re.search(rf"`{flag}\b", text)}


@pytest.mark.parametrize("name", LEAVES)
def test_every_command_has_an_example(name: str) -> None:
    """The section of a command shows it in use."""
    assert re.search(rf"^\$ {title(name)}\b", SECTIONS[title(name)], re.MULTILINE)


@pytest.mark.parametrize("example", examples())
def test_examples_can_be_typed(example: str) -> None:
    """The command of an example exists and accepts its arguments."""
    words, command, path = shlex.split(example.replace("\\\n", "")), COMMANDS[""], [""]
    words.pop(0)
    while hasattr(command, "commands"):
        while words and words[0].startswith("--"):  # a global option, and its value
            assert words[0] in flags(command)
            del words[: 1 if words[0] == "--version" else 2]
        if not words:
            return
        path.append(words.pop(0))
        command = command.commands[path[-1]]
    command.make_context(path[-1], words)  # parses the words, and does nothing


def test_extras_that_are_named_exist() -> None:
    """Everything that a page or a message tells people to install can be installed."""
    texts = [file.read_text("utf-8") for file in PAGES]
    texts += [file.read_text("utf-8") for file in (ROOT / "src").rglob("*.py")]
    named = {
        extra
        for text in texts
        for extras in re.findall(r"waitroom\[([a-z,]+)\]", text)
        for extra in extras.split(",")
    }
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert {"desk", "server", "embedded"} <= named <= set(project["optional-dependencies"])
