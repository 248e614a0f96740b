"""How the waiting page writes waits and spans.

`static/waiting/page.js` writes them by the same rules in the visitor's time zone; a browser test
checks that.
"""

from __future__ import annotations

from waitroom.estimate.methods import Wait
from waitroom.server.pages.locales import load_locales
from waitroom.server.pages.text import Text

_HOUR_M = 60
_DAY_S = 86_400
_NEAR = 4
"""The last place whose turn may come at any moment: three people ahead."""
_TENS_FROM_M = 90
"""Waits from here on are rounded to ten minutes: more would be false precision."""
_WIDE = 2
"""A range that ends later than so many times its beginning gets no time of day."""
_FAR, _FAR_FROM_M = 6, 30
"""The end of one that ends later than so many times, and after half an hour, says nothing."""


def words_of(lang: str) -> Text:
    """Return the page's texts in one of the languages that we ship."""
    return load_locales(None)[lang]


def wait_words(text: Text, wait: Wait | None, position: int | None) -> str:
    """Say a wait as an honest range: whole minutes, tens of minutes when long.

    The wider it is, the less is said: "8–11 minutes", "between 5 and 30 minutes", "at least 4
    minutes", "working it out".
    """
    if wait is None:
        return text("wait_unknown")
    if wait.high < 60:
        # With many people ahead, nobody believes "any moment", however fast the line is.
        return text("wait_soon" if (position or 1) <= _NEAR else "wait_short")
    low, high = wait.low // 60, -(-wait.high // 60)
    if high > max(_FAR_FROM_M, _FAR * low) and low < _HOUR_M:
        return text("wait_least", n=low) if low > 1 else text("wait_unknown")
    if high > _TENS_FROM_M:
        low, high = low // 10 * 10, -(-high // 10) * 10
    if high in (1, low):
        return text("wait_about", n=high)
    if low < 1:
        return text("wait_up_to", span=minutes(text, high))
    if high > _TENS_FROM_M:
        return text("wait_span", low=minutes(text, low), high=minutes(text, high))
    wide = wait.high > _WIDE * wait.low
    return text("wait_between" if wide else "wait_range", low=low, n=high)


def minutes(text: Text, total: int) -> str:
    """Say minutes, in hours and minutes from an hour on."""
    h, m = divmod(total, _HOUR_M)
    if not h:
        return text("span_m", n=m)
    return text("span_hm", h=h, m=m) if m else text("span_h", n=h)


def span(text: Text, seconds: float) -> str:
    """Say a length of time, under two minutes in seconds, from a day on in days and hours."""
    if seconds < 120:
        return text("span_s", n=max(0, int(seconds)))
    days, rest_s = divmod(int(seconds), _DAY_S)
    if not days:
        return minutes(text, rest_s // 60)
    hours = rest_s // 3_600
    return f"{text('days', n=days)} {text('span_h', n=hours)}" if hours else text("days", n=days)
