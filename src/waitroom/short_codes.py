"""Short codes: `K7Q-4M2` stands for the first 30 bits of a ticket's id. Pure.

People read them out to support. A code is no credential: knowing one gives no access. Among a
million tickets about one in a thousand shares its code with another. Nothing is stored: the first 5
characters of an id, in base64url, are the 6 letters of a code in Crockford's base32.
"""

from __future__ import annotations

import string

from waitroom.crockford import LETTERS, number_of, read

_ID_LETTERS = string.ascii_uppercase + string.ascii_lowercase + string.digits + "-_"
_ID_VALUES = {letter: value for value, letter in enumerate(_ID_LETTERS)}
_PAIRS = [a + b for a in LETTERS for b in LETTERS]
_MIDDLES = [f"{a}-{b}" for a in LETTERS for b in LETTERS]
_LENGTH = 6
_PREFIX = 5


def code_of(ticket_id: str) -> str:
    """Return the short code of a ticket's id."""
    bits = 0
    for letter in ticket_id[:_PREFIX]:
        bits = bits << 6 | _ID_VALUES[letter]
    return f"{_PAIRS[bits >> 20]}{_MIDDLES[bits >> 10 & 1023]}{_PAIRS[bits & 1023]}"


def prefix_of(text: str) -> str | None:
    """Return the beginning of the ids that have a code, or None if `text` is not a code.

    People may type it in any case, with I and L for 1, O for 0, and dashes and spaces anywhere. It
    is never mistaken for an id, which is longer.
    """
    letters = read(text) if len(text) < 2 * _LENGTH else b""
    if len(letters) != _LENGTH:
        return None
    bits = number_of(letters)
    return "".join(_ID_LETTERS[bits >> shift & 63] for shift in range(24, -1, -6))
