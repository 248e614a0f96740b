"""The positions that this process has told people who wait, so that it can vouch for them.

While the server does not answer, somebody who polls may be told the same again. One number per
ticket would fill the memory of a process that a million people poll, so this is a table of fixed
size: 16 bytes per slot, and a ticket whose slot another has taken is simply not vouched for.
"""

from __future__ import annotations

import time
from array import array
from typing import NamedTuple

_SLOTS = (1, 251, 4_093, 65_521, 2_097_143)
"""Sizes of the table: nothing for a room where nobody waits, at most 32 MB. Primes, so that places
that follow each other do not meet in a slot."""


class Position(NamedTuple):
    """What somebody was told, 0 for a hidden position, and how many seconds ago."""

    position: int
    age_s: float


class Told:
    """The last position told to each place of a room."""

    __slots__ = ("_at", "_places", "_positions", "_slots", "waiting")

    def __init__(self) -> None:
        self.waiting = 0
        self._slots = 0
        self.forget_all()

    def forget_all(self) -> None:
        """Vouch for nobody any more, because the room was cleared or is another one."""
        self._resize(_SLOTS[0])

    def expect(self, waiting: int) -> None:
        """Note how many wait, and make room for them. A larger table begins empty."""
        self.waiting = waiting
        if 2 * waiting > self._slots < _SLOTS[-1]:
            self._resize(next((slots for slots in _SLOTS if slots >= 2 * waiting), _SLOTS[-1]))

    @staticmethod
    def now() -> int:
        """Return the time as `waits` takes it: the same for all who are told together."""
        return int(time.monotonic() * 10)

    def waits(self, place: int, position: int, now: int) -> None:
        """Note that the holder of a place is told that they wait, and where."""
        slot = place % self._slots
        self._places[slot] = place
        self._positions[slot] = position
        self._at[slot] = now

    def forget(self, place: int) -> None:
        """Forget a place whose holder waits no longer."""
        slot = place % self._slots
        if self._places[slot] == place:
            self._places[slot] = 0

    def position(self, place: int) -> Position | None:
        """Return what the holder of a place was told last, if that is known."""
        slot = place % self._slots
        if not place or self._places[slot] != place:
            return None
        return Position(self._positions[slot], time.monotonic() - self._at[slot] / 10)

    def _resize(self, slots: int) -> None:
        self._slots = slots
        self._places = array("Q", bytes(8 * slots))
        self._positions = array("I", bytes(4 * slots))
        self._at = array("I", bytes(4 * slots))
