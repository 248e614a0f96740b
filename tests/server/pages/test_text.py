"""The words of all pages, and which language somebody gets."""

from __future__ import annotations

import pytest

from waitroom.server.pages.text import LANGUAGES, language, load_text


@pytest.mark.parametrize("face", ["waiting", "operator", "desk"])
def test_files_are_sorted(face: str) -> None:
    """A locale file is in order, so that a translation is easy to compare."""
    for lang in LANGUAGES:
        keys = list(load_text(face, lang).words)
        assert sorted(keys) == keys


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
