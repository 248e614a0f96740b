"""`list`, `stats`, `admit`, `call` and `kick`."""

from __future__ import annotations

import re
import threading

import pytest

from tests.cli.conftest import Cli
from waitroom.cli import tickets
from waitroom.engine import Engine
from waitroom.models import Mode, Policy, State


def test_list_in_order(cli: Cli, room: str) -> None:
    """Those waiting come in their order, a page at a time, with a cursor for the next."""
    ids = [view.id for view in cli.fill(room, Policy(mode=Mode.PAUSED), 5)]
    result = cli.run("list", room, "--limit", 2)
    heading, *lines = result.stdout.splitlines()
    assert ["id", "arrived", "waited", "last", "seen"] == heading.split()
    assert ids[:2] == [line.split()[0] for line in lines]
    (cursor,) = re.findall(r"More with --after (\d+), or --all.", result.stderr)
    assert ids[2:] == [
        line.split()[0] for line in cli.text("list", room, "--after", cursor).splitlines()[1:]
    ]
    found = cli.json("list", room, "--all")
    assert (ids, None) == ([one["id"] for one in found["tickets"]], found["after"])


def test_list_called_and_inside(cli: Cli, room: str) -> None:
    """Others come by their deadline; a session shows its id."""
    ids = [view.id for view in cli.fill(room, Policy(), 3, enter=1)]
    called = cli.json("list", room, "--state", "called")["tickets"]
    assert set(ids[1:]) == {one["id"] for one in called}
    (inside,) = cli.json("list", room, "--state", "inside")["tickets"]
    assert ["id", "state", "until_ms", "sid"] == list(inside)
    text = cli.text("list", room, "--state", "inside")
    assert text.splitlines()[1].startswith(ids[0])
    assert text.endswith(f" {inside['sid']}\n")
    assert "enter by" in cli.text("list", room, "--state", "called")


def test_list_more_than_a_page(cli: Cli, room: str) -> None:
    """A limit above what one script may touch is met by several calls."""
    views = cli.fill(room, Policy(mode=Mode.PAUSED), 1200)
    ids = [view.id for view in sorted(views, key=lambda view: view.position or 0)]
    for words, count in (("--limit 700", 700), ("--all", 1200)):
        found = cli.json("list", room, *words.split())["tickets"]
        assert ids[:count] == [one["id"] for one in found]
    assert 701 == len(cli.text("list", room, "--limit", 700).splitlines())


def test_list_nobody(cli: Cli, room: str) -> None:
    """An empty list says so."""
    cli.text("room", "create", room)
    assert "Nobody is waiting.\n" == cli.text("list", room)
    assert {"name": room, "state": "called", "tickets": [], "after": None} == cli.json(
        "list", room, "--state", "called"
    )


def test_list_by_age(cli: Cli, room: str) -> None:
    """Ages choose among those waiting."""
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
        ("--older-than old", "older-than: 'old' is no age of up to 366 days; write 90s, 10m"),
        ("--older-than 1h --newer-than 1m", "must be less than --newer-than"),
        ("--state called --newer-than 1m", "newer-than: ages are known of waiting people only"),
    ],
)
def test_bad_lists(cli: Cli, room: str, words: str, message: str) -> None:
    """Each message names the option and what is allowed."""
    cli.text("room", "create", room)
    code, text = cli.error("list", room, *words.split())
    assert (2, True) == (code, message in text), text


def test_stats(cli: Cli, room: str) -> None:
    """Numbers beside their limits, then what has happened so far."""
    cli.fill(room, Policy(capacity=2, max_entries=50, per_s=90, queue_limit=9), 5, enter=1)
    lines = [" ".join(line.split()) for line in cli.text("stats", room).splitlines()]
    assert lines[0].startswith(f"{room}, open, version 1, 20")
    assert lines[2].startswith("waiting 3 of 9")
    assert ["called 1", "inside 1 of 2 with those called"] == lines[3:5]
    assert "entries in 1 min 30 s 1 of 50" == lines[5]
    assert {"joined 5", "called 2", "entered 1", "no show 0"} <= set(lines)
    found = cli.json("stats", room)
    assert (3, 1, 1, 5) == (
        found["waiting"],
        found["called"],
        found["inside"],
        found["counters"]["joined"],
    )


def test_watch_is_not_one_document(cli: Cli, room: str) -> None:
    """--watch and --json contradict each other."""
    code, text = cli.error("stats", room, "--watch", "--json")
    assert (2, True) == (code, "watch: --json prints one document" in text)


def test_admit(cli: Cli, room: str) -> None:
    """The first are called as far as capacity goes, beyond it only by force."""
    cli.fill(room, Policy(mode=Mode.MANUAL, capacity=4), 10)
    assert "Called 3 people; 7 still waiting.\n" == cli.text("admit", room, 3)
    assert "Called 1 person of the 5 asked for; 6 still waiting.\n" == cli.text("admit", room, 5)
    code, text = cli.error("admit", room, 1)
    assert (1, True) == (code, "leaves no room now; raise it, wait, or force it" in text)
    found = cli.json("admit", room, 2, "--force", "--op-id", "doors")
    expected = {"name": room, "asked": 2, "called": 2, "waiting": 4, "op_id": "doors"}
    assert expected == found
    assert expected == cli.json("admit", room, 2, "--force", "--op-id", "doors")


