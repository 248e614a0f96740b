"""`reinstate` and `find`: one person among all."""

from __future__ import annotations

from tests.cli.conftest import Cli
from waitroom.models import Mode, Policy
from waitroom.short_codes import code_of


def test_given_back(cli: Cli, room: str) -> None:
    """Somebody kicked by mistake waits at the old place again; an unknown person is refused."""
    views = cli.fill(room, Policy(mode=Mode.PAUSED), 3)
    cli.text("kick", room, views[1].id)
    assert f"{views[1].id} waits again, at position 2 of 3." in cli.text(
        "reinstate", room, views[1].id
    )
    code, text = cli.error("reinstate", room, views[1].id)
    assert (1, True) == (code, "is waiting" in text)
    code, text = cli.error("reinstate", room, "0123456789abcdef")
    assert (1, True) == (code, "no record of this ticket" in text)
    reply = cli.json("reinstate", room, "0123456789abcdef", "--force")
    assert (4, 4) == (reply["position"], reply["waiting"])


def test_a_ban_is_lifted_when_that_is_said(cli: Cli, room: str) -> None:
    """Not without the option."""
    views = cli.fill(room, Policy(mode=Mode.PAUSED), 2)
    cli.text("kick", room, views[0].id, "--ban")
    assert "banned" in cli.error("reinstate", room, views[0].id)[1]
    assert 1 == cli.json("reinstate", room, views[0].id, "--lift-ban")["position"]


def test_found(cli: Cli, room: str) -> None:
    """In any room, by code or id."""
    views = cli.fill(room, Policy(mode=Mode.PAUSED), 3)
    person = views[1]
    for words in (person.id, code_of(person.id)):
        lines = [line for line in cli.text("find", words).splitlines() if room in line]
        assert 1 == len(lines)
        assert f"{code_of(person.id)}  {person.id}  waiting, position 2, since 20" in lines[0]
    cli.text("kick", room, person.id)
    (match,) = cli.json("find", person.id)["matches"]
    assert (room, "gone", "kicked") == (match["room"], match["state"], match["reason"])


def test_nobody(cli: Cli) -> None:
    """It says so, and ends with 1."""
    result = cli.run("find", "nobody.at.all@example.com")
    assert (1, "No match in any room.\n") == (result.exit_code, result.stdout)
