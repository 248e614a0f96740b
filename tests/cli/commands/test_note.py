"""`waitroom note`: a line on a room's timeline."""

from __future__ import annotations

from tests.cli.conftest import Cli
from waitroom.models import Policy


def test_note(cli: Cli, room: str) -> None:
    """It is written to the room's audit log, and nowhere if the room does not exist."""
    cli.engine(lambda engine: engine.create(room, Policy()))
    assert f"Noted in {room}.\n" == cli.text("note", room, "doors  open")
    entry = cli.engine(lambda engine: engine.audit.page(room=room, limit=1)).entries[0]
    assert ("note", {"text": "doors open"}) == (entry.action, entry.detail)
    assert "there is no room" in cli.error("note", "nowhere", "x")[1]
    assert "takes 1 to 500 characters" in cli.error("note", room, " ")[1]
