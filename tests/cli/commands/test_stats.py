"""`stats`: a room's numbers."""

from __future__ import annotations

from tests.cli.conftest import Cli
from waitroom.models import Policy


def test_stats(cli: Cli, room: str) -> None:
    """Numbers next to their limits, then what has happened so far."""
    cli.fill(room, Policy(capacity=2, max_entries=50, per_s=90, queue_limit=9), 5, enter=1)
    lines = [" ".join(line.split()) for line in cli.text("stats", room).splitlines()]
    assert lines[0].startswith(f"{room}, open, version 1, 20")
    assert lines[2].startswith("waiting 3 of 9")
    assert ["called 1", "inside 1 of 2 with those called"] == lines[3:5]
    assert "entries in 1 min 30 s 1 of 50" == lines[5]
    assert {"joined 5", "called 2", "entered 1", "no show 0"} <= set(lines)
    stats = cli.json("stats", room)
    assert (3, 1, 1, 5) == (
        stats["waiting"],
        stats["called"],
        stats["inside"],
        stats["counters"]["joined"],
    )


def test_watch_is_not_one_document(cli: Cli, room: str) -> None:
    """--watch and --json contradict each other."""
    code, text = cli.error("stats", room, "--watch", "--json")
    assert (2, True) == (code, "watch: --json prints one document" in text)
