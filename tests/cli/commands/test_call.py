"""`call`: one ticket."""

from __future__ import annotations

from tests.cli.conftest import Cli
from waitroom.models import Mode, Policy


def test_call(cli: Cli, room: str) -> None:
    """One ticket is called by its id, from anywhere in the line."""
    views = cli.fill(room, Policy(mode=Mode.PAUSED), 3)
    code, text = cli.error("call", room, views[2].id)
    assert (1, True) == (code, "resume it, or force it" in text)
    assert f"Called {views[2].id}: may enter until 20" in cli.text(
        "call", room, views[2].id, "--force"
    )
    reply = cli.json("call", room, views[1].id, "--force")
    assert (views[1].id, True) == (reply["id"], reply["enter_by_ms"] > 0)
    assert 1 == cli.error("call", room, "0123456789abcdef")[0]
