"""What each person saw, as columns of numbers: a hundred bytes a person, for a million people.

All times are by the monotonic clock of this machine, which its processes share; NaN means never.
The server acts at some moment between request and reply, so both times are kept wherever a check
has to be sure.
"""

from __future__ import annotations

import base64
import math
from array import array
from collections.abc import Iterator, Mapping
from enum import IntEnum
from typing import Any, NamedTuple

NEVER = math.nan
_BLOCK = 5_000


class End(IntEnum):
    """How a visit ended."""

    SERVED = 0
    LEFT = 1
    NO_SHOW = 2
    REFUSED = 3
    WAITING = 4
    CALLED = 5
    INSIDE = 6
    NOT_COME = 7
    LATE = 8
    LOST = 9
    UNREACHED = 10


class Visit(NamedTuple):
    """What one person saw."""

    end: int
    join_sent: float = NEVER
    """When the join that succeeded was first sent."""

    joined: float = NEVER
    last_waiting: float = NEVER
    """When the last request whose reply was `waiting` was sent."""

    called: float = NEVER
    """When the first reply with `called` or `inside` came."""

    enter_sent: float = NEVER
    entered: float = NEVER
    held_until: float = NEVER
    """Until when the person certainly had a place, called or inside; infinite if to the end."""

    positions: int = 0
    rises: int = 0
    """How many positions were seen, and how often one was higher than the one before."""


_MOMENTS = Visit._fields[1:8]
_COUNTS = ("positions", "rises")


class History:
    """The visits of a crowd."""

    def __init__(self) -> None:
        self._end = array("B")
        self._moments = {name: array("d") for name in _MOMENTS}
        self._counts = {name: array("L") for name in _COUNTS}

    def __len__(self) -> int:
        return len(self._end)

    def __iter__(self) -> Iterator[Visit]:
        return map(Visit._make, zip(*self._columns().values(), strict=True))

    def add(self, visit: Visit) -> None:
        """Note a visit."""
        self._end.append(visit.end)
        for name, column in self._moments.items():
            column.append(getattr(visit, name))
        for name, counts in self._counts.items():
            counts.append(getattr(visit, name))

    def blocks(self) -> Iterator[dict[str, str]]:
        """Yield all visits as JSON, some thousand people at a time."""
        columns = self._columns()
        for start in range(0, len(self), _BLOCK):
            yield {
                name: base64.b64encode(column[start : start + _BLOCK].tobytes()).decode()
                for name, column in columns.items()
            }

    def _columns(self) -> dict[str, array[Any]]:
        return {"end": self._end, **self._moments, **self._counts}

    def take(self, block: Mapping[str, str]) -> None:
        """Add a block from another process."""
        for name, column in self._columns().items():
            column.frombytes(base64.b64decode(block[name]))
