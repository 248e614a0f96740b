"""Ids on the command line."""

from __future__ import annotations

from tests.cli.conftest import Cli
from waitroom.cli import tickets
from waitroom.models import Policy


def test_ids_may_begin_with_a_dash(cli: Cli, room: str) -> None:
    """An id like `-bcdefghijklmnop` is not an option; a mistyped option is still found."""
    cli.text("room", "create", room)
    assert 1 == cli.error("call", room, "-bcdefghijklmnop")[0]
    assert 0 == cli.json("kick", room, "--cdefghijklmnop")["kicked"]
    code, text = cli.error("kick", room, "--forse")
    assert (2, True) == (code, "'--forse' is neither an option nor an id" in text)


def test_the_length_of_ids(cli: Cli, room: str) -> None:
    """Ids are as long as the command line expects."""
    (view,) = cli.fill(room, Policy(), 1)
    assert tickets.ID_LENGTH == len(view.id)
