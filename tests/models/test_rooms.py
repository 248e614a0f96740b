"""Room names: what is allowed, and that an error names the rule."""

from __future__ import annotations

from typing import Any

import pytest

from waitroom.errors import InvalidRoomName
from waitroom.models import check_room_name


@pytest.mark.parametrize("name", ["a", "7", "Concert-2025_seoul.v2", "r" * 64, "a..b", "a-"])
def test_good_room_names(name: str) -> None:
    """Letters, digits, '-', '_' and '.' up to 64, beginning with a letter or digit."""
    assert name == check_room_name(name)


BAD_NAMES: list[Any] = [
    *("", "r" * 65, "{a}", "a{b", "a}b", "-a", "_a", ".a", "a b", " a", "a ", "a:b", "a/b", "a*"),
    *("a\n", "a\r\n", "\na", "a\0", "a\x1b[31m", "a\x7f", "콘서트", "é", "１", "a\u200b", "\ud800"),
    *(None, 7, b"a", ["a"]),
]


@pytest.mark.parametrize("name", BAD_NAMES, ids=ascii)
def test_bad_room_names(name: Any) -> None:
    """Braces, control characters, line ends, unicode, bad lengths and non-text are refused."""
    with pytest.raises(InvalidRoomName, match="1 to 64 letters") as caught:
        check_room_name(name)
    assert "room" == caught.value.field
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 250
