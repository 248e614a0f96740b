"""`room create|set|undo|show|clear|drop`."""

from __future__ import annotations

import dataclasses
import os
import time
from typing import Any

import pytest

from tests.cli.conftest import Cli
from waitroom.engine import Engine, keys
from waitroom.models import POLICY_FIELDS, PRESETS, Policy, preset
from waitroom.moments import from_ms

VALUES: dict[str, tuple[list[str], Any]] = {
    "mode": (["--mode", "paused"], "paused"),
    "capacity": (["--capacity", "7"], 7),
    "batch": (["--batch", "5"], 5),
    "every_s": (["--every-s", "2.5"], 2.5),
    "max_entries": (["--max-entries", "1_000"], 1000),
    "per_s": (["--per-s", "1m"], 60),
    "session_s": (["--session-s", "1h30m"], 5400),
    "renewable": (["--renewable"], True),
    "longest_s": (["--longest-s", "1h"], 3_600),
    "enter_within_s": (["--enter-within-s", "none"], None),
    "presence_s": (["--presence-s", "90s"], 90),
    "return_s": (["--return-s", "5m"], 300),
    "recover_s": (["--recover-s", "0"], 0),
    "queue_limit": (["--queue-limit", "9"], 9),
    "ticket_ttl_s": (["--ticket-ttl-s", "2d"], 172_800),
    "idle_ttl_s": (["--idle-ttl-s", "500"], 500),
    "opens_at": (["--opens-at", "2030-03-01T20:00"], "2030-03-01T11:00:00.000Z"),
    "ends_at": (["--ends-at", "2030-03-01T23:00+09:00"], "2030-03-01T14:00:00.000Z"),
    "before_open": (["--before-open", "DRAW"], "draw"),
    "max_defers": (["--max-defers", "3"], 3),
    "once": (["--once"], True),
    "eta": (["--eta", "rate"], "rate"),
    "when_away": (["--when-away", "open"], "open"),
    "needs": (["--needs", "identity"], "identity"),
    "challenge": (["--challenge", "observe_work"], "observe_work"),
    "when_unverified": (["--when-unverified", "pass"], "pass"),
    "time_zone": (["--time-zone", "Asia/Seoul"], "Asia/Seoul"),
    "title": (["--title", "Concert [bold]2030[/]"], "Concert [bold]2030[/]"),
    "message": (["--message", "One.\nTwo."], "One.\nTwo."),
    "ready": (["--ready", "A card"], "A card"),
    "logo": (["--logo", "/Logo.svg"], "/Logo.svg"),
    "colour": (["--colour", "#0a5bd3"], "#0a5bd3"),
    "go_to": (["--go-to", "https://shop.example/In"], "https://shop.example/In"),
    "picture": (["--picture", "/Stage.webp"], "/Stage.webp"),
    "event_date": (["--event-date", "Fri 3 May 2030, 20:00"], "Fri 3 May 2030, 20:00"),
    "event_place": (["--event-place", "Olympic Hall"], "Olympic Hall"),
    "background": (["--background", "#10002b"], "#10002b"),
    "font": (["--font", "/static/Event.woff2"], "/static/Event.woff2"),
    "footer": (["--footer", "Aurora Ltd\nSeoul"], "Aurora Ltd\nSeoul"),
    "help_link": (["--help-link", "mailto:help@shop.example"], "mailto:help@shop.example"),
    "ended_text": (["--ended-text", "Sold out.\nSee you."], "Sold out.\nSee you."),
    "ended_picture": (["--ended-picture", "/Over.png"], "/Over.png"),
    "ended_link": (["--ended-link", "/next"], "/next"),
    "texts": (["--texts", '{"KO": {"title": "오로라"}}'], {"ko": {"title": "오로라"}}),
}


@pytest.mark.parametrize("name", PRESETS)
def test_create_from_a_preset(cli: Cli, room: str, name: str) -> None:
    """Every preset is one word, and options change it."""
    made = cli.json("room", "create", room, "--preset", name, "--max-defers", 4)
    assert preset(name, max_defers=4).as_dict() == made["policy"]
    assert (room, 1) == (made["name"], made["version"])


