"""Numbers in Crockford's base32, which people can read out and type. Pure."""

from __future__ import annotations

LETTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
"""Without I, L, O and U, which are misread or misheard."""

VALUES = {letter: value for value, letter in enumerate(LETTERS)} | {"I": 1, "L": 1, "O": 0}
"""What each letter stands for, as people may type it."""

_DIGITS = b"0123456789abcdefghijklmnopqrstuv"  # of `int(text, 32)`, which is quicker than a loop
_DIGIT_OF = bytes.maketrans(LETTERS.encode(), _DIGITS)
_SKIPPED = b"-_. \t\r\n"
_WIDE = dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2014\u00a0\u3000"))


def _typed() -> bytes:
    """Return the table that turns what people type into `LETTERS`, and all else into `!`."""
    table = bytearray(b"!" * 256)
    for letter, value in VALUES.items():
        table[ord(letter)] = table[ord(letter.lower())] = ord(LETTERS[value])
    return bytes(table)


_TYPED = _typed()


def written(number: int, length: int) -> str:
    """Return a number in so many letters."""
    return "".join(LETTERS[number >> shift & 31] for shift in range(5 * (length - 1), -1, -5))


def number_of(letters: bytes) -> int:
    """Return the number that letters stand for, all of them from `LETTERS`."""
    return int(letters.translate(_DIGIT_OF), 32)


def read(text: str) -> bytes:
    """Return what somebody typed, in `LETTERS`; empty if it holds anything else.

    They may type it in any case, with O for 0, I or L for 1, and with dashes and blanks anywhere.
    """
    if not text.isascii():
        text = text.translate(_WIDE)
    letters = text.encode("ascii", "replace").translate(_TYPED, _SKIPPED)
    return letters if letters.isalnum() else b""
