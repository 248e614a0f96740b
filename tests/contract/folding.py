"""How letters are folded, for languages without NFKC: Go's standard library has none.

Two texts have the same NFKC if they have the same NFKD, which needs no composition, so one line per
letter is enough. Hangul is left out, because its rule is short.
"""

from __future__ import annotations

import sys
import unicodedata

VERSION = "14.0.0"
"""The Unicode version of Python 3.11, as in CI; another Python leaves the file alone."""

_HANGUL = range(0xAC00, 0xD7A4)


def is_ours() -> bool:
    """Tell whether this Python has the Unicode version of the table."""
    return unicodedata.unidata_version == VERSION


def table() -> str:
    """Return a line per letter that is not its own folding: its code, then those of its folding.

    A letter with an empty folding is invisible.
    """
    lines = [f"# Unicode {VERSION}: letter, folding. Made by `make vectors`; do not edit."]
    for code in range(0x80, sys.maxunicode + 1):
        char = chr(code)
        if code in _HANGUL or unicodedata.category(char) in ("Cs", "Cn", "Co", "Cc"):
            continue
        if (text := _folded(char)) != char:
            lines.append(" ".join(f"{ord(part):x}" for part in char + text))
    return "\n".join(lines) + "\n"


def _folded(char: str) -> str:
    """Fold one letter until nothing changes, as a gate does with the whole path."""
    before = ""
    while char != before:
        before = char
        char = unicodedata.normalize("NFKD", char).casefold()
        char = "".join(part for part in char if unicodedata.category(part) != "Cf")
    return char
