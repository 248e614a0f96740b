"""The texts of the pages in each language: the locale files, and the choice of a language."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType

LANGUAGES = ("en", "ko")
"""The first is the default for browsers that ask for none of them."""

_LOCALES = Path(__file__).parents[1] / "locales"
_TAG = re.compile(r"\s*([A-Za-z]{1,8}|\*)(?:-[A-Za-z0-9-]{1,40})?\s*(?:;\s*q=([0-9.]{1,5}))?\s*")
_MOST_TAGS = 20


@dataclass(frozen=True, slots=True)
class Text:
    """One language: `text("place", n=4)`."""

    lang: str
    words: Mapping[str, str]

    def __call__(self, key: str, **values: object) -> str:
        """Return a sentence with its values filled in; whole numbers get their separators."""
        shown = {name: f"{v:,}" if isinstance(v, int) else v for name, v in values.items()}
        return self.words[key].format_map(shown)

    @property
    def other(self) -> str:
        """The other language, to switch to."""
        return next(lang for lang in LANGUAGES if lang != self.lang)


@cache
def load_text(face: str, lang: str) -> Text:
    """Return the texts of a face (`waiting`, `operator`, `desk`) in one of our languages."""
    words: dict[str, str] = json.loads((_LOCALES / face / f"{lang}.json").read_text("utf-8"))
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
