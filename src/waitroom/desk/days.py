"""Days and closing times in a store's time zone. Pure: the time is always an argument."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from waitroom.desk.models import Store

NIGHT_ENDS = time(6)
"""A closing time before this hour belongs to the previous evening; so do the hours until then."""


def day_of(now_ms: int, time_zone: str) -> date:
    """Return the calendar day in a time zone. Party numbers start again each day."""
    return _local(now_ms, time_zone).date()


def closes_at_ms(store: Store, now_ms: int) -> int | None:
    """Return when the current service ends, even if that has passed; None if it never ends.

    A service day goes from 06:00 to 06:00, so that at 01:00 a bar that closes at 02:00 is still
    open, and a kitchen that closes at 22:00 is not.
    """
    if store.closes_at is None:
        return None
    now, closes = _local(now_ms, store.time_zone), time.fromisoformat(store.closes_at)
    day = now.date() if now.time() >= NIGHT_ENDS else now.date() - timedelta(days=1)
    if closes < NIGHT_ENDS:
        day += timedelta(days=1)
    return round(datetime.combine(day, closes, now.tzinfo).timestamp() * 1000)


def _local(now_ms: int, time_zone: str) -> datetime:
    return datetime.fromtimestamp(now_ms / 1000, _zone(time_zone))


@lru_cache(maxsize=64)
def _zone(name: str) -> ZoneInfo:
    return ZoneInfo(name)
