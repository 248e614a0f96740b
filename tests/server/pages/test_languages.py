"""Which language somebody gets."""

from __future__ import annotations

import pytest

from waitroom.server.pages.languages import choose, nearest

FEW = ("en", "ko")
MANY = ("en", "id", "ko", "pt", "zh-Hans", "zh-Hant")


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
        (None, "zh-Hans", "ko", "ko"),  # chosen on a page with more languages
    ],
)
def test_the_language(
    chosen: str | None, kept: str | None, accept: str | None, expected: str
) -> None:
    """A click beats an earlier click, and that beats what the browser asks for."""
    assert expected == choose(FEW, chosen, kept, accept)


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ("zh", "zh-Hans"),
        ("zh-CN", "zh-Hans"),
        ("zh-SG", "zh-Hans"),
        ("zh-Hans-HK", "zh-Hans"),
        ("zh-TW", "zh-Hant"),
        ("zh-HK", "zh-Hant"),
        ("zh-MO", "zh-Hant"),
        ("ZH-hant-tw", "zh-Hant"),
        ("pt-BR", "pt"),
        ("pt-PT", "pt"),
        ("in-ID", "id"),
        ("en-Latn-GB-oxendict", "en"),
        ("fr", None),
        ("", None),
        ("-", None),
        ("zz-ZZ", None),
    ],
)
def test_a_region_gets_the_nearest_language(wanted: str, expected: str | None) -> None:
    """A tag is shortened until it fits; a region implies its script."""
    assert expected == nearest(wanted, MANY)


def test_a_general_file_does_not_take_readers_of_another_script() -> None:
    """Readers of traditional characters get those, even next to a file for all of Chinese."""
    tags = ("en", "zh", "zh-Hant")
    assert ("zh-Hant", "zh") == (nearest("zh-TW", tags), nearest("zh-CN", tags))
    assert "zh-Hans" == nearest("zh-TW", ("en", "zh-Hans"))  # better than English