def test_create_without_a_preset(cli: Cli, room: str) -> None:
    """Without a preset the defaults apply, and the text names every field and the next steps."""
    text = cli.text("room", "create", room, "--capacity", 7)
    assert text.startswith(f"Created room {room}.\n")
    assert set() == {name for name in POLICY_FIELDS if f"\n{name} " not in text}
    assert f"waitroom stats {room} --watch" in text


def test_every_field_is_an_option(cli: Cli, room: str) -> None:
    """All fields can be set, in seconds or units, as words, times and flags."""
    assert list(VALUES) == [spec.name for spec in dataclasses.fields(Policy)]
    words = [word for given, _ in VALUES.values() for word in given]
    made = cli.json("room", "create", room, *words)
    assert {name: value for name, (_, value) in VALUES.items()} == made["policy"]
    assert made["policy"] == cli.json("room", "show", room)["policy"]


def test_create_twice(cli: Cli, room: str) -> None:
    """An existing room is left alone."""
    cli.text("room", "create", room, "--capacity", 7)
    expected = (1, f"Error: room '{room}' exists; change it with `waitroom room set {room}`\n")
    assert expected == cli.error("room", "create", room, "--capacity", 8)
    assert 7 == cli.json("room", "show", room)["policy"]["capacity"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--preset concert", "preset: 'concert' is unknown; there are batch, manual, slots"),
        ("--capacity 0", "capacity: 0 is not allowed; it takes 1 to 1000000000"),
        ("--capacity few", "capacity: 'few' is not a whole number; it takes 1 to"),
        ("--capacity 1.5", "capacity: 1.5 is not a whole number"),
        ("--capacity nan", "capacity: nan is not a whole number"),
        ("--capacity 99999999999999999999", "is not allowed; it takes 1 to 1000000000"),
        ("--session-s=-5", "session_s: -5.0 is not allowed; it takes 0.001 to"),
        ("--session-s soon", "session_s: 'soon' is not a length of time; it takes 0.001 to"),
        ("--session-s inf", "session_s: inf is not a number"),
        ("--batch 5", "every_s: must be set together with `batch`"),
        ("--per-s 60", "max_entries: must be set together with `per_s`"),
        ("--recover-s none", "recover_s: must be a number; 0 turns it off"),
        ("--mode shut", "mode: 'shut' is not one of open, paused, closed, ended, bypass, manual"),
        ("--opens-at tomorrow", "opens_at: 'tomorrow' is not a time; write it as 2030-"),
        ("--opens-at 2030-03-01T20:00", "has no zone; write it as 2030-03-01T20:00:00+09:00"),
        ("--time-zone Seoul", "time_zone: 'Seoul' is not known; use one like Asia/Seoul"),
        ("--opens-at 2030-03-01T20:00Z --ends-at 2030-03-01T20:00Z", "ends_at: must be after"),
        ("--ended-link javascript:x", "ended_link: 'javascript:x' is not an address to go to"),
        ("--before-open draw", "before_open: draw needs `opens_at`"),
        ("--when-away ajar", "when_away: 'ajar' is not one of closed, open"),
        ("--title=", "title: is empty; use none to have no such text"),
        ("--colour red", "colour: 'red' is not a colour; write #rrggbb"),
        ("--logo //cdn.example/x", "logo: '//cdn.example/x' cannot be shown; use a path on the"),
        ("--texts ko", "texts: 'ko' is not JSON; write {"),
        ("--go-to javascript:x", "go_to: 'javascript:x' is not an address to go to; use https://"),
    ],
)
def test_bad_policies(cli: Cli, room: str, words: str, message: str) -> None:
    """Each message names the field and what is allowed, and nothing is written."""
    code, text = cli.error("room", "create", room, *words.split())
    assert (2, True) == (code, message in text), text
    assert 1 == cli.run("room", "show", room).exit_code
    assert room not in cli.engine(Engine.rooms)


