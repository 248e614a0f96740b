"""Which rule a path falls under, however it is spelled. Pure.

Servers and frameworks differ in how they read `%2e%2e`, `//`, `;x`, `\\`, capitals and wide
letters. So a path is read in every way that any of them might, and is protected if one reading
is. Where two readings lead to different rooms, or it cannot be read at all, it is refused.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import unquote

from waitroom.errors import InvalidInput

Segments = tuple[str, ...]
LONGEST_PATH = 8_192
ANY = "*"
"""In the path of a rule: any one segment."""

_MOST_LAYERS = 6  # of encoding; nobody who means well needs a third
_MOST_REMEMBERED = 4_096
_LONGEST_REMEMBERED = 512
_PLAIN = re.compile(r"(?:/[A-Za-z0-9_~-]+(?:\.[A-Za-z0-9_~-]+)*)+/?|/", re.ASCII)
_SLASHES = re.compile(r"[/\\]+")
_WIDE_ESCAPE = re.compile(r"%u([0-9a-f]{4})", re.IGNORECASE)
_LOST = "\ufffd"


@dataclass(frozen=True, slots=True)
class Place:
    """A protected or free part of a site: `room` is None where everybody may go."""

    path: str
    room: str | None
    methods: frozenset[str] | None = None


class Unreadable(Exception):
    """A path that no two servers would read alike."""


@dataclass(frozen=True, slots=True)
class Match:
    """What a path falls under: the place, if any; `safe` is False for a path to be refused."""

    place: Place | None = None
    safe: bool = True


_FREE, _REFUSED = Match(), Match(safe=False)


def folded(path: str) -> str:
    """Return a path with every layer of encoding, case and look-alike spelling taken off."""
    for _ in range(_MOST_LAYERS):
        wide = _WIDE_ESCAPE.sub(lambda found: chr(int(found[1], 16)), path)
        text = unicodedata.normalize("NFKC", unquote(wide, errors="replace")).casefold()
        if not text.isascii():  # what cannot be seen does not tell two paths apart
            text = "".join(one for one in text if unicodedata.category(one) != "Cf")
        if any(unicodedata.category(one) in ("Cc", "Cs") for one in text):
            raise Unreadable
        if text == path:
            return text
        path = text
    raise Unreadable


def segments(text: str) -> list[str]:
    """Return the parts of a folded path, without parameters, blanks and dots at their ends."""
    found = []
    for part in _SLASHES.split(text):
        bare = re.split(r"[;?#]", part, maxsplit=1)[0].strip()
        if bare != "..":
            bare = bare.rstrip(". ")
        if bare:
            found.append(bare)
    return found


def resolved(parts: Sequence[str]) -> Segments:
    """Return the segments with each `..` taking away the one before it."""
    found: list[str] = []
    for part in parts:
        if part != "..":
            found.append(part)
        elif found:
            found.pop()
    return tuple(found)


def readings(path: str) -> set[Segments]:
    """Return every way in which a path might be read."""
    if len(path) > LONGEST_PATH:
        raise Unreadable
    if _PLAIN.fullmatch(path):
        return {tuple(path.lower().strip("/").split("/")) if path != "/" else ()}
    text = folded(path)
    texts = {text, text.replace(_LOST, "")} if _LOST in text else {text}
    parts = [segments(one) for one in texts]
    return {tuple(one) for one in parts} | {resolved(one) for one in parts}


def plain(path: str, found: set[Segments]) -> Segments | None:
    """Return the segments of a path that can be read in one way only; just such ones are let by."""
    text = "/" + "/".join(next(iter(found)))
    if len(found) > 1 or text not in (path.casefold(), path.casefold().removesuffix("/")):
        return None
    return tuple(path.strip("/").split("/"))


class Table:
    """Places, the most specific first: more segments, then fewer wildcards."""

    def __init__(self, places: Sequence[Place]) -> None:
        rows = [(pattern(place.path), place) for place in places]
        # Of a rule and a bypass for the same path the rule wins: to protect is the safer error.
        rows.sort(key=lambda row: (-len(row[0]), row[0].count(ANY), row[1].room is None))
        self._rows = rows
        self.by_method = any(place.methods for place in places)
        self._remembered = lru_cache(_MOST_REMEMBERED)(self._match)

    def match(self, method: str, path: str) -> Match:
        """Return what a request falls under."""
        if len(path) > _LONGEST_REMEMBERED:  # or a hostile caller would fill the memory with them
            return self._match(method, path)
        return self._remembered(method, path)

    def _match(self, method: str, path: str) -> Match:
        try:
            found = readings(path)
        except Unreadable:
            return _REFUSED
        exact = plain(path, found)
        places = {self._first(method, one, exact) for one in found} - {None}
        if not places:
            return _FREE
        if len({place.room for place in places if place is not None}) > 1:
            return _REFUSED  # a pass for the one room must not open the other
        return Match(max((one for one in places if one), key=lambda one: len(one.path)))

    def _first(self, method: str, parts: Segments, exact: Segments | None) -> Place | None:
        for wanted, place in self._rows:
            if not _covers(wanted, parts) or (place.methods and method not in place.methods):
                continue
            if place.room is not None:
                return place
            # `/concert/HEALTH` may be the seat of that name: a bypass is for one spelling only.
            if exact is not None and _covers(_as_written(place.path), exact):
                return None
        return None


def pattern(path: str) -> Segments:
    """Return the segments of a rule's path."""
    if not path.startswith("/"):
        raise InvalidInput("rules", f"{path!r:.80} is no path; it begins with /")
    try:
        found = segments(folded(path))
    except Unreadable:
        found = [".."]
    if ".." in found:
        raise InvalidInput("rules", f"{path!r:.80} can be read in more ways than one; write it out")
    return tuple(found)


def _covers(wanted: Segments, parts: Segments) -> bool:
    return len(wanted) <= len(parts) and all(
        one in (ANY, part) for one, part in zip(wanted, parts, strict=False)
    )


def _as_written(path: str) -> Segments:
    return tuple(one for one in path.split("/") if one)
