"""docs/on-sale-day.md is true: its commands run unchanged, in order."""

from __future__ import annotations

import re
import secrets
import shlex
from pathlib import Path

from tests.cli.conftest import Cli
from waitroom.models import Policy

TEXT = (Path(__file__).parents[2] / "docs" / "on-sale-day.md").read_text("utf-8")
COMMANDS = re.findall(r"`waitroom ([^`]+)`", TEXT)
ELSEWHERE = ("rehearse ", "apply", "report ")
"""Commands with their own tests that need minutes, or a file."""


def test_the_commands_of_the_day(cli: Cli) -> None:
    """Each does what the list says, from the first key to the last room."""
    policy = Policy(batch=100, every_s=10, capacity=500, time_zone="Asia/Seoul")
    room, key_id = f"t-{secrets.token_hex(6)}", ""
    cli.fill(room, policy, 3)
    for command in COMMANDS:
        if command.startswith(ELSEWHERE):
            continue
        words = shlex.split(command.replace("concert", room).replace("ID", key_id))
        typed = f"{room}\n" if words[:2] == ["room", "drop"] else "y\n"
        said = cli.text(*words, typed=typed)
        if words[:2] == ["key", "create"]:
            key_id = re.findall(r"wr_([0-9a-f]+)_", said)[0]
        if words[:2] == ["room", "set"]:
            _, _, _, *changes = words
            now = cli.json("room", "show", room)["policy"]
            for option, value in zip(changes[::2], changes[1::2], strict=True):
                want = None if value == "none" else value
                shown = now[option[2:].replace("-", "_")]
                assert want == (shown and str(shown)), command
    assert 1 == cli.run("room", "show", room).exit_code
