"""`audit`: who did what, on the screen and as JSON lines."""

from __future__ import annotations

import json
import os
import platform
import pwd
from typing import Any

import pytest

from tests.cli.conftest import Cli
from waitroom.engine import Engine
from waitroom.engine.audit import SIGN_IN, Entry

USER = pwd.getpwuid(os.getuid()).pw_name


def exported(cli: Cli, *words: str) -> list[dict[str, Any]]:
    """Return the lines of an export."""
    return [json.loads(line) for line in cli.text("audit", "--export", *words).splitlines()]


def write(cli: Cli, room: str, count: int, action: str = "room.change") -> None:
    """Write entries."""

    async def work(engine: Engine) -> None:
        for number in range(count):
            await engine.audit.append(
                Entry(
                    key_id="abc",
                    key_name="box office",
                    role="operator",
                    action=action,
                    room=room,
                    detail={"number": number},
                )
            )

    cli.engine(work)


def test_newest_first(cli: Cli, room: str) -> None:
    """The newest entries come first: on the screen with who, when and what, and as JSON."""
    cli.text("room", "create", room)
    cli.text("room", "set", room, "--capacity", 7)
    shown = cli.json("audit", "--room", room)["entries"]
    assert ["room.change", "room.create"] == [entry["action"] for entry in shown]
    (newest,) = cli.json("audit", "--room", room, "--limit", 1)["entries"]
    assert shown[0] == newest
    assert (USER, platform.node()) == (newest["key_name"], newest["address"])
    line = cli.text("audit", "--room", room).splitlines()[1]
    assert all(word in line for word in (USER, "cli", "room.change", room, '"new": 7'))
    assert "There are no entries" in cli.text("audit", "--room", f"{room}-other")


def test_export(cli: Cli, room: str) -> None:
    """All kept entries come out, oldest first, one object per line; the summary goes to stderr."""
    write(cli, room, 1_100)
    result = cli.run("audit", "--export", "--room", room)
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    assert [*range(1_100)] == [line["detail"]["number"] for line in lines]
    assert "Exported 1,100 entries." in result.stderr
    assert {"id", "at_ms", "key_id", "key_name", "role", "way", "action", "room"} < set(lines[0])


def test_since(cli: Cli, room: str) -> None:
    """Both take an age or a time to start from."""
    write(cli, room, 3)
    at_ms = exported(cli, "--room", room)[-1]["at_ms"]
    assert 3 == len(exported(cli, "--room", room, "--since", "1h"))
    assert [] == exported(cli, "--room", room, "--since", str(at_ms + 1))
    assert [] == cli.json("audit", "--room", room, "--since", str(at_ms + 1))["entries"]
    assert 3 == len(cli.json("audit", "--room", room, "--since", "1d")["entries"])
    for wrong in ("yesterday", "inf", "12"):
        assert 2 == cli.error("audit", "--since", wrong)[0]


def test_sign_ins(cli: Cli, room: str) -> None:
    """Sign-ins have their own log."""
    write(cli, room, 2, SIGN_IN)
    assert [] == exported(cli, "--room", room)
    assert 2 == len(exported(cli, "--room", room, "--sign-ins"))
    assert 2 == len(cli.json("audit", "--room", room, "--sign-ins")["entries"])


def test_export_has_no_json(cli: Cli) -> None:
    """An export is JSON lines, not one document."""
    result = cli.run("audit", "--export", "--json")
    assert (2, "") == (result.exit_code, result.stdout)


@pytest.mark.attack
def test_nobody_acts_under_another_name(cli: Cli, room: str) -> None:
    """The user is the one the system knows, whatever the environment says."""
    named = {"LOGNAME": "mallory", "USER": "mallory", "LNAME": "mallory", "USERNAME": "mallory"}
    Cli(cli.url, {**named}).text("room", "create", room)
    (entry,) = cli.json("audit", "--room", room)["entries"]
    assert USER == entry["key_name"]