@pytest.mark.parametrize("count", ["0", "-5", "1000001"])
def test_admit_refuses_odd_counts(cli: Cli, room: str, count: str) -> None:
    """A count out of range is named with its range."""
    code, text = cli.error("admit", room, count)
    assert (2, f"Error: count: {count} is not allowed; it takes 1 to 1000000\n") == (code, text)


def test_call(cli: Cli, room: str) -> None:
    """One ticket is called by its id, from anywhere in the line."""
    views = cli.fill(room, Policy(mode=Mode.PAUSED), 3)
    code, text = cli.error("call", room, views[2].id)
    assert (1, True) == (code, "resume it, or force it" in text)
    assert f"Called {views[2].id}: may enter until 20" in cli.text(
        "call", room, views[2].id, "--force"
    )
    found = cli.json("call", room, views[1].id, "--force")
    assert (views[1].id, True) == (found["id"], found["enter_by_ms"] > 0)
    assert 1 == cli.error("call", room, "0123456789abcdef")[0]


def test_ids_may_begin_with_a_dash(cli: Cli, room: str) -> None:
    """An id like `-bcdefghijklmnop` is no option; a mistyped option is still found."""
    cli.text("room", "create", room)
    assert 1 == cli.error("call", room, "-bcdefghijklmnop")[0]
    assert 0 == cli.json("kick", room, "--cdefghijklmnop")["kicked"]
    code, text = cli.error("kick", room, "--forse")
    assert (2, True) == (code, "'--forse' is neither an option nor an id" in text)


def test_kick_by_id(cli: Cli, room: str) -> None:
    """Named tickets go without a question, wherever they are."""
    ids = [view.id for view in cli.fill(room, Policy(capacity=2), 5, enter=1)]
    text = cli.text("kick", room, ids[0], ids[4], "0123456789abcdef")
    assert "Removed 2 people; 1 had gone already.\n" == text
    assert {"name": room, "found": 1, "kicked": 1} == cli.json("kick", room, ids[3])


def test_kick_asks(cli: Cli, room: str) -> None:
    """How many are meant is said before they go; only a yes removes them."""
    cli.fill(room, Policy(mode=Mode.PAUSED), 3)
    for typed in ("n\n", "\n", ""):
        result = cli.run("kick", room, "--state", "waiting", typed=typed)
        assert (1, "") == (result.exit_code, result.stdout)
        assert f"Remove 3 people who are waiting in {room}? [y/N]: " in result.stderr
        assert "Stopped; nothing was changed." in result.stderr
    assert "Removed 3 people.\n" == cli.text("kick", room, "--state", "waiting", typed="y\n")
    assert "Removed 0 people.\n" == cli.text("kick", room, "--state", "waiting")


def test_kick_by_age(cli: Cli, room: str) -> None:
    """Only those of the age are found, in pages, and newcomers stay."""
    cli.fill(room, Policy(mode=Mode.PAUSED), 1200)
    assert (
        0 == cli.json("kick", room, "--state", "waiting", "--older-than", "1h", "--yes")["kicked"]
    )
    found = cli.json("kick", room, "--state", "waiting", "--newer-than", "1h", "--yes")
    assert {"name": room, "found": 1200, "kicked": 1200} == found
    assert 0 == cli.json("stats", room)["waiting"]


def test_kick_a_state_spares_who_moves_up(cli: Cli, room: str) -> None:
    """Places of removed people are given away at once; their new holders are not removed too."""
    views = cli.fill(room, Policy(capacity=600), 1500)
    found = cli.json("kick", room, "--state", "called", "--yes")
    assert {"name": room, "found": 600, "kicked": 600} == found
    stats = cli.json("stats", room)
    assert 900 == stats["waiting"] + stats["called"]
    left = {
        ticket["id"]
        for state in ("waiting", "called")
        for ticket in cli.json("list", room, "--all", "--state", state)["tickets"]
    }
    assert {view.id for view in views if view.state is State.WAITING} == left


def test_kick_spares_who_went_inside(cli: Cli, room: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever goes inside while the question stands is not waiting any more, and stays."""
    views = cli.fill(room, Policy(mode=Mode.MANUAL), 3)

    def answer(_self: object, _question: str, _yes: bool) -> None:
        """Take the first person in meanwhile, in another thread's loop."""

        async def meanwhile(engine: Engine) -> None:
            await engine.admit(room, 1)
            await engine.enter(room, views[0].ticket)

        other = threading.Thread(target=lambda: cli.engine(meanwhile))
        other.start()
        other.join()

    monkeypatch.setattr("waitroom.cli.command.Session.confirm", answer)
    assert "Removed 2 people; 1 had gone already.\n" == cli.text("kick", room, "--state", "waiting")
    assert 1 == cli.json("stats", room)["inside"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("", "ids: give ids of tickets, or --state waiting, called or inside"),
        ("--older-than 5m", "ids: give ids of tickets, or --state waiting, called or inside"),
        ("abc --state waiting", "ids: give either ids or a state and ages, not both"),
        ("--state inside --older-than 5m", "ages are known of waiting people only"),
        ("--state left", "state: 'left' is not one of waiting, called, inside"),
    ],
)
def test_bad_kicks(cli: Cli, room: str, words: str, message: str) -> None:
    """What is meant must be clear before anybody goes."""
    code, text = cli.error("kick", room, *words.split())
    assert (2, True) == (code, message in text), text


def test_the_length_of_ids(cli: Cli, room: str) -> None:
    """Ids are as long as the command line takes them to be."""
    (view,) = cli.fill(room, Policy(), 1)
    assert tickets.ID_LENGTH == len(view.id)
