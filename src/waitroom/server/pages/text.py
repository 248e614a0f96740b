"""The words of the waiting page in each language: locale files, the choice between them, spans.

Numbers and spans are written here for the page as it leaves the server; `static/waiting/page.js`
writes them again in the visitor's time zone, by the same rules: a browser test checks.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType

from waitroom.estimate.methods import Wait

LOCALES = Path(__file__).parents[1] / "locales"
LANGUAGES = ("en", "ko")
"""The first one is spoken where a browser asks for none of them."""

_TAG = re.compile(r"\s*([A-Za-z]{1,8}|\*)(?:-[A-Za-z0-9-]{1,40})?\s*(?:;\s*q=([0-9.]{1,5}))?\s*")
_MOST_TAGS = 20
_HOUR_M = 60
_TENTHS_FROM_M = 90
"""Waits from here on are told to ten minutes: more would be false precision."""


@dataclass(frozen=True, slots=True)
class Text:
    """One language: `text("place", n=4)`."""

    lang: str
    words: Mapping[str, str]

    def __call__(self, key: str, **values: object) -> str:
        """Return a sentence with its values filled in; whole numbers get their separators."""
        shown = {name: f"{v:,}" if isinstance(v, int) else v for name, v in values.items()}
        return self.words[key].format_map(shown)


@cache
def text_of(lang: str) -> Text:
    """Return the words of a language that we have."""
    words = json.loads((LOCALES / "waiting" / f"{lang}.json").read_text("utf-8"))
    return Text(lang, MappingProxyType(words))


def language(chosen: str | None, kept: str | None, accept: str | None) -> str:
    """Pick a language: what was clicked, what was clicked before, what the browser asks for."""
    for word in (chosen, kept):
        if word in LANGUAGES:
            return word
    best, best_q = LANGUAGES[0], 0.0
    for tag in (accept or "").split(",", _MOST_TAGS)[:_MOST_TAGS]:
        if match := _TAG.fullmatch(tag):
            name, q = match[1].lower(), _quality(match[2])
            if name in LANGUAGES and q > best_q:
                best, best_q = name, q
    return best


def _quality(text: str | None) -> float:
    try:
        return float(text) if text else 1.0
    except ValueError:
        return 0.0


def wait_words(text: Text, wait: Wait | None) -> str:
    """Say a wait as an honest range: whole minutes, tens of minutes when long."""
    if wait is None:
        return text("wait_unknown")
    if wait.high < 60:
        return text("wait_soon")
    low, high = wait.low // 60, -(-wait.high // 60)
    if high > _TENTHS_FROM_M:
        low, high = low // 10 * 10, -(-high // 10) * 10
    if high == 1:
        return text("wait_minute")
    if low < 1:
        return text("wait_up_to", span=minutes(text, high))
    if high > _TENTHS_FROM_M:
        return text("wait_span", low=minutes(text, low), high=minutes(text, high))
    if low == high:
        return text("wait_about", n=high)
    return text("wait_range", low=low, high=high)


def minutes(text: Text, total: int) -> str:
    """Say minutes, in hours and minutes from an hour on."""
    h, m = divmod(total, _HOUR_M)
    if not h:
        return text("span_m", m=m)
    return text("span_hm", h=h, m=m) if m else text("span_h", h=h)


def span(text: Text, seconds: float) -> str:
    """Say a length of time, under two minutes in seconds."""
    if seconds < 120:
        return text("span_s", s=int(seconds))
    return minutes(text, int(seconds // 60))


def clock(text: Text, seconds: float) -> str:
    """Count down: `4:51`, `2:04:51`, `3 d 2:04:51`."""
    m, s = divmod(max(0, int(seconds)), 60)
    h, m = divmod(m, 60)
    d, h = divmod(h, 24)
    short = f"{h}:{m:02}:{s:02}" if d or h else f"{m}:{s:02}"
    return f"{text('days', n=d)} {short}" if d else short
