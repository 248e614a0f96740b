"""`kick`: named tickets, or a state and ages."""

from __future__ import annotations

import threading

import pytest

from tests.cli.conftest import Cli
from waitroom.engine import Engine
from waitroom.models import Mode, Policy, State


def test_kick_by_id(cli: Cli, room: str) -> None:
    """Named tickets are removed without a question, wherever they are."""
    ids = [view.id for view in cli.fill(room, Policy(capacity=2), 5, enter=1)]
    text = cli.text("kick", room, ids[0], ids[4], "0123456789abcdef")
    assert "Removed 2 people; 1 was not there.\n" == text
    assert {"name": room, "found": 1, "kicked": 1} == cli.json("kick", room, ids[3])


def test_kick_asks(cli: Cli, room: str) -> None:
    """It says first how many are affected; only a yes removes them."""
    cli.fill(room, Policy(mode=Mode.PAUSED), 3)
    for typed in ("n\n", "\n", ""):
        result = cli.run("kick", room, "--state", "waiting", typed=typed)
        assert (1, "") == (result.exit_code, result.stdout)
        assert f"Remove 3 people who are waiting in {room}? [y/N]: " in result.stderr
        assert "Stopped; nothing was changed." in result.stderr
    assert "Removed 3 people.\n" == cli.text("kick", room, "--state", "waiting", typed="y\n")
    assert "Removed 0 people.\n" == cli.text("kick", room, "--state", "waiting")


def test_kick_by_age(cli: Cli, room: str) -> None:
    """Only people of that age are found, in pages, and newcomers stay."""
    cli.fill(room, Policy(mode=Mode.PAUSED), 1200)
    assert (
        0 == cli.json("kick", room, "--state", "waiting", "--older-than", "1h", "--yes")["kicked"]
    )
    reply = cli.json("kick", room, "--state", "waiting", "--newer-than", "1h", "--yes")
    assert {"name": room, "found": 1200, "kicked": 1200} == reply
    assert 0 == cli.json("stats", room)["waiting"]


def test_kick_a_state_spares_who_moves_up(cli: Cli, room: str) -> None:
    """The places of removed people are reassigned at once; the new holders are not removed too."""
    views = cli.fill(room, Policy(capacity=600), 1500)
    reply = cli.json("kick", room, "--state", "called", "--yes")
    assert {"name": room, "found": 600, "kicked": 600} == reply
    stats = cli.json("stats", room)
    assert 900 == stats["waiting"] + stats["called"]
    left = {
        ticket["id"]
        for state in ("waiting", "called")
        for ticket in cli.json("list", room, "--all", "--state", state)["tickets"]
    }
    assert {view.id for view in views if view.state is State.WAITING} == left


def test_kick_spares_who_went_inside(cli: Cli, room: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Anybody who goes inside during the question no longer waits, and stays."""
    views = cli.fill(room, Policy(mode=Mode.MANUAL), 3)

    def answer(_self: object, _question: str, _yes: bool) -> None:
        """Admit the first person meanwhile, in another thread's loop."""

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
        ("--state waiting --ban", "ban: is for named tickets; give their ids"),
        ("--state left", "state: 'left' is not one of waiting, called, inside"),
    ],
)
def test_bad_kicks(cli: Cli, room: str, words: str, message: str) -> None:
    """It must be clear who is meant before anybody is removed."""
    code, text = cli.error("kick", room, *words.split())
    assert (2, True) == (code, message in text), text
