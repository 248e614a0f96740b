"""`report`: a sale in a real room, with and without its archive."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from tests.report.archives import lines_of
from tests.report.test_sale_page import REHEARSAL
from waitroom.archive import files as archive
from waitroom.engine import Engine
from waitroom.report.tables import TABLES

START = "0-0"


def sell(cli: Cli, room: str, folder: Path) -> Cli:
    """Sell to four people, two at a time, and archive what the room reports."""
    cli.text("room", "create", room, "--capacity", 2, "--session-s", 60)

    async def work(engine: Engine) -> None:
        views = [await engine.join(room) for _ in range(4)]
        for view in views[:2]:
            await engine.enter(room, view.ticket)
            await engine.finish(room, view.ticket)
        await engine.advance(room)
        await engine.enter(room, views[2].ticket)
        await engine.leave(room, views[3].ticket)
        page = await engine.events(room, START)
        policy = (await engine.room(room)).policy
        opened = {"policy": policy.as_dict()}
        archive.write(folder, room, lines_of(room, page.events), opened)

    cli.engine(work)
    return Cli(cli.url, {"WAITROOM_ARCHIVE": str(folder)})


def test_a_sale(cli: Cli, room: str, tmp_path: Path) -> None:
    """Counts, waits and promises from a complete archive; actions are named."""
    cli = sell(cli, room, tmp_path)
    figures = cli.json("report", room, "--since", "1h")
    assert [] == figures["missing"]
    assert "PASS" == figures["verdict"]
    people = {"joined": 4, "called_total": 4, "entered": 3, "finished": 2, "left": 1}
    assert people == {name: count for name, count in figures["people"].items() if count}
    assert 4 == figures["wait_s"]["called"]
    assert ["room.create"] == [action["action"] for action in figures["actions"]]
    text = cli.text("report", room)
    assert text.startswith("✓ Every promise was kept.")
    assert "4 people came, 4 were called, and 3 went in." in text


def test_without_an_archive(cli: Cli, room: str, tmp_path: Path) -> None:
    """The first line says that it is incomplete, the next why; the exit code is no failure."""
    sell(cli, room, tmp_path)
    first, second = cli.text("report", room).splitlines()[:2]
    assert first.startswith("? Incomplete")
    assert "set `archive` to a folder" in second
    assert {"incomplete"} == {p["verdict"] for p in cli.json("report", room)["promises"]}


def test_a_broken_promise(cli: Cli, room: str, tmp_path: Path) -> None:
    """Then the exit code is 1, as for a rehearsal."""
    cli = sell(cli, room, tmp_path)
    path = next((tmp_path / room).iterdir())
    path.write_bytes(path.read_bytes().replace(b'"capacity": 2', b'"capacity": 1', 1).replace(
        b'"capacity":2', b'"capacity":1', 1))  # fmt: skip
    result = cli.run("report", room)
    assert 1 == result.exit_code
    assert result.stdout.startswith("✗ A promise was broken.")


def test_files(cli: Cli, room: str, tmp_path: Path) -> None:
    """HTML in one file; CSV as a folder of tables, or the timeline in a file."""
    cli = sell(cli, room, tmp_path / "archive")
    html, tables, line = tmp_path / "r.html", tmp_path / "tables", tmp_path / "line.csv"
    given = cli.json("report", room, "--out", str(html), "--csv", str(tables))
    assert "✓ PASS" in html.read_text("utf-8")
    assert {f"{name}.csv" for name in TABLES} == {path.name for path in tables.iterdir()}
    assert 1 + len(TABLES) == len(given["files"])
    cli.text("report", room, "--csv", str(line))
    assert "at" == next(csv.reader([line.read_text("utf-8")]))[0]


def test_beside_the_plan(cli: Cli, room: str, tmp_path: Path) -> None:
    """A saved rehearsal is shown next to the actual figures, and so is a scenario."""
    cli = sell(cli, room, tmp_path)
    saved = tmp_path / "plan.json"
    saved.write_text(json.dumps(REHEARSAL))
    assert 5_000 == cli.json("report", room, "--plan", str(saved))["plan"]["people"]
    assert "rehearsal spring" in cli.text("report", room, "--plan", str(saved))
    scenario = tmp_path / "small.toml"
    scenario.write_text(
        'lasts_s = 60\n[room]\ncapacity = 5\n[[arrivals]]\nkind = "spike"\npeople = 12\n'
    )
    assert 12 == cli.json("report", room, "--plan", str(scenario))["plan"]["people"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--since", "40d"), "30 days"),
        (("--since", "1h", "--until", "2h"), "must be after the beginning"),
        (("--since", "soon"), "is not a time"),
        (("--plan", "/nowhere.json"), "cannot be read"),
        (("--out", "/nowhere/at/all.html"), "there is no folder /nowhere/at"),
        (("--csv", "/nowhere/at/all"), "there is no folder /nowhere/at"),
    ],
)
def test_what_is_refused(cli: Cli, room: str, words: tuple[str, ...], message: str) -> None:
    """In one sentence that says what is wrong."""
    cli.text("room", "create", room)
    code, error = cli.error("report", room, *words)
    assert 2 == code
    assert message in error


def test_a_room_that_is_not_there(cli: Cli, room: str) -> None:
    """It is named."""
    code, error = cli.error("report", room)
    assert 1 == code
    assert room in error


def test_an_empty_room(cli: Cli, room: str) -> None:
    """Nobody came: it says so, and nothing breaks."""
    cli.text("room", "create", room)
    assert "Nobody came, and nobody was called." in cli.text("report", room)
