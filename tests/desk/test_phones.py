"""Phone numbers, as people type them and as they are kept."""

from __future__ import annotations

from typing import Any

import pytest

from waitroom.desk.phones import masked, read_phone
from waitroom.errors import InvalidInput

REMEDY = (
    "phone: takes a mobile number like 010-1234-5678, or one with its country, like +1 415 555 0100"
)


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("010-1234-5678", "+821012345678"),
        ("01012345678", "+821012345678"),
        (" 010 1234 5678 ", "+821012345678"),
        ("010.1234.5678", "+821012345678"),
        ("(010) 1234‐5678", "+821012345678"),
        ("０１０-１２３４-５６７８", "+821012345678"),
        ("+82 10-1234-5678", "+821012345678"),
        ("+82 010-1234-5678", "+821012345678"),
        ("0082 10 1234 5678", "+821012345678"),
        ("011-123-4567", "+82111234567"),
        ("+1 (415) 555-0100", "+14155550100"),
        ("+44 20 7946 0958", "+442079460958"),
    ],
)
def test_what_people_type_is_read(typed: str, kept: str) -> None:
    """Whatever stands between the digits, one number has one form."""
    assert kept == read_phone(typed)


@pytest.mark.parametrize(
    "typed",
    [
        "",
        "010-1234-567",
        "010-1234-56789",
        "02-123-4567",
        "1588-1234",
        "abc",
        "+82 2 123 4567",
        "+0 123 456 789",
        "+1",
        "+1234567890123456",
        "010-1234-5678 ext 2",
        "010-1234-5678\x00",
        "٠١٠-١٢٣٤-٥٦٧٨",
        pytest.param("0" * 1_000_000, id="long"),
        None,
        1012345678,
        b"01012345678",
    ],
)
def test_what_is_no_number_is_refused(typed: Any) -> None:
    """The message says what is allowed, and repeats nothing of what was typed."""
    with pytest.raises(InvalidInput) as caught:
        read_phone(typed)
    assert "phone" == caught.value.field
    assert REMEDY == str(caught.value)


@pytest.mark.parametrize(
    ("phone", "shown"),
    [
        ("+821012345678", "010-****-5678"),
        ("+82111234567", "011-****-4567"),
        ("+14155550100", "+*******0100"),
    ],
)
def test_only_the_last_four_digits_are_shown(phone: str, shown: str) -> None:
    """Lists show what a host asks for at the door, and no more."""
    assert shown == masked(phone)
