"""`rooms`: all rooms in one table."""

from __future__ import annotations

from tests.cli.conftest import Cli
from waitroom.engine import keys
from waitroom.models import preset


def test_rooms(cli: Cli, room: str) -> None:
    """A line per room, numbers aligned to the right."""
    cli.fill(room, preset("per-minute", capacity=2000), 12)
    lines = cli.text("rooms").splitlines()
    heading = next(line for line in lines if line.startswith("room "))
    line = next(line for line in lines if line.startswith(f"{room} "))
    expected = f"{room} open 0 12 0 2,000 10 per 6 s 100 per 1 min 1"
    assert expected == " ".join(line.split())
    for name in ("waiting", "called", "capacity", "rolling limit"):
        assert line[heading.index(name) + len(name) - 1].isalnum()
    (shown,) = (entry for entry in cli.json("rooms")["rooms"] if entry["name"] == room)
    assert (100, 12) == (shown["policy"]["max_entries"], shown["stats"]["called"])


def test_a_broken_room_hides_no_other(cli: Cli, room: str) -> None:
    """A key of another type spoils one line, not the table."""
    cli.text("room", "create", f"{room}-good")
    cli.text("room", "create", f"{room}-bad")
    key = keys.room_key(f"{room}-bad", "waiting")
    cli.engine(lambda engine: engine.backend.client.execute_command("SET", key, "x"))
    try:
        result = cli.run("rooms")
        assert (0, True) == (result.exit_code, f"{room}-good" in result.stdout)
        assert f"! {room}-bad: the key `waiting` of this room holds another type" in result.stderr
        (problem,) = cli.json("rooms")["problems"]
        assert (f"{room}-bad", "broken_room") == (problem["room"], problem["code"])
    finally:
        cli.engine(lambda engine: engine.backend.client.execute_command("DEL", key))
