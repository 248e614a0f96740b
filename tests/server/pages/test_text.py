"""The texts of operators' and hosts' pages, and how values are filled in."""

from __future__ import annotations

import pytest

from waitroom.server.pages.locale_file import wanted_placeholders
from waitroom.server.pages.text import LANGUAGES, Text, load_text

FACES = ("operator", "desk")


@pytest.mark.parametrize("face", FACES)
def test_files_are_sorted(face: str) -> None:
    """A locale file is sorted, so that translations are easy to compare."""
    for lang in LANGUAGES:
        keys = list(load_text(face, lang).words)
        assert sorted(keys) == keys


@pytest.mark.parametrize("face", FACES)
def test_every_key_is_in_every_language(face: str) -> None:
    """No text is missing in a language, or has other values in it."""
    english, korean = load_text(face, "en").words, load_text(face, "ko").words
    assert english.keys() == korean.keys()
    # Korean has no plural, so the desk's "one" may or may not contain the number.
    optional = {"n"} if face == "desk" else set[str]()
    for key, words in english.items():
        both = wanted_placeholders(words) | optional, wanted_placeholders(korean[key]) | optional
        assert both[0] == both[1], key


def test_plurals_and_numbers_are_those_of_the_language() -> None:
    """CLDR decides which form a number takes and how it is written."""
    forms = {"one": "a file", "few": "{n} few", "many": "{n} many", "other": "{n} other"}
    polish = Text("pl", {"files": forms})
    said = [polish("files", n=n) for n in (1, 2, 5, 22)]
    assert ["a file", "2 few", "5 many", "22 few"] == said
    assert ["12.345", "12,345"] == [Text(tag, {}).number(12_345) for tag in ("de", "zh-Hant")]
    # A text that fell back to English has only the forms of English.
    assert "5 files" == Text("pl", {"files": {"one": "a file", "other": "{n} files"}})("files", n=5)
