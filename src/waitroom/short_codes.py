"""Short codes: `K7Q-4M2` stands for the first 30 bits of a ticket's id. Pure.

People read them out to support. A code is no credential: whoever knows one can do nothing with it,
and among a million tickets about one in a thousand shares its code with another. Nothing is stored:
the first 5 characters of an id, in base64url, are the 6 letters of a code in Crockford's base32.
"""

from __future__ import annotations

import string

LETTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
"""Crockford's base32: without I, L, O and U, which are misread or misheard."""

_ID_LETTERS = string.ascii_uppercase + string.ascii_lowercase + string.digits + "-_"
_ID_VALUES = {letter: value for value, letter in enumerate(_ID_LETTERS)}
_PAIRS = [a + b for a in LETTERS for b in LETTERS]
_MIDDLES = [f"{a}-{b}" for a in LETTERS for b in LETTERS]
_VALUES = {letter: value for value, letter in enumerate(LETTERS)} | {"I": 1, "L": 1, "O": 0}
_LENGTH = 6
_PREFIX = 5


def code_of(ticket_id: str) -> str:
    """Return the short code of a ticket's id."""
    bits = 0
    for letter in ticket_id[:_PREFIX]:
        bits = bits << 6 | _ID_VALUES[letter]
    return f"{_PAIRS[bits >> 20]}{_MIDDLES[bits >> 10 & 1023]}{_PAIRS[bits & 1023]}"


def prefix_of(text: str) -> str | None:
    """Return what the ids of a code begin with, or None if `text` is not a code.

    Read as people type: in any case, I and L for 1, O for 0, dash and spaces as they like. It is
    never taken for an id, which is longer.
    """
    letters = "".join(text.upper().replace("-", " ").split()) if len(text) < 2 * _LENGTH else ""
    if len(letters) != _LENGTH or not all(letter in _VALUES for letter in letters):
        return None
    bits = 0
    for letter in letters:
        bits = bits << 5 | _VALUES[letter]
    return "".join(_ID_LETTERS[bits >> shift & 63] for shift in range(24, -1, -6))
