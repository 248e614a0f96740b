"""Locale files of the waiting page: ours are complete, and an operator's are checked at start."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from waitroom.errors import InvalidInput
from waitroom.server.pages.locale_file import checked_file, plural_categories, read_words
from waitroom.server.pages.locales import SHIPPED, load_locales
from waitroom.server.process.preparation import check
from waitroom.settings import Settings

TAGS = sorted(path.stem for path in SHIPPED.glob("*.json"))
COMPLETE = {"en", "ko", "ja", "zh-Hans"}
ENGLISH = read_words(SHIPPED / "en.json")
DOCS = Path(__file__).parents[3] / "docs"


def folder_with(folder: Path, **files: Any) -> Path:
    """Make a folder of locale files; `_` in a name stands for `-`."""
    for name, words in files.items():
        text = words if isinstance(words, str) else json.dumps(words)
        (folder / f"{name.replace('_', '-')}.json").write_text(text, "utf-8")
    return folder


# What we ship ---------------------------------------------------------------------------------


@pytest.mark.parametrize("tag", TAGS)
def test_every_file_stands(tag: str) -> None:
    """Keys, placeholders and plural forms are checked like those of an operator."""
    english = {key: words for key, words in ENGLISH.items() if key != "_meta"}
    assert tag == checked_file(SHIPPED / f"{tag}.json", english).tag
    assert tag in load_locales(None)


@pytest.mark.parametrize("tag", TAGS)
def test_a_file_is_sorted_plain_text(tag: str) -> None:
    """A file is sorted, so that translations are easy to compare; texts contain no HTML."""
    words = read_words(SHIPPED / f"{tag}.json")
    assert sorted(words) == list(words)
    assert words["_meta"].keys() == {"name", "reviewed"}
    assert not re.search(r"[<>&]|  |\s$", "\n".join(map(str, words.values())), re.M)


@pytest.mark.parametrize("tag", sorted(COMPLETE))
def test_a_language_is_complete(tag: str) -> None:
    """Every text is there."""
    words = read_words(SHIPPED / f"{tag}.json")
    assert ENGLISH.keys() == words.keys()
    assert words["_meta"]["reviewed"]


@pytest.mark.parametrize("tag", sorted(set(TAGS) - {"en"}))
def test_nothing_is_left_in_english(tag: str) -> None:
    """A translation differs from English everywhere, except for signs and numbers."""
    words = read_words(SHIPPED / f"{tag}.json")
    same = {key for key, text in words.items() if text == ENGLISH[key]}
    assert set() == {key for key in same if re.search(r"[A-Za-z]{4}", plain(words[key]))}


def plain(words: Any) -> str:
    """Return the letters of a text, without its placeholders."""
    return re.sub(r"\{\w+\}", "", words if isinstance(words, str) else " ".join(words.values()))


@pytest.mark.parametrize("tag", TAGS)
def test_plurals_are_those_of_the_language(tag: str) -> None:
    """Where English has a plural, a language with plurals has all of its forms."""
    words = read_words(SHIPPED / f"{tag}.json")
    several = len(plural_categories(tag)) > 1
    counted = [key for key, forms in ENGLISH.items() if isinstance(forms, dict) and key in words]
    assert len(counted) > 2  # `_meta` is one
    for key in counted:
        assert isinstance(words[key], dict) == (several or key == "_meta"), key


def test_the_docs_list_the_languages() -> None:
    """docs/languages.md names every language, and whether it was reviewed."""
    rows = re.findall(
        r"^\| `([\w-]+)` \| (.+) \| (yes|no) \|$", (DOCS / "languages.md").read_text("utf-8"), re.M
    )
    ours = {
        (text.lang, text.name, "yes" if text.reviewed else "no")
        for text in load_locales(None).values()
    }
    assert ours == set(rows)


# What an operator adds ------------------------------------------------------------------------


def test_single_texts_and_new_languages(tmp_path: Path) -> None:
    """A file may change one text or add a language; missing texts come from the base language."""
    folder = folder_with(
        tmp_path,
        ko={"rejoin": "다시"},
        ko_KP={"_meta": {"name": "조선말"}, "ready": "준비"},
        ar={"days": {name: "{n} " + name for name in plural_categories("ar")}},
    )
    locales = load_locales(folder)
    shipped = load_locales(None)
    assert "다시" == locales["ko"]("rejoin") == locales["ko-KP"]("rejoin")
    assert shipped["ko"]("called_title") == locales["ko-KP"]("called_title")
    assert ["준비", shipped["ko"]("ready")] == [locales[tag]("ready") for tag in ("ko-KP", "ko")]
    arabic = locales["ar"]
    assert ("العربية", True, False) == (arabic.name, arabic.rtl, arabic.reviewed)
    assert ["2 two", "3 few"] == [arabic("days", n=n) for n in (2, 3)]
    assert shipped["en"]("rejoin") == arabic("rejoin")
    names = [text.name.casefold() for text in locales.values()]
    assert sorted(names) == names


def test_a_language_can_be_taken_off(tmp_path: Path) -> None:
    """With support in one language only, others need not be offered; English stays for the rest."""
    off = {"_meta": {"offered": False}}
    locales = load_locales(folder_with(tmp_path, ko=off, en=off))
    assert set(load_locales(None)) - {"ko"} == set(locales)


@pytest.mark.parametrize(
    ("name", "words", "why"),
    [
        ("xx-1234567890", {}, "name it like pt-PT.json"),
        ("pt-pt", {}, "must be named pt-PT.json"),
        ("it", "{", "is not JSON"),
        ("it", [], "must be an object"),
        ("it", {"rejoinn": "x"}, "has no text `rejoinn`; did you mean `rejoin`?"),
        ("it", {"_meta": {"nam": "x"}}, "`_meta` has no `nam`; there are name"),
        ("it", {"_meta": {"reviewed": "yes"}}, "`_meta.reviewed` must be true or false"),
        ("it", {"_meta": {"dir": "up"}}, "`_meta.dir` must be ltr or rtl"),
        ("it", {"rejoin": 4}, "`rejoin` must be a text"),
        ("it", {"rejoin": " "}, "`rejoin` is empty"),
        ("it", {"title_ahead": "avanti"}, "`title_ahead` lacks {n}"),
        ("it", {"rejoin": "{n}"}, "`rejoin` has the unknown placeholder {n}; it takes none"),
        ("it", {"kept": "{n} {time}"}, "has the unknown placeholder {n}; there is {time}"),
        ("it", {"title_ahead": "{n} {"}, "`title_ahead` has a brace"),
        ("it", {"title_ahead": "{n.real}"}, "`title_ahead` has a brace"),
        ("it", {"rejoin": {"other": "x"}}, "`rejoin` has no number {n}"),
        (
            "pl",
            {"place_behind": {"one": "{n}", "many": "{n}", "other": "{n}"}},
            "`place_behind` lacks the plural form few",
        ),
        (
            "ja",
            {"place_behind": {"one": "1", "other": "{n}"}},
            "`place_behind` has a plural form that this language lacks: one",
        ),
        # In Russian 21 people take the form `one` too, so it must contain the number.
        (
            "ru",
            {"place_behind": {"one": "x", "few": "{n}", "many": "{n}", "other": "{n}"}},
            "`place_behind.one` lacks {n}",
        ),
    ],
)
def test_a_wrong_file_is_refused_at_start(tmp_path: Path, name: str, words: Any, why: str) -> None:
    """The error names the file, the key and what to do."""
    folder = folder_with(tmp_path, **{name: words})
    with pytest.raises(InvalidInput) as refused:
        check(Settings(secret="k" * 32, locales=folder))
    assert f"locales: {folder / name}.json: " in str(refused.value)
    assert why in str(refused.value)


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    """A mistyped path is not an empty folder."""
    with pytest.raises(InvalidInput, match="is not a folder"):
        check(Settings(secret="k" * 32, locales=tmp_path / "nowhere"))
