"""What limits the sources of new places: narrow doors, and the memory of what was refused."""

from __future__ import annotations

from typing import NamedTuple, TypeVar

from waitroom.entry_codes import EntryCode
from waitroom.errors import CodeRefused, TooMany, WaitroomError

MOST = 10_000
CODE_REFUSED_S = 2.0
"""How long a refused code is not asked for again: it may be given back any time."""

DEAD_CODES = 60
"""Codes that a source may show in vain in this time; then it has to wait."""


class NarrowDoor(NamedTuple):
    """How many new places a minute a door gives to a network, and to the network around it."""

    own: int
    around: int


def charged(source: str, narrow: NarrowDoor | None) -> str:
    """Return what a new place is charged to, as parts/sources.lua reads it."""
    return source if narrow is None else f"{source}:{narrow.own}:{narrow.around}"


class LimitedSources(dict[str, float]):
    """The sources of one room, each with the time until which it surely gets no new place.

    The server is not asked for them until then.
    """

    __slots__ = ()

    def wait_s(self, source: str, now_s: float) -> float:
        """Return for how long a source gets no place; 0 if that is not known."""
        until_s = self.get(source)
        if until_s is None:
            return 0.0
        if until_s <= now_s:
            del self[source]
            return 0.0
        return until_s - now_s

    def refuse(self, source: str, until_s: float) -> None:
        """Note that a source gets no place until then; if there are too many, forget the oldest."""
        _note(self, source, until_s)


class RefusedCodes(dict[str, dict[str, tuple[float, str, str]]]):
    """By source, the entry codes of one room that it showed in vain a moment ago, and why.

    A dead code gets no place, but needs no challenge and takes no token of its source either, so
    one would call the script without end. By source, because the holder of a used code gets their
    own place back, wherever they are.
    """

    __slots__ = ()

    def refusal(self, code: EntryCode, source: str, now_s: float) -> WaitroomError | None:
        """Return why a code is refused at once; None if the room must be asked."""
        shown = self.get(source, {})
        known = shown.get(code.name)
        if known is not None and known[0] > now_s:
            return CodeRefused(*known[1:])  # a new one: an error keeps alive whoever it was told
        # Somebody may have found a whole list of dead codes.
        if sum(until_s > now_s for until_s, _, _ in shown.values()) >= DEAD_CODES:
            return TooMany.joins(CODE_REFUSED_S)
        return None

    def refuse(self, code: EntryCode, source: str, error: CodeRefused, now_s: float) -> None:
        """Note a refusal; of many at once, those that are enough to make the source wait."""
        fresh = {name: known for name, known in self.get(source, {}).items() if known[0] > now_s}
        if len(fresh) < DEAD_CODES:
            fresh[code.name] = now_s + CODE_REFUSED_S, str(error), error.reason
        _note(self, source, fresh)


Name = TypeVar("Name")
Value = TypeVar("Value")


def _note(memory: dict[Name, Value], name: Name, value: Value) -> None:
    """Remember a value; if there are too many, forget the oldest half."""
    memory.pop(name, None)  # so that the newest stands last
    memory[name] = value
    if len(memory) > MOST:
        for oldest in list(memory)[: MOST // 2]:
            del memory[oldest]
