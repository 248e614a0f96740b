"""Phone numbers: parsed as people of a country type them, kept in one form, masked for lists. Pure.

The form is E.164, like +821012345678: what the vendors of SMS and 알림톡 take. How numbers of a
country are written and told apart is known to phonenumbers, which follows Google's libphonenumber.
"""

from __future__ import annotations

import re
import unicodedata

import phonenumbers
from phonenumbers import NumberParseException, PhoneNumber, PhoneNumberFormat, PhoneNumberType

from waitroom.errors import InvalidInput

_LONGEST = 40
_ALLOWED = re.compile(r"[\d\s+()./\-\u2010-\u2015\u30fc]+")
# In North America nobody can tell from a number whether it is a mobile.
_MOBILE = {PhoneNumberType.MOBILE, PhoneNumberType.FIXED_LINE_OR_MOBILE}
# Where libphonenumber is less exact than the country's plan: it takes 010 with a digit too few, the
# usual slip, and refuses 010-598. 010 has eight digits after it; the older ones seven or eight.
_EXACT = {82: re.compile(r"10[0-9]{8}|1[16789][0-9]{7,8}", re.ASCII)}
_LEAST_HIDDEN = 4


def read_phone(text: str, country: str) -> str:
    """Return a number as E.164; anything else is refused, and never repeated in the message.

    Without its own country code it is one of `country`, of which only mobile numbers are taken.
    """
    number = _parsed(text, country)
    at_home = number is not None and number.country_code == _code(country)
    if number is None or not (_is_mobile(number) if at_home else _is_possible(number)):
        raise InvalidInput("phone", _remedy(country))
    return phonenumbers.format_number(number, PhoneNumberFormat.E164)


def is_country(code: str) -> bool:
    """Tell whether it is a country, as two letters of ISO 3166, whose mobile numbers are known."""
    return phonenumbers.example_number_for_type(code, PhoneNumberType.MOBILE) is not None


def example(country: str) -> str:
    """Return a mobile number as people of a country write it, which is nobody's."""
    number = phonenumbers.example_number_for_type(country, PhoneNumberType.MOBILE)
    assert number is not None  # noqa: S101 - `is_country` was asked when the store was written
    return phonenumbers.format_number(number, PhoneNumberFormat.NATIONAL)


def masked(phone: str, country: str) -> str:
    """Return a number with only its last four digits, which a host asks for; of a short one, half.

    Its first group stays too: the code of another country; and at home what tells little of a
    person, like 010, if enough other digits are hidden.
    """
    try:
        number = phonenumbers.parse(phone)
    except NumberParseException:  # kept before numbers were checked by country
        return f"+{'*' * (len(phone) - 5)}{phone[-4:]}"
    at_home = number.country_code == _code(country)
    form = PhoneNumberFormat.NATIONAL if at_home else PhoneNumberFormat.INTERNATIONAL
    written = phonenumbers.format_number(number, form)
    digits = [place.start() for place in re.finditer(r"\d", written)]
    first = len(re.sub(r"^\D*(\d*).*", r"\1", written))
    last = min(4, len(digits) // 2)
    if at_home and len(digits) - first - last < _LEAST_HIDDEN:
        first = 0
    shown = {*digits[:first], *digits[-last:]}
    return "".join(
        "*" if char.isdecimal() and place not in shown else char
        for place, char in enumerate(written)
    )


def _parsed(text: str, country: str) -> PhoneNumber | None:
    if not isinstance(text, str) or len(text) > _LONGEST:
        return None
    # Full-width digits of an input method are digits too.
    plain = unicodedata.normalize("NFKC", text).strip()
    if not _ALLOWED.fullmatch(plain):
        return None
    # Dialled abroad as 00 by most; no number of any country begins so at home.
    plain = f"+{plain[2:]}" if plain.startswith("00") else plain
    try:
        return phonenumbers.parse(plain, country)
    except NumberParseException:
        return None


def _is_mobile(number: PhoneNumber) -> bool:
    if exact := _EXACT.get(number.country_code or 0):
        return bool(exact.fullmatch(str(number.national_number)))
    return phonenumbers.number_type(number) in _MOBILE


def _is_possible(number: PhoneNumber) -> bool:
    # Not more: metadata of every country is old somewhere, and a guest would not get in.
    return phonenumbers.is_possible_number(number)


def _code(country: str) -> int:
    return phonenumbers.country_code_for_region(country)


def _remedy(country: str) -> str:
    abroad = "+1 201 555 0123" if _code(country) != 1 else "+82 10-2000-0000"
    return f"takes a mobile number like {example(country)}, or one with its country, like {abroad}"
