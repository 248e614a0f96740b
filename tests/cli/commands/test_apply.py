"""`apply`: the difference first, then exactly that, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from waitroom.engine import Engine


@pytest.fixture
def file(tmp_path: Path, room: str) -> str:
    """Declare two rooms."""
    path = tmp_path / "rooms.toml"
    path.write_text(
        f'[rooms.{room}-a]\npreset = "slots"\ncapacity = 80\n[rooms.{room}-b]\nqueue_limit = 9\n'
    )
    return str(path)


def lines(text: str) -> list[str]:
    """Return the words of each line."""
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]


def test_plan_create_change_unchanged(cli: Cli, room: str, file: str) -> None:
    """New, different and equal rooms each have their sign."""
    cli.json("room", "create", f"{room}-a", "--preset", "slots", "--session-s", "5m")
    result = cli.run("apply", file, typed="y\n")
    shown = lines(result.stdout)
    expected = [
        f"~ {room}-a",
        "capacity 50 → 80",
        "session_s 300 s (5 min) → 600 s (10 min)",
        f"+ {room}-b",
        "queue_limit 9",
    ]
    assert expected == shown[:5]
    assert shown[5].startswith("1 to create, 1 to change, 0 unchanged")
    assert "Applied." == shown[-1]
    assert "Apply to 2 rooms? [y/N]" in result.stderr
    assert 80 == cli.json("room", "show", f"{room}-a")["policy"]["capacity"]
    again = lines(cli.text("apply", file))
    assert [f"= {room}-a unchanged", f"= {room}-b unchanged"] == again[:2]
    assert 2 == cli.json("room", "show", f"{room}-a")["version"]


def test_no_is_no(cli: Cli, room: str, file: str) -> None:
    """Without a yes nothing is done."""
    assert 1 == cli.run("apply", file, typed="\n").exit_code
    assert f"{room}-a" not in cli.engine(Engine.rooms)


def test_dry_run(cli: Cli, room: str, file: str) -> None:
    """A dry run asks nothing and does nothing, also as JSON."""
    assert "2 to create" in cli.text("apply", file, "--dry-run")
    plan = cli.json("apply", file, "--dry-run")
    assert (False, ["create", "create"]) == (
        plan["applied"],
        [step["action"] for step in plan["steps"]],
    )
    assert f"{room}-a" not in cli.engine(Engine.rooms)


def test_as_json(cli: Cli, room: str, file: str) -> None:
    """Programs must pass --yes, and get every step with its fields."""
    code, text = cli.error("apply", file, "--json")
    assert (2, True) == (code, "--json cannot ask; give --yes" in text)
    assert cli.json("apply", file, "--yes")["applied"]
    cli.json("room", "set", f"{room}-b", "--mode", "paused")
    reply = cli.json("apply", file, "--yes")
    changed = {step["room"]: step["changed"] for step in reply["steps"]}
    opened = {"mode": {"old": "paused", "new": "open"}}
    assert {f"{room}-a": {}, f"{room}-b": opened} == changed
    assert cli.json("apply", file)["applied"] is False  # nothing to do, so nothing to ask


def test_other_rooms_are_left_alone(cli: Cli, room: str, file: str) -> None:
    """A room that the file does not name stays unchanged, and is counted."""
    cli.json("room", "create", f"{room}-other", "--capacity", 3)
    assert 1 <= cli.json("apply", file, "--yes")["left_alone"]
    assert 1 == cli.json("room", "show", f"{room}-other")["version"]


def test_it_is_in_the_audit_log(cli: Cli, room: str, file: str) -> None:
    """Each created or changed room has its line."""
    cli.json("apply", file, "--yes")
    page = cli.engine(lambda engine: engine.audit.page(room=f"{room}-a"))
    assert ["room.create"] == [entry.action for entry in page.entries]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "declares no rooms; write tables like [rooms.concert]"),
        ("[rooms.x]\ncapacity = 0\n", "rooms.x.capacity: 0 is not allowed"),
        ("[rooms.x\n", "is not TOML"),
        ("[room.x]\n", "only tables [waitroom] and [rooms.<name>]"),
    ],
)
def test_bad_files(cli: Cli, tmp_path: Path, text: str, message: str) -> None:
    """A meaningless file is refused before the server is asked."""
    path = tmp_path / "bad.toml"
    path.write_text(text)
    code, shown = cli.error("apply", str(path))
    assert (2, True) == (code, message in shown), shown


def test_no_file(cli: Cli, tmp_path: Path) -> None:
    """So is a missing one."""
    code, text = cli.error("apply", str(tmp_path / "none.toml"))
    assert (2, True) == (code, "cannot be read" in text)
