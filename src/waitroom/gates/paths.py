"""Which rule a path falls under, however it is spelled. Pure.

Servers and frameworks differ in how they read `%2e%2e`, `//`, `;x`, `\\`, capitals and wide
letters. So a path is read in every way that any of them might use, and is protected if one reading
is. If two readings lead to different rooms, or there is no reading, the request is refused.
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

_MOST_LAYERS = 6  # of encoding; no honest client needs a third
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
    """A path that servers read differently."""


@dataclass(frozen=True, slots=True)
class Match:
    """What a path falls under: the place, if any; `safe` is False for a path to be refused."""

    place: Place | None = None
    safe: bool = True


_FREE, REFUSED = Match(), Match(safe=False)


def folded(path: str) -> str:
    """Return a path with every layer of encoding, case and look-alike spelling removed."""
    for _ in range(_MOST_LAYERS):
        wide = _WIDE_ESCAPE.sub(lambda escape: chr(int(escape[1], 16)), path)
        text = unicodedata.normalize("NFKC", unquote(wide, errors="replace")).casefold()
        if not text.isascii():  # invisible characters do not make a different path
            text = "".join(char for char in text if unicodedata.category(char) != "Cf")
        if any(unicodedata.category(char) in ("Cc", "Cs") for char in text):
            raise Unreadable
        if text == path:
            return text
        path = text
    raise Unreadable


def segments(text: str) -> list[str]:
    """Return the parts of a folded path, without parameters, blanks and dots at their ends."""
    kept = []
    for part in _SLASHES.split(text):
        bare = re.split(r"[;?#]", part, maxsplit=1)[0].strip()
        if bare != "..":
            bare = bare.rstrip(". ")
        if bare:
            kept.append(bare)
    return kept


def resolved(parts: Sequence[str]) -> Segments:
    """Return the segments with each `..` taking away the one before it."""
    kept: list[str] = []
    for part in parts:
        if part != "..":
            kept.append(part)
        elif kept:
            kept.pop()
    return tuple(kept)


def readings(path: str) -> set[Segments]:
    """Return every way in which a path might be read."""
    if len(path) > LONGEST_PATH:
        raise Unreadable
    if _PLAIN.fullmatch(path):
        return {tuple(path.lower().strip("/").split("/")) if path != "/" else ()}
    text = folded(path)
    texts = {text, text.replace(_LOST, "")} if _LOST in text else {text}
    parts = [segments(reading) for reading in texts]
    return {tuple(reading) for reading in parts} | {resolved(reading) for reading in parts}


def plain(path: str, ways: set[Segments]) -> Segments | None:
    """Return the segments of a path with only one reading; only such paths may bypass."""
    text = "/" + "/".join(next(iter(ways)))
    if len(ways) > 1 or text not in (path.casefold(), path.casefold().removesuffix("/")):
        return None
    return tuple(path.strip("/").split("/"))


class Table:
    """Places, the most specific first: more segments, then fewer wildcards."""

    def __init__(self, places: Sequence[Place]) -> None:
        rows = [(pattern(place.path), place) for place in places]
        # If a rule and a bypass have the same path, the rule wins: protecting is the safer error.
        rows.sort(key=lambda row: (-len(row[0]), row[0].count(ANY), row[1].room is None))
        self._rows = rows
        self.methods = frozenset[str]().union(*(place.methods or () for place in places))
        self.by_method = bool(self.methods)
        self._remembered = lru_cache(_MOST_REMEMBERED)(self._match)

    def match(self, method: str, path: str) -> Match:
        """Return what a request falls under."""
        if len(path) > _LONGEST_REMEMBERED:  # else an attacker could fill the cache with them
            return self._match(method, path)
        return self._remembered(method, path)

    def _match(self, method: str, path: str) -> Match:
        try:
            ways = readings(path)
        except Unreadable:
            return REFUSED
        exact = plain(path, ways)
        places = {self._first(method, way, exact) for way in ways} - {None}
        if not places:
            return _FREE
        if len({place.room for place in places if place is not None}) > 1:
            return REFUSED  # a pass for one room must not open the other
        return Match(max((place for place in places if place), key=lambda place: len(place.path)))

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
        raise InvalidInput("rules", f"{path!r:.80} is not a path; it begins with /")
    try:
        parts = segments(folded(path))
    except Unreadable:
        parts = [".."]
    if ".." in parts:
        raise InvalidInput("rules", f"{path!r:.80} can be read in more ways than one; write it out")
    return tuple(parts)


def _covers(wanted: Segments, parts: Segments) -> bool:
    return len(wanted) <= len(parts) and all(
        expected in (ANY, part) for expected, part in zip(wanted, parts, strict=False)
    )


def _as_written(path: str) -> Segments:
    return tuple(part for part in path.split("/") if part)
