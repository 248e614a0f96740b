"""What the operator page says, in both languages."""

from __future__ import annotations

import json
import re
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest

import waitroom
from waitroom.engine.audit import Entry
from waitroom.server.operator import words as say
from waitroom.server.pages.text import LANGUAGES, load_text

SOURCE = Path(waitroom.__file__).parent


@pytest.mark.parametrize(
    ("seconds", "english", "korean"),
    [
        (None, "no estimate", "예상 없음"),
        (10, "under a minute", "1분 미만"),
        (60, "about 1 min", "약 1분"),
        (725, "about 12 min", "약 12분"),
        (3_600, "about 1 h", "약 1시간"),
        (5_700, "about 1 h 35 min", "약 1시간 35분"),
    ],
)
def test_waits_in_words(seconds: float | None, english: str, korean: str) -> None:
    """A wait is given without false precision."""
    assert english == say.about(load_text("operator", "en"), seconds)
    assert korean == say.about(load_text("operator", "ko"), seconds)


def test_deeds_in_words() -> None:
    """Every logged action has its own text, in both languages."""
    details: dict[str, dict[str, Any]] = {
        "room.create": {"policy": {}},
        "room.drop": {"people": {}},
        "room.clear": {"cleared": 5},
        "room.change": {"changed": {"capacity": {"old": 5, "new": None}}},
        "admit": {"count": 5, "called": 3, "force": False},
        "call": {"ticket": "abc", "force": False},
        "kick": {"asked": 2, "kicked": 1, "tickets": ["a", "b"]},
        "key.create": {"id": "a", "name": "b", "role": "viewer"},
        "key.revoke": {"id": "a", "name": "b"},
        "key.rotate": {"name": "20300101.pem"},
        "key.prune": {"names": ["20300101.pem"]},
        "claim_key.make": {"renewed": False},
        "store.create": {"store": "s", "title": "S"},
        "store.change": {"store": "s", "changed": {"mode": {"old": "open", "new": "paused"}}},
        "host.create": {"store": "s", "id": "a", "name": "b"},
        "host.revoke": {"store": "s", "id": "a", "name": "b"},
        "desk.rebuild": {"store": None, "lines": 2, "settled": 1, "removed": 0},
        "note": {"text": "doors open"},
        "sign_in": {},
    }
    for action, detail in details.items():
        entry = Entry(key_id="k", key_name="n", role="admin", action=action, detail=detail)
        for lang in LANGUAGES:
            (line,) = say.told(load_text("operator", lang), entry)
            assert line not in (action, "")
            assert "None" not in line
    aged = {"asked": 2, "kicked": 2, "state": "waiting", "older_than_s": 60.0}
    whole = {"asked": 2, "kicked": 2, "state": "inside", "older_than_s": None}
    banned = {"asked": 2, "kicked": 1, "ban": True, "tickets": ["a", "b"]}
    cases = ((aged, "time waited"), (whole, "in the state “Inside”"), (banned, "and banned"))
    for detail, words in cases:
        entry = Entry(key_id="k", key_name="n", role="admin", action="kick", detail=detail)
        assert words in say.told(load_text("operator", "en"), entry)[0]
    part = {"asked": 9, "kicked": 9, "tickets": ["a"], "part": 2, "parts": 3}
    doubt = {"asked": 9, "kicked": None, "tickets": ["a"], "outcome": "unknown"}
    for detail, words in ((part, "(2/3)"), (doubt, "not known")):
        entry = Entry(key_id="k", key_name="n", role="admin", action="kick", detail=detail)
        assert words in say.told(load_text("operator", "en"), entry)[0]
    unknown = Entry(key_id="k", key_name="n", role="admin", action="later", detail={})
    assert ["later"] == say.told(load_text("operator", "en"), unknown)


@pytest.mark.parametrize(
    ("role", "way", "address", "shown"),
    [
        ("admin", "api", "192.0.2.7", "admin · API · 192.0.2.7"),
        ("host", "page", "192.0.2.7", "host · page · 192.0.2.7"),
        ("admin", "cli", "desk-1", "command line · desk-1"),
        ("admin", "config", "", "configuration file"),
        ("viewer", "", "192.0.2.7", "viewer · 192.0.2.7"),
        ("later", "later", "", "later · later"),
    ],
)
def test_who_and_from_where(role: str, way: str, address: str, shown: str) -> None:
    """The log says which way somebody used, even for entries from other versions."""
    entry = Entry(key_id="k", key_name="n", role=role, way=way, action="admit", address=address)
    assert shown == say.origin(load_text("operator", "en"), entry)


def test_every_text_is_used() -> None:
    """Nobody translates what no page shows: each text is named in full, or by its beginning."""
    files = (path for path in SOURCE.rglob("*.*") if path.suffix in (".py", ".html", ".js"))
    source = "\n".join(path.read_text("utf-8") for path in files)
    named = set(re.findall(r"""["'`](\w+)["'`{$]""", source))

    def is_used(key: str) -> bool:
        beginnings = accumulate(key.split("_"), lambda start, part: f"{start}_{part}")
        return key in named or any(f"{start}_" in named for start in beginnings)

    keys = json.loads((SOURCE / "server/locales/operator/en.json").read_text("utf-8"))
    assert [] == [key for key in keys if not key.startswith("_") and not is_used(key)]
