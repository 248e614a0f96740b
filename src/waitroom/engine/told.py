"""The positions that this process has told waiting people, so that it can repeat them.

While the server does not answer, somebody who polls may get the same answer again. One number per
ticket would fill the memory of a process that a million people poll. So this is a table of fixed
size: 16 bytes per slot. If another ticket has taken a slot, the first one is simply not vouched
for.
"""

from __future__ import annotations

import mmap
import time
from typing import NamedTuple

_SLOTS = (1, 251, 4_093, 32_749, 262_139, 2_097_143)
"""Sizes of the table: nothing for a room where nobody waits, at most 32 MB. Primes, so that
consecutive places do not share a slot."""

_AT_BITS = 32
_AT = (1 << _AT_BITS) - 1


class Position(NamedTuple):
    """What somebody was told, 0 for a hidden position, and how many seconds ago."""

    position: int
    age_s: float


class Told:
    """The last position told to each place of a room."""

    __slots__ = ("_rows", "_slots", "restoring", "waiting")

    def __init__(self) -> None:
        self.waiting = 0
        self.restoring = False
        self._slots = 0
        self.forget_all()

    def forget_all(self) -> None:
        """Stop vouching for anybody, because the room was cleared or is another one."""
        self._resize(_SLOTS[0])

    def expect(self, waiting: int, *, restoring: bool = False) -> None:
        """Note how many wait, and make room for them. A larger table starts empty.

        `restoring` says why positions are hidden: the line is incomplete after a loss.
        """
        self.waiting, self.restoring = waiting, restoring
        if 2 * waiting > self._slots < _SLOTS[-1]:
            self._resize(next((slots for slots in _SLOTS if slots >= 2 * waiting), _SLOTS[-1]))

    @staticmethod
    def now() -> int:
        """Return the time as `waits` takes it: the same for all who are answered together."""
        return int(time.monotonic() * 10)

    def waits(self, place: int, position: int, now: int) -> None:
        """Note that the holder of a place is told that they wait, and where."""
        row, rows = place % self._slots * 2, self._rows
        rows[row] = place
        rows[row + 1] = position << _AT_BITS | now

    def forget(self, place: int) -> None:
        """Forget a place whose holder is no longer waiting."""
        row = place % self._slots * 2
        if self._rows[row] == place:
            self._rows[row] = 0

    def position(self, place: int) -> Position | None:
        """Return what the holder of a place was last told, if that is known."""
        row = place % self._slots * 2
        if not place or self._rows[row] != place:
            return None
        packed = self._rows[row + 1]
        return Position(packed >> _AT_BITS, time.monotonic() - (packed & _AT) / 10)

    def _resize(self, slots: int) -> None:
        self._slots = slots
        # Rows of two numbers: the place, and what its holder was told with the time. A large table
        # is mapped: a page is created when it is first written, and nobody waits for 32 MB of
        # zeros.
        size = 16 * slots
        memory = bytearray(size) if size < mmap.PAGESIZE else mmap.mmap(-1, size)
        self._rows = memoryview(memory).cast("Q")
