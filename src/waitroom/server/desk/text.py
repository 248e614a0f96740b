"""The words of the desk's pages in each language, and how they say waits, counts and times.

`static/desk/place.js` writes a guest's wait by the same rules; a browser test checks that both
agree. Times are in the store's time zone: people who wait there read its clock.
"""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

from waitroom.desk.live.waits import LineSummary
from waitroom.desk.models import Party, Range, Store
from waitroom.server.pages.text import Text

_HOUR_M = 60
_FIVES_FROM_M, _TENS_FROM_M = 20, 120
"""From here on a wait is rounded to five, then to ten minutes: more is false precision."""


def some(text: Text, key: str, n: int, **values: object) -> str:
    """Say a number of things; the singular may have its own words."""
    singular = f"{key}_one"
    return text(singular if n == 1 and singular in text.words else key, n=n, **values)


def span(text: Text, total_m: int) -> str:
    """Say minutes, in hours and minutes from an hour on."""
    h, m = divmod(total_m, _HOUR_M)
    if not h:
        return text("span_m", m=m)
    return text("span_hm", h=h, m=m) if m else text("span_h", h=h)


def wait(text: Text, minutes: int | None) -> str:
    """Say a wait."""
    if minutes is None:
        return text("wait_unknown")
    if minutes < 1:
        return text("wait_soon")
    step = _step(minutes)
    return text("wait_about", span=span(text, (minutes + step // 2) // step * step))


def within(text: Text, minutes: Range) -> str:
    """Say a range, rounded outwards."""
    step = _step(minutes.high)
    low, high = minutes.low // step * step, max(1, -(-minutes.high // step) * step)
    if low == high:
        return text("wait_about", span=span(text, high))
    if low < 1:
        return text("wait_up_to", span=span(text, high))
    if high < _TENS_FROM_M:
        return text("wait_range", low=low, high=high)
    return text("wait_long_range", low=span(text, low), high=span(text, high))


def newcomer_wait(text: Text, summary: LineSummary) -> str:
    """Say how long a party that joins now would wait: as observed, if that is known."""
    if summary.observed is not None:
        return within(text, summary.observed)
    return wait(text, summary.wait_minutes)


def clock(store: Store, at_ms: int) -> str:
    """Return a time of day at the store."""
    return datetime.fromtimestamp(at_ms / 1000, ZoneInfo(store.time_zone)).strftime("%H:%M")


def who(text: Text, party: Party) -> str:
    """Say who a party is to the hosts: its number and name."""
    return text("who", n=party.number, name=party.name or text("host_anonymous"))


def _step(minutes: int) -> int:
    if minutes < _FIVES_FROM_M:
        return 1
    return 5 if minutes < _TENS_FROM_M else 10
