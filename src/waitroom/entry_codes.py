"""Entry codes: what a site gives to the people whom it invites into a room. Pure.

A code is 20 letters of Crockford's base32, in groups of five:

    batch 4 · serial in the batch 4 · uses 2 · MAC 10

The MAC covers the letters before it and the room, so any server with the key ring checks a code
without asking Redis, and a guess is right once in 2**50. Redis knows only which tickets used a code
and which batches are revoked. A code is no ticket and no pass: it is shown once, when its holder
joins.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from typing import NamedTuple

from waitroom import crockford
from waitroom.crockford import number_of, written
from waitroom.errors import CodeRefused, InvalidInput
from waitroom.tickets import KeyRing

MOST_CODES = 100_000
"""Codes of one batch: a CSV of 2.5 MB, and a tenth of the serials that there are."""

MOST_USES = 1_000
"""Uses of one code; every use is a ticket id, which the room keeps with the code."""

LONGEST_CODE = 64
"""Characters that people may type for a code, with blanks and dashes."""

_GROUP = 5
_LENGTH = 20
_BATCH, _SERIAL, _USES = 4, 4, 2
_NAME = _BATCH + _SERIAL
_MAC_AT = _NAME + _USES
_USES_OF = {written(uses - 1, _USES).encode(): uses for uses in range(1, MOST_USES + 1)}


class EntryCode(NamedTuple):
    """One code without its MAC: its name, of batch and serial, and how many places it gives."""

    name: str
    uses: int = 1

    @property
    def batch(self) -> str:
        """The codes that it was made with."""
        return self.name[:_BATCH]


def code_of(batch: str, serial: int, uses: int = 1) -> EntryCode:
    """Return a code of a batch by its number."""
    if batch != batch_of(batch):
        raise InvalidInput("batch", f"takes {_BATCH} letters and digits")
    if not 0 <= serial < 32**_SERIAL:
        raise InvalidInput("serial", f"takes 0 to {32**_SERIAL - 1}")
    if not 1 <= uses <= MOST_USES:
        raise InvalidInput("uses", f"takes 1 to {MOST_USES}")
    return EntryCode(batch + written(serial, _SERIAL), uses)


def new_batch() -> str:
    """Return a name for a batch, at random; the room refuses one that it has."""
    return written(secrets.randbelow(32**_BATCH), _BATCH)


def batch_of(text: str) -> str | None:
    """Return the batch that somebody typed, or None if no batch is written like that."""
    letters = crockford.read(text[: LONGEST_CODE + 1])
    return letters.decode() if len(letters) == _BATCH else None


def write(ring: KeyRing, room: str, code: EntryCode) -> str:
    """Return a code as people get it."""
    signed = code.name + written(code.uses - 1, _USES)
    letters = signed + written(ring.code_mac(room, signed.encode()), _LENGTH - _MAC_AT)
    return "-".join(letters[at : at + _GROUP] for at in range(0, _LENGTH, _GROUP))


def write_batch(ring: KeyRing, room: str, batch: str, count: int, uses: int) -> Iterator[str]:
    """Yield the codes of a batch; the same ring writes the same codes again."""
    for serial in range(count):
        yield write(ring, room, code_of(batch, serial, uses))


def read(ring: KeyRing, room: str, text: str) -> EntryCode | None:
    """Return the code that somebody typed, or None if we did not make it for this room.

    They may type it in any case, with O for 0, I or L for 1, and with dashes and blanks anywhere.
    """
    letters = crockford.read(text) if len(text) <= LONGEST_CODE else b""
    if len(letters) != _LENGTH:
        return None
    uses = _USES_OF.get(letters[_NAME:_MAC_AT])
    good = ring.is_code_mac(room, letters[:_MAC_AT], number_of(letters[_MAC_AT:]))
    return EntryCode(letters[:_NAME].decode(), uses) if good and uses else None


def unknown() -> CodeRefused:
    """Return the refusal of a text that is no code of the room."""
    return CodeRefused("it is not a code of this room; check each letter and digit", "unknown")