def test_set_shows_what_changed(cli: Cli, room: str) -> None:
    """Old and new value are side by side, with units; other fields are left out."""
    cli.text("room", "create", room, "--preset", "slots")
    text = cli.text("room", "set", room, "--capacity", 80, "--session-s", "5m", "--mode", "open")
    lines = [" ".join(line.split()) for line in text.splitlines()]
    expected = ["capacity 50 → 80", "session_s 600 s (10 min) → 300 s (5 min)"]
    assert [f"Room {room} is now at version 2:", "", *expected] == lines


def test_texts(cli: Cli, room: str) -> None:
    """Texts are shown in one short line, unprocessed, and `none` removes one."""
    logo = "data:image/png;base64," + "A" * 60_000
    cli.text("room", "create", room, "--title", "[red]A[/]", "--message", "One.\nTwo.")
    lines = cli.text("room", "set", room, "--title", "none", "--logo", logo).splitlines()
    assert ["title", "[red]A[/]", "→", "not", "set"] == lines[2].split()
    assert ["logo", "not", "set", "→"] == lines[3].split()[:4]
    assert 60 == len(lines[3].split()[4])
    shown = cli.text("room", "show", room)
    assert "One. Two." in shown
    policy = cli.json("room", "show", room)["policy"]
    assert (None, "One.\nTwo.", logo) == (policy["title"], policy["message"], policy["logo"])


def test_set_as_json(cli: Cli, room: str) -> None:
    """The same for programs; `none` removes a limit."""
    cli.text("room", "create", room, "--preset", "per-minute")
    reply = cli.json("room", "set", room, "--batch", "none", "--every-s", "none")
    changed = {"batch": {"old": 10, "new": None}, "every_s": {"old": 6.0, "new": None}}
    assert (room, 2, changed) == (reply["name"], reply["version"], reply["changed"])
    assert reply["policy"]["batch"] is None


def test_set_the_same(cli: Cli, room: str) -> None:
    """A change to the current value is reported as no change."""
    cli.text("room", "create", room, "--preset", "slots")
    assert "with the same policy as before" in cli.text("room", "set", room, "--capacity", 50)


def test_set_if_version(cli: Cli, room: str) -> None:
    """A change based on an outdated read is refused."""
    cli.text("room", "create", room)
    cli.text("room", "set", room, "--capacity", 5, "--if-version", 1)
    code, text = cli.error("room", "set", room, "--capacity", 6, "--if-version", 1)
    assert (1, True) == (code, "is at version 2, not 1; read it again" in text)
    assert 5 == cli.json("room", "show", room)["policy"]["capacity"]


def test_undo(cli: Cli, room: str) -> None:
    """The last change is undone, and its author named; undoing again redoes it."""
    cli.text("room", "create", room, "--capacity", 5)
    code, text = cli.error("room", "undo", room)
    assert (1, True) == (code, "no change of this room" in text)
    cli.text("room", "set", room, "--capacity", 6)
    code, text = cli.error("room", "undo", room, "--if-version", 1)
    assert (1, True) == (code, "is at version 2, not 1" in text)
    lines = cli.text("room", "undo", room, "--if-version", 2).splitlines()
    assert "Undid the change of " == lines[0][:20]
    assert ["capacity", "6", "→", "5"] == lines[-1].split()
    undone = cli.json("room", "undo", room)
    assert (4, 6) == (undone["version"], undone["policy"]["capacity"])
    entry = cli.json("audit", "--room", room)["entries"][0]
    assert undone["undoes"] == entry["detail"]["undoes"]


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ("", 2, "options: give at least one to change, like `--capacity 80`"),
        ("--capacity 0", 2, "capacity: 0 is not allowed"),
        ("--batch none", 2, "batch: must be set together with `every_s`"),
    ],
)
def test_bad_changes(cli: Cli, room: str, words: str, code: int, message: str) -> None:
    """A bad change is refused and the room stays the same."""
    cli.text("room", "create", room, "--preset", "per-minute")
    result = cli.error("room", "set", room, *words.split())
    assert (code, True) == (result[0], message in result[1])
    assert 1 == cli.json("room", "show", room)["version"]


