"""`plan`: the numbers on the screen, `--json`, and the command that it recommends."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from waitroom.models import Policy

DOCS = Path(__file__).parents[3] / "docs"


@pytest.fixture
def away() -> Cli:
    """Run commands where no server answers."""
    return Cli("redis://127.0.0.1:1")


def test_the_example_needs_no_options_and_no_server(away: Cli) -> None:
    """`waitroom plan` alone shows every number of the document, and the verdict."""
    text = away.text("plan")
    for shown in [
        "43,478",
        "40,000",
        "32,000",
        "375",
        "54,348",
        "50,000",
        "8,334",
        "1,389",
        "1,400",
        "42,000",
        "1,067",
    ]:
        assert shown in text
    assert "✗ 1,400 per 10 s puts 42,000 people inside at once; your target is 32,000" in text


def test_json_has_everything(away: Cli) -> None:
    """Programs get inputs, both chains, both paces, verdict, settings and assumptions."""
    plan = away.json("plan", "--batch", 1_000, "--room", "sale")
    assert (43_478, 40_000) == (
        int(plan["document"]["exact"]["concurrent"]),
        plan["document"]["rounded"]["concurrent"],
    )
    assert (1_000, 1_067) == (plan["judged"]["batch"], plan["recommended"]["batch"])
    assert ("holds", "sale") == (plan["verdict"]["word"], plan["settings"]["room"])
    assert {"bytes_per_waiter": 138, "poll_s": 30, "poll_in_front_s": 3} == plan["assumed"]
    assert {"inputs", "document", "judged", "recommended", "verdict", "settings", "assumed"} == set(
        plan
    )


def test_every_option_arrives(away: Cli) -> None:
    """Each option is the figure of its name; durations may have units."""
    words = (
        "--tps 400 --session-s 4m --calls 9 --failure-rate 0.1 --target 0.7 --headroom 0.2 "
        "--crowd 5000 --arrive-s 2m --every-s 5s --batch 20"
    )
    wanted = {
        "tps": 400,
        "session_s": 240,
        "calls": 9,
        "failure_rate": 0.1,
        "target": 0.7,
        "headroom": 0.2,
        "crowd": 5_000,
        "arrive_s": 120,
        "every_s": 5,
        "batch": 20,
    }
    assert wanted == away.json("plan", *words.split())["inputs"]


def test_the_command_can_be_typed(cli: Cli, room: str) -> None:
    """The recommended command makes a room with the recommended policy."""
    settings = cli.json("plan", "--room", room)["settings"]
    cli.text(*settings["command"].split()[1:])
    made = cli.json("room", "show", room)["policy"]
    assert settings["policy"] == made
    assert 1_067 == Policy(**made).batch


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--tps 0", "tps: 0.0 is not allowed; it takes a number above 0"),
        ("--tps nan", "tps: nan is not allowed"),
        ("--tps 1e999", "tps: inf is not allowed"),
        ("--failure-rate 15", "write 15 % as 0.15"),
        ("--target 80", "write 80 % as 0.8"),
        ("--session-s soon", "session_s: 'soon' is not a length of time; write 90, or like 90s"),
        ("--every-s nan", "every_s: nan is not allowed"),
        ("--arrive-s -5", "arrive_s: -5.0 is not allowed"),
        ("--batch 50000", "give at most 43,478, or leave it out to get one that holds"),
        ("--crowd many", "Invalid value for '--crowd'"),
        ("--room a/b", "room: 'a/b' is not a room name"),
    ],
)
def test_errors(away: Cli, words: str, message: str) -> None:
    """Impossible input is explained on stderr with code 2, and nothing is computed."""
    code, text = away.error("plan", *words.split())
    assert (2, True) == (code, message in text), text


def test_people_all_at_once_with_one_pace(away: Cli) -> None:
    """If the judged pace is the recommended one, it is shown once."""
    text = away.text("plan", "--arrive-s", 0, "--batch", 1_067)
    assert "come all at once" in text
    assert 1 == len(re.findall(r"^what comes of it.*$", text, re.MULTILINE))
    assert "✓ 1,067 per 10 s" in text


@pytest.mark.parametrize("page", ["cli.md", "planning.md"])
def test_docs_show_what_is_printed(away: Cli, page: str) -> None:
    """The command above prints every line of output in the docs, in that order."""
    text = (DOCS / page).read_text("utf-8")
    examples = re.findall(r"^\$ waitroom (plan.*)\n((?:.*\n)*?)(?=\$ |```)", text, re.MULTILINE)
    assert any(shown for _, shown in examples)
    for words, shown in examples:
        wanted = [line for line in shown.splitlines() if line not in ("", "…")]
        printed = [line.rstrip() for line in away.text(*words.split()).splitlines()]
        assert wanted == [line for line in printed if line in wanted]
