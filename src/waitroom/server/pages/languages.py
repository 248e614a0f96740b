"""Which of our languages somebody reads: their choice, or what their browser asks for.

The lookup of RFC 4647, which also uses CLDR for the script of a region: zh-TW is zh-Hant.
"""

from __future__ import annotations

import re
from functools import lru_cache

from babel.core import get_global

DEFAULT = "en"
"""For browsers that ask for none of our languages, and for texts that a language lacks."""

_RANGE = re.compile(
    r"\s*([A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8}){0,5})\s*(?:;\s*q=([0-9.]{1,5}))?\s*", re.ASCII
)
_MOST_RANGES = 20


def choose(tags: tuple[str, ...], chosen: str | None, kept: str | None, accept: str | None) -> str:
    """Choose a language: clicked now, clicked before, or what the browser asks for."""
    if clicked := nearest(chosen, tags):
        return clicked
    if kept in tags:
        return kept
    best, best_q = DEFAULT, 0.0
    for text in (accept or "").split(",", _MOST_RANGES)[:_MOST_RANGES]:
        if match := _RANGE.fullmatch(text):
            tag, q = nearest(match[1], tags), _quality(match[2])
            if tag and q > best_q:
                best, best_q = tag, q
    return best


@lru_cache(1_024)
def nearest(wanted: str | None, tags: tuple[str, ...]) -> str | None:
    """Return the best of some languages for a reader; None if none of them fits."""
    if not wanted:
        return None
    parts = wanted.lower().split("-")
    parts[0] = get_global("language_aliases").get(parts[0], parts[0])
    script, known = _script(parts), {tag.lower(): tag for tag in tags}
    for length in range(len(parts), 0, -1):
        tag = known.get("-".join(parts[:length]))
        if tag and _script(parts[:length]) == script:
            return tag
    kin = [tag for tag in tags if tag.lower().split("-")[0] == parts[0]]
    same_script = (tag for tag in kin if _script(tag.lower().split("-")) == script)
    return next(same_script, kin[0] if kin else None)


def _script(parts: list[str]) -> str:
    """Return the script of a tag; if it names none, the usual one of its language and region."""
    language, *rest = parts
    for part in rest:
        if len(part) == 4 and part.isalpha():
            return part.title()
    likely = get_global("likely_subtags")
    regions = [f"{language}_{part.upper()}" for part in rest]
    for name in (*regions, language):
        if name in likely:
            return str(likely[name]).split("_")[1]
    return ""


def _quality(text: str | None) -> float:
    try:
        return float(text) if text else 1.0
    except ValueError:
        return 0.0