def test_show(cli: Cli, room: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Policy with units, numbers next to their limits, times in the room's zone or locally."""
    monkeypatch.setitem(os.environ, "TZ", "Asia/Seoul")
    time.tzset()
    try:
        cli.fill(room, preset("slots", opens_at=from_ms(1_700_000_000_000)), 53, enter=2)
        lines = [" ".join(line.split()) for line in cli.text("room", "show", room).splitlines()]
        change = cli.text("room", "set", room, "--time-zone", "UTC", "--opens-at", "2030-01-01T00")
    finally:
        monkeypatch.undo()
        time.tzset()
    assert lines[0].startswith(f"{room}, version 1, since 20")
    assert lines[0].endswith("+09:00")
    assert lines[2].startswith("waiting 3 longest wait ")
    assert ["called 48", "inside 2 of 50 with those called"] == lines[3:5]
    assert "session_s 600 s (10 min) length of a session inside" in lines
    assert "opens_at 2023-11-15 07:13:20+09:00 when the room opens" in lines
    assert "2023-11-14 22:13:20+00:00  →  2030-01-01 00:00:00+00:00" in change


def test_show_as_json(cli: Cli, room: str) -> None:
    """One document with policy and numbers."""
    cli.fill(room, Policy(capacity=2), 5)
    shown = cli.json("room", "show", room)
    assert ["name", "version", "epoch", "policy", "stats"] == list(shown)
    assert (3, 2) == (shown["stats"]["waiting"], shown["stats"]["called"])


def test_clear(cli: Cli, room: str) -> None:
    """Typing the name clears the room; another name, or nothing, does not."""
    cli.fill(room, Policy(capacity=2), 5, enter=1)
    result = cli.run("room", "clear", room, typed="other\n")
    assert (2, True) == (result.exit_code, "3 waiting, 1 called and 1 inside" in result.stderr)
    assert f"'other' is not '{room}'; nothing was changed" in result.stderr
    result = cli.run("room", "clear", room, typed="")
    assert (1, True) == (result.exit_code, "nothing was changed" in result.stderr)
    assert 3 == cli.json("stats", room)["waiting"]
    assert f"Cleared room {room}: 5 people out.\n" == cli.text("room", "clear", room, typed=room)
    assert {"name": room, "cleared": 0} == cli.json("room", "clear", room, "--yes")


def test_drop(cli: Cli, room: str) -> None:
    """A dropped room is gone, with its name."""
    cli.fill(room, Policy(capacity=2), 5)
    code, text = cli.error("room", "drop", room, typed="\n")
    assert (2, True) == (code, "nothing was changed" in text)
    assert f"Dropped room {room}.\n" == cli.text("room", "drop", room, typed=f"{room}\n")
    assert 1 == cli.error("room", "drop", room, "--yes")[0]
    assert room not in cli.engine(Engine.rooms)


def test_json_never_asks(cli: Cli, room: str) -> None:
    """With --json an irreversible action needs --yes."""
    cli.text("room", "create", room)
    code, text = cli.error("room", "drop", room, "--json")
    assert (2, True) == (code, "--json cannot ask; give --yes" in text)
    assert {"name": room, "dropped": True} == cli.json("room", "drop", room, "--yes")


def test_drop_a_leftover_name(cli: Cli, room: str) -> None:
    """A name in the index without a room is removed without a question, and `rooms` omits it."""
    cli.engine(lambda engine: engine.backend.client.execute_command("SADD", keys.ROOMS, room))
    assert room not in cli.text("rooms")
    assert "there was no such room" in cli.text("room", "drop", room)
    assert room not in cli.engine(Engine.rooms)
