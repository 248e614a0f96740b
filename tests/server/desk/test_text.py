"""The texts of the desk's pages: complete in every language, and how waits are told."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import waitroom.server
from waitroom.desk.models import Range
from waitroom.server.desk import text as say
from waitroom.server.desk.pages import place as page_place
from waitroom.server.pages.text import load_text

HERE = Path(waitroom.server.__file__).parent
ENGLISH, KOREAN = load_text("desk", "en"), load_text("desk", "ko")


def test_every_key_is_used() -> None:
    """Every text is used."""
    files = [
        *HERE.glob("desk/**/*.py"),
        *HERE.glob("templates/desk/*"),
        *HERE.glob("static/desk/*.js"),
    ]
    source = "\n".join(path.read_text("utf-8") for path in files)
    families = tuple(re.findall(r"""\(?f?["'](\w+_)(?:\{|["'] ~)""", source))
    faces = r"(closed|paused|full|late|onsite|seated|cancelled|no_show|away)_(title|text)"

    def used(key: str) -> bool:
        quoted = re.search(rf"""["'.]{key.removesuffix("_one")}\b""", source)
        return bool(quoted or key.startswith(families) or re.fullmatch(faces, key))

    assert [] == [key for key in ENGLISH.words if not used(key)]


def test_the_script_gets_the_words_that_it_says() -> None:
    """The keys are read from the script, so none can be forgotten."""
    script = (HERE / "static/desk/place.js").read_text("utf-8")
    keys = set(re.findall(r'(?:say|some)\("([a-z_]+)"', script))
    assert keys
    assert keys <= set(page_place.client_keys())
    assert keys <= set(ENGLISH.words)


def test_no_script_writes_html() -> None:
    """Names come from strangers: scripts write text, and never assemble HTML."""
    for path in HERE.glob("static/desk/*.js"):
        script = path.read_text("utf-8")
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write", script)


@pytest.mark.parametrize(
    ("minutes", "english", "korean"),
    [
        (None, "working it out…", "계산 중…"),
        (0, "any moment", "곧 입장"),
        (15, "about 15 min", "약 15분"),
        (19, "about 19 min", "약 19분"),
        (22, "about 20 min", "약 20분"),
        (43, "about 45 min", "약 45분"),
        (60, "about 1 h", "약 1시간"),
        (118, "about 2 h", "약 2시간"),
        (124, "about 2 h", "약 2시간"),
        (155, "about 2 h 40 min", "약 2시간 40분"),
    ],
)
def test_waits(minutes: int | None, english: str, korean: str) -> None:
    """A wait is given without false precision."""
    assert (english, korean) == (say.wait(ENGLISH, minutes), say.wait(KOREAN, minutes))


@pytest.mark.parametrize(
    ("low", "high", "english", "korean"),
    [
        (8, 11, "8–11 min", "8~11분"),
        (41, 53, "40–55 min", "40~55분"),
        (0, 4, "up to 4 min", "4분 이내"),
        (0, 0, "up to 1 min", "1분 이내"),
        (7, 7, "about 7 min", "약 7분"),
        (95, 133, "1 h 30 min – 2 h 20 min", "1시간 30분 ~ 2시간 20분"),
    ],
)
def test_ranges(low: int, high: int, english: str, korean: str) -> None:
    """A range is rounded outwards, so that it stays true."""
    wait = Range(low, (low + high) // 2, high)
    assert (english, korean) == (say.within(ENGLISH, wait), say.within(KOREAN, wait))
