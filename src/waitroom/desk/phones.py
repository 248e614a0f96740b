"""Phone numbers: parsed from what people type, kept in one form, and masked for lists. Pure.

The form is E.164, like +821012345678: what the vendors of SMS and 알림톡 take.
"""

from __future__ import annotations

import re
import unicodedata

from waitroom.errors import InvalidInput

_LONGEST = 40
_BETWEEN = re.compile(r"[\s().\-\u2010-\u2015]")
# 010 has eight digits after it; the older ones have seven or eight.
_KOREAN = re.compile(r"(10[0-9]{8}|1[16789][0-9]{7,8})", re.ASCII)
_FOREIGN = re.compile(r"\+[1-9][0-9]{6,14}", re.ASCII)
_REMEDY = "takes a mobile number like 010-1234-5678, or one with its country, like +1 415 555 0100"


def read_phone(text: str) -> str:
    """Return a number as E.164; anything else is refused, and never repeated in the message."""
    if not isinstance(text, str) or len(text) > _LONGEST:
        raise InvalidInput("phone", _REMEDY)
    # Full-width digits of an input method are digits too.
    plain = _BETWEEN.sub("", unicodedata.normalize("NFKC", text))
    plain = f"+{plain[2:]}" if plain.startswith("00") else plain
    if plain.startswith("+82") or not plain.startswith("+"):
        return _korean(plain)
    if not _FOREIGN.fullmatch(plain):
        raise InvalidInput("phone", _REMEDY)
    return plain


def masked(phone: str) -> str:
    """Return a masked number: only the last four digits, which a host asks for."""
    if phone.startswith("+82"):
        return f"0{phone[3:5]}-****-{phone[-4:]}"
    return f"+{'*' * (len(phone) - 5)}{phone[-4:]}"


def _korean(plain: str) -> str:
    if plain.startswith("+82"):
        # Many people write the 0 after the country code.
        rest = plain[3:].removeprefix("0")
    else:
        rest = plain[1:] if plain.startswith("0") else ""
    if not _KOREAN.fullmatch(rest):
        raise InvalidInput("phone", _REMEDY)
    return f"+82{rest}"
