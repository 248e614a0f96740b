"""Phone numbers: as people in a country type them, as stored and as shown."""

from __future__ import annotations

from typing import Any

import pytest
from phonenumbers import SUPPORTED_REGIONS

from waitroom.desk.phones import example, is_country, masked, read_phone
from waitroom.errors import InvalidInput

TYPED = {
    "KR": {
        "010-1234-5678": "+821012345678",
        "01012345678": "+821012345678",
        " 010 1234 5678 ": "+821012345678",
        "010.1234.5678": "+821012345678",
        "(010) 1234‐5678": "+821012345678",
        "０１０-１２３４-５６７８": "+821012345678",
        "+82 10-1234-5678": "+821012345678",
        "+82 010-1234-5678": "+821012345678",
        "0082 10 1234 5678": "+821012345678",
        "010-5980-1234": "+821059801234",
        "011-123-4567": "+82111234567",
        "+1 (415) 555-0100": "+14155550100",
        "+44 20 7946 0958": "+442079460958",
    },
    "US": {
        "(415) 555-0100": "+14155550100",
        "1-415-555-0100": "+14155550100",
        "415.555.0100": "+14155550100",
        "+1 415 555 0100": "+14155550100",
        "+82 10-1234-5678": "+821012345678",
        "011 82 10 1234 5678": "+821012345678",
    },
    "GB": {
        "07911 123456": "+447911123456",
        "+44 (0)7911 123456": "+447911123456",
        "0044 7911 123456": "+447911123456",
        "+353 85 012 3456": "+353850123456",
    },
    "JP": {
        "090-1234-5678": "+819012345678",
        "０９０ー１２３４ー５６７８": "+819012345678",
        "+81 90 1234 5678": "+819012345678",
        "010 82 10 1234 5678": "+821012345678",
    },
    "FR": {
        "06 12 34 56 78": "+33612345678",
        "06.12.34.56.78": "+33612345678",
        "06/12/34/56/78": "+33612345678",
        "+33 (0)6 12 34 56 78": "+33612345678",
        "+1 415 555 0100": "+14155550100",
    },
}


@pytest.mark.parametrize(
    ("country", "typed", "kept"),
    [(country, typed, kept) for country in TYPED for typed, kept in TYPED[country].items()],
)
def test_what_people_type_is_read(country: str, typed: str, kept: str) -> None:
    """Whatever separates the digits, one number has one form."""
    assert kept == read_phone(typed, country)


REFUSED = {
    "KR": (
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
        "010-1234-5678;phone-context=+1",
        "tel:010-1234-5678",
        "+" * 40,
        pytest.param("0" * 1_000_000, id="long"),
        None,
        1012345678,
        b"01012345678",
    ),
    "US": ("010-1234-5678", "555-0100", "1-800-FLOWERS", "800-555-0100", "911", "415-055-0100"),
    "GB": ("020 7946 0958", "(415) 555-0100", "0800 123 4567", "999", "0791 1123"),
    "JP": ("03-1234-5678", "0120-123-456", "090-1234-567", "110"),
    "FR": ("01 42 68 53 00", "06 12 34 56 7", "08 92 70 12 39", "3615", "112"),
}


@pytest.mark.parametrize(
    ("country", "typed"),
    [
        pytest.param(country, *getattr(typed, "values", (typed,)), id=getattr(typed, "id", None))
        for country in REFUSED
        for typed in REFUSED[country]
    ],
)
def test_what_is_no_mobile_number_is_refused(country: str, typed: Any) -> None:
    """The message says what is allowed there, and does not repeat the input."""
    with pytest.raises(InvalidInput) as caught:
        read_phone(typed, country)
    assert "phone" == caught.value.field
    abroad = "+82 10-2000-0000" if country == "US" else "+1 201 555 0123"
    says = f"takes a mobile number like {example(country)}, or one with its country, like {abroad}"
    assert f"phone: {says}" == str(caught.value)


@pytest.mark.parametrize(
    ("country", "phone", "shown"),
    [
        ("KR", "+821012345678", "010-****-5678"),
        ("KR", "+82111234567", "***-***-4567"),
        ("KR", "+14155550100", "+1 ***-***-0100"),
        ("US", "+14155550100", "(***) ***-0100"),
        ("US", "+821012345678", "+82 **-****-5678"),
        ("GB", "+447911123456", "***** **3456"),
        ("JP", "+819012345678", "090-****-5678"),
        ("FR", "+33612345678", "06 ** ** 56 78"),
        ("FR", "+9991234567890", "+*********7890"),
    ],
)
def test_only_the_last_four_digits_are_shown(country: str, phone: str, shown: str) -> None:
    """Lists show what a host asks for at the door, and little else."""
    assert shown == masked(phone, country)


@pytest.mark.parametrize("country", [*filter(is_country, sorted(SUPPORTED_REGIONS))])
def test_the_example_of_every_country_is_taken(country: str) -> None:
    """The example in a form can be typed, and its mask hides at least two digits."""
    kept = read_phone(example(country), country)
    assert example(country) not in masked(kept, country)
    assert masked(kept, country).count("*") >= 2


@pytest.mark.parametrize("code", ["", "ZZ", "001", "kr", "KOR", "TA", "K" * 1000])
def test_what_is_no_country(code: str) -> None:
    """Nor is a territory without mobile numbers, for which there is no example."""
    assert not is_country(code)
