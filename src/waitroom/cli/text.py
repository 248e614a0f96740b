"""How numbers, sizes and times are written for people, and read from them."""

from __future__ import annotations

import math
import re
import time
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from waitroom.errors import InvalidInput, InvalidPolicy

NONE = "–"
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0}
_SPAN = re.compile(r"(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+", re.ASCII)
_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)", re.ASCII)
_FIRST_MS = 100_000_000_000  # in 1973: a smaller number was meant as seconds
_LONGEST_AGE_S = 366 * 86_400


def number(value: int | None) -> str:
    """Return 5021 as 5,021."""
    return NONE if value is None else f"{value:,}"


def people(count: int) -> str:
    """Return '1 person' or '5,021 people'."""
    return "1 person" if count == 1 else f"{count:,} people"


def plain(value: float) -> str:
    """Return a number without needless digits: 6.0 is 6."""
    return f"{value:.3f}".rstrip("0").rstrip(".")


def span(seconds: float) -> str:
    """Return a length of time in its two largest units: 754 is '12 min 34 s'."""
    if seconds < 60:
        return f"{plain(round(seconds, 1 if seconds >= 1 else 3))} s"
    left = round(seconds)
    parts: list[str] = []
    for name, size in (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1)):
        count, left = divmod(left, size)
        if count or parts:
            parts.append(f"{count} {name}" if count else "")
    return " ".join(part for part in parts[:2] if part)


def moment(ms: int | None, zone: str | None = None) -> str:
    """Return a Unix time in ms in a zone, else in the local one, with its offset."""
    if ms is None:
        return NONE
    there = ZoneInfo(zone) if zone else None
    return datetime.fromtimestamp(ms / 1000, UTC).astimezone(there).isoformat(" ", "seconds")


def size(count: int) -> str:
    """Return a number of bytes as people read it."""
    value = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if value < 1024:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1024
    return f"{value:.1f} TiB"


def read_span(text: str) -> float | None:
    """Return the seconds of '90', '10m' or '1h30m'; None if it is not a length of time."""
    try:
        return float(text)
    except ValueError:
        if not _SPAN.fullmatch(text):
            return None
        return sum(float(count) * _UNITS[unit] for count, unit in _PART.findall(text))


def read_seconds(option: str, text: str) -> float:
    """Return the seconds of a length of time that was given with an option."""
    seconds = read_span(text)
    if seconds is None:
        raise InvalidInput(
            option, f"{text!r:.40} is not a length of time; write 90, or like 90s, 10m, 2h"
        )
    return seconds


def read_age(option: str, text: str | None) -> int | None:
    """Return the milliseconds of an age that was given with an option."""
    if text is None:
        return None
    seconds = read_span(text)
    if seconds is None or not 0 <= seconds <= _LONGEST_AGE_S:
        raise InvalidInput(
            option, f"{text!r:.40} is not an age of up to 366 days; write 90s, 10m, 2h or 1h30m"
        )
    return round(seconds * 1000)


def read_moment(field: str, text: str) -> int:
    """Return the Unix time in ms of an RFC 3339 time with a zone, or of a number of ms."""
    if text.isdecimal():
        if int(text) < _FIRST_MS:
            raise InvalidPolicy(field, f"{text:.40} is too small for ms; multiply it by 1000")
        return int(text)
    example = "write it as 2030-03-01T20:00:00+09:00"
    try:
        parsed = datetime.fromisoformat(text)
    except ValueError:
        raise InvalidPolicy(field, f"{text!r:.40} is not a time; {example}") from None
    if parsed.tzinfo is None:
        raise InvalidPolicy(field, f"{text!r:.40} has no zone; {example}")
    return round(parsed.timestamp() * 1000)


def read_since(field: str, text: str) -> int:
    """Return the Unix time in ms of an age like 2h or 7d, or of a moment."""
    seconds = None if text.isdecimal() else read_span(text)
    if seconds is None or not math.isfinite(seconds):
        return read_moment(field, text)
    return max(0, round((time.time() - seconds) * 1000))
