"""The words of all pages, and which language somebody gets."""

from __future__ import annotations

import string

import pytest

from waitroom.server.pages.text import LANGUAGES, language, load_text

FACES = ("waiting", "operator", "desk")


@pytest.mark.parametrize("face", FACES)
def test_files_are_sorted(face: str) -> None:
    """A locale file is in order, so that a translation is easy to compare."""
    for lang in LANGUAGES:
        keys = list(load_text(face, lang).words)
        assert sorted(keys) == keys


@pytest.mark.parametrize("face", FACES)
def test_every_key_is_in_every_language(face: str) -> None:
    """No page can meet a word that a language lacks, or one with other values in it."""
    english, korean = load_text(face, "en").words, load_text(face, "ko").words
    assert english.keys() == korean.keys()
    # Korean has no plural, so the "one" of the desk may or may not say the number.
    optional = {"n"} if face == "desk" else set[str]()
    for key, words in english.items():
        assert fields(words) | optional == fields(korean[key]) | optional, key


def fields(text: str) -> set[str]:
    """Return what is filled into a sentence."""
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


@pytest.mark.parametrize(
    ("chosen", "kept", "accept", "expected"),
    [
        (None, None, None, "en"),
        (None, None, "ko-KR,ko;q=0.9,en-US;q=0.8", "ko"),
        (None, None, "fr, en;q=0.3, ko;q=0.4", "ko"),
        (None, None, "ko;q=0, en;q=0.1", "en"),
        (None, None, "*", "en"),
        (None, None, "ko;q=x,,;;=\x00" + "," * 5_000, "en"),
        (None, "ko", "en", "ko"),
        ("en", "ko", "ko", "en"),
        ("xx", "../../etc", "ko", "ko"),
    ],
)
def test_the_language(
    chosen: str | None, kept: str | None, accept: str | None, expected: str
) -> None:
    """A click counts more than an earlier click, and that more than what the browser asks for."""
    assert expected == language(chosen, kept, accept)
