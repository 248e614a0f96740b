"""Days and closing times of a store."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from waitroom.desk.days import closes_at_ms, day_of
from waitroom.desk.models import Store


def ms(text: str) -> int:
    """Return a time in ms; the text gives its offset."""
    return round(datetime.fromisoformat(text).timestamp() * 1000)


@pytest.mark.parametrize(
    ("moment", "zone", "day"),
    [
        ("2026-12-31T23:59:59.999+09:00", "Asia/Seoul", date(2026, 12, 31)),
        ("2027-01-01T00:00:00+09:00", "Asia/Seoul", date(2027, 1, 1)),
        ("2027-01-01T00:00:00+09:00", "UTC", date(2026, 12, 31)),
        ("2027-01-01T00:00:00+09:00", "America/Los_Angeles", date(2026, 12, 31)),
        ("2028-02-29T12:00:00+13:00", "Pacific/Auckland", date(2028, 2, 29)),
    ],
)
def test_the_time_zone_of_the_store_decides_the_day(moment: str, zone: str, day: date) -> None:
    """The same moment is another day elsewhere, and a day begins at its own midnight."""
    assert day == day_of(ms(moment), zone)


def test_a_store_without_a_closing_time_never_closes() -> None:
    """Without a closing time there is no limit."""
    assert None is closes_at_ms(Store(id="a", title="a"), ms("2026-05-08T18:00:00+09:00"))


@pytest.mark.parametrize(
    ("now", "closes_at", "closes"),
    [
        ("2026-05-08T18:00", "22:00", "2026-05-08T22:00"),
        ("2026-05-08T22:30", "22:00", "2026-05-08T22:00"),  # over, and still this evening's
        ("2026-05-09T00:30", "22:00", "2026-05-08T22:00"),
        ("2026-05-09T06:00", "22:00", "2026-05-09T22:00"),  # a new day of service
        ("2026-05-08T18:00", "02:00", "2026-05-09T02:00"),  # of the night that follows
        ("2026-05-09T01:59", "02:00", "2026-05-09T02:00"),
        ("2026-05-09T05:59", "02:00", "2026-05-09T02:00"),
        ("2026-05-09T06:00", "02:00", "2026-05-10T02:00"),
        ("2026-05-08T18:00", "00:00", "2026-05-09T00:00"),
        ("2026-12-31T23:00", "01:00", "2027-01-01T01:00"),
        ("2026-05-08T05:00", "06:00", "2026-05-07T06:00"),
    ],
)
def test_a_night_belongs_to_the_evening_before(now: str, closes_at: str, closes: str) -> None:
    """Service runs from six to six, so a time after midnight belongs to the evening before."""
    store = Store(id="a", title="a", closes_at=closes_at)
    closing_ms = closes_at_ms(store, ms(f"{now}+09:00"))
    assert closing_ms is not None
    assert datetime.fromisoformat(f"{closes}+09:00") == datetime.fromtimestamp(
        closing_ms / 1000, UTC
    )


def test_clocks_that_change_at_night_are_followed() -> None:
    """A closing time is on the wall clock, even in the night when clocks go forward."""
    store = Store(id="a", title="a", time_zone="Europe/Berlin", closes_at="04:00")
    # 2026-03-29 02:00 → 03:00: four o'clock comes an hour earlier.
    closing_ms = closes_at_ms(store, ms("2026-03-28T23:00:00+01:00"))
    assert ms("2026-03-29T04:00:00+02:00") == closing_ms
