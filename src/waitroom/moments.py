"""Moments of a policy, `opens_at` and `ends_at`: how people write them, and how we do. Pure."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from waitroom.errors import InvalidPolicy

_EXAMPLE = "2030-03-01T20:00:00+09:00"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MS = timedelta(milliseconds=1)
_DATE = 10  # characters of a date: a moment has more


def read(name: str, value: Any, zone: str | None) -> datetime:
    """Return a moment in UTC, to the millisecond; `zone` applies if the text names no zone."""
    moment = value
    if isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value) if len(value) > _DATE else None
        except ValueError:
            moment = None
    if not isinstance(moment, datetime):
        raise InvalidPolicy(name, f"{str(value)!r:.40} is not a time; write it as {_EXAMPLE}")
    if moment.tzinfo is None:
        if zone is None:
            raise InvalidPolicy(
                name, f"{str(value)!r:.40} has no zone; write it as {_EXAMPLE}, or set `time_zone`"
            )
        moment = moment.replace(tzinfo=ZoneInfo(zone))
    try:
        return from_ms(to_ms(moment))
    except OverflowError:  # in the year 1 or 9999, in another zone
        raise InvalidPolicy(name, f"{str(value)!r:.40} is too far away") from None


def from_ms(ms: int) -> datetime:
    """Return a Unix time in ms as a moment."""
    return _EPOCH + ms * _MS


def to_ms(moment: datetime) -> int:
    """Return a moment as Unix time in ms."""
    return (moment - _EPOCH) // _MS


def written(moment: datetime) -> str:
    """Return a moment as RFC 3339 in UTC, as the API writes it."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
