"""`list`: who is where."""

from __future__ import annotations

import re
import time

import pytest

from tests.cli.conftest import Cli
from waitroom.models import BeforeOpen, Mode, Policy
from waitroom.moments import from_ms
from waitroom.short_codes import code_of


def test_list_in_order(cli: Cli, room: str) -> None:
    """Waiting people come in order, a page at a time, with a cursor for the next."""
    ids = [view.id for view in cli.fill(room, Policy(mode=Mode.PAUSED), 5)]
    result = cli.run("list", room, "--limit", 2)
    heading, *lines = result.stdout.splitlines()
    assert ["id", "code", "arrived", "waited", "last", "seen"] == heading.split()
    assert ids[:2] == [line.split()[0] for line in lines]
    (cursor,) = re.findall(r"More with --after (\d+), or --all.", result.stderr)
    assert ids[2:] == [
        line.split()[0] for line in cli.text("list", room, "--after", cursor).splitlines()[1:]
    ]
    page = cli.json("list", room, "--all")
    assert (ids, None) == ([ticket["id"] for ticket in page["tickets"]], page["after"])


def test_list_called_and_inside(cli: Cli, room: str) -> None:
    """Others come by their deadline; a session shows its id."""
    ids = [view.id for view in cli.fill(room, Policy(), 3, enter=1)]
    called = cli.json("list", room, "--state", "called")["tickets"]
    assert set(ids[1:]) == {ticket["id"] for ticket in called}
    (inside,) = cli.json("list", room, "--state", "inside")["tickets"]
    assert ["id", "short_code", "state", "until_ms", "sid"] == list(inside)
    text = cli.text("list", room, "--state", "inside")
    assert text.splitlines()[1].startswith(ids[0])
    assert text.endswith(f" {inside['sid']}\n")
    assert "enter by" in cli.text("list", room, "--state", "called")


def test_list_more_than_a_page(cli: Cli, room: str) -> None:
    """A limit above what one script may touch takes several calls."""
    views = cli.fill(room, Policy(mode=Mode.PAUSED), 1200)
    ids = [view.id for view in sorted(views, key=lambda view: view.position or 0)]
    for words, count in (("--limit 700", 700), ("--all", 1200)):
        tickets = cli.json("list", room, *words.split())["tickets"]
        assert ids[:count] == [ticket["id"] for ticket in tickets]
    assert 701 == len(cli.text("list", room, "--limit", 700).splitlines())


def test_list_nobody(cli: Cli, room: str) -> None:
    """An empty list says so."""
    cli.text("room", "create", room)
    assert "Nobody is waiting.\n" == cli.text("list", room)
    assert {"name": room, "state": "called", "tickets": [], "after": None} == cli.json(
        "list", room, "--state", "called"
    )


def test_list_by_age(cli: Cli, room: str) -> None:
    """Ages select among waiting people."""
    cli.fill(room, Policy(mode=Mode.PAUSED), 3)
    assert "Nobody" in cli.text("list", room, "--older-than", "1h")
    assert 3 == len(cli.json("list", room, "--newer-than", "1h")["tickets"])
    assert 3 == len(cli.json("list", room, "--older-than", "0")["tickets"])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--state gone", "state: 'gone' is not one of waiting, called, inside"),
        ("--limit 0", "Invalid value for '--limit'"),
        ("--after x", "after: must be the cursor of an earlier page"),
        ("--older-than old", "older-than: 'old' is not an age of up to 366 days; write 90s, 10m"),
        ("--older-than 1h --newer-than 1m", "must be less than --newer-than"),
        ("--state called --newer-than 1m", "newer-than: ages are known of waiting people only"),
    ],
)
def test_bad_lists(cli: Cli, room: str, words: str, message: str) -> None:
    """Each message names the option and what is allowed."""
    cli.text("room", "create", room)
    code, text = cli.error("list", room, *words.split())
    assert (2, True) == (code, message in text), text


@pytest.mark.attack
def test_list_hides_a_draw(cli: Cli, room: str) -> None:
    """Before the opening of a draw tickets come by id, without a place, and not by age."""
    opens_at_ms = time.time_ns() // 10**6 + 3_600_000
    policy = Policy(opens_at=from_ms(opens_at_ms), before_open=BeforeOpen.DRAW)
    ids = sorted(view.id for view in cli.fill(room, policy, 5))
    page = cli.json("list", room, "--all")
    assert ids == [ticket["id"] for ticket in page["tickets"]]
    assert {None} == {ticket["place"] for ticket in page["tickets"]}
    assert 5 == cli.text("list", room).count("hidden until the opening")
    for words in (("list", room), ("kick", room, "--state", "waiting", "--yes")):
        code, message = cli.error(*words, "--newer-than", "1h")
        assert (1, True) == (code, "places are drawn until the room opens" in message)


def test_by_code(cli: Cli, room: str) -> None:
    """A short code finds its ticket in any state, and `call` and `kick` accept it as the id."""
    first, second = cli.fill(room, Policy(mode=Mode.MANUAL), 2)
    code = code_of(first.id)
    (ticket,) = cli.json("list", room, "--code", code)["tickets"]
    assert (first.id, code, "waiting") == (ticket["id"], ticket["short_code"], ticket["state"])
    assert f"Called {first.id}" in cli.text("call", room, code.lower())
    heading, line = cli.text("list", room, "--code", code).splitlines()
    assert ("called", [first.id, code]) == (heading.split()[0], line.split()[:2])
    assert "Removed 1 person" in cli.text("kick", room, code_of(second.id))
    assert "Nobody in" in cli.text("list", room, "--code", code_of(second.id))
    status, message = cli.error("kick", room, code_of(second.id))
    assert (2, True) == (status, "nobody in the room has the code" in message)
