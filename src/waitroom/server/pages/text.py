"""The texts of a page in one language: values, numbers and plurals filled in by CLDR's rules."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from babel import Locale
from babel.numbers import format_decimal

LANGUAGES = ("en", "ko")
"""The languages for operators and hosts; the waiting page has more, see `locales.py`."""

FOLDER = Path(__file__).parents[1] / "locales"
PLACEHOLDER = re.compile(r"\{(\w+)\}", re.ASCII)
Words = Mapping[str, str | dict[str, str]]
"""By key, a text, or one text for each plural category of the number `n`."""


@dataclass(frozen=True, slots=True)
class Text:
    """One language: `text("place", n=4)`."""

    lang: str
    words: Words
    name: str = ""
    """The language's own name."""

    reviewed: bool = True
    rtl: bool = False

    def __call__(self, key: str, **values: Any) -> str:
        """Return a sentence with its values filled in; whole numbers get their separators."""
        words = self.words[key]
        if not isinstance(words, str):
            words = words.get(cldr(self.lang).plural_form(values["n"])) or words["other"]
        return PLACEHOLDER.sub(lambda match: self._shown(values[match[1]]), words)

    def known(self, key: str, otherwise: str) -> str:
        """Return a text without values, or something else if there is none."""
        return self(key) if key in self.words else otherwise

    def number(self, number: int) -> str:
        """Return a number as the language writes it."""
        return format_decimal(number, locale=cldr(self.lang))

    def _shown(self, value: object) -> str:
        return self.number(value) if isinstance(value, int) else str(value)

    @property
    def other(self) -> str:
        """The other language for operators and hosts, to switch to."""
        return next(lang for lang in LANGUAGES if lang != self.lang)


@cache
def load_text(face: str, lang: str) -> Text:
    """Return the texts of a face (`operator`, `desk`) in one of its languages."""
    words: Words = json.loads((FOLDER / face / f"{lang}.json").read_text("utf-8"))
    return Text(lang, MappingProxyType(words))


@cache
def cldr(tag: str) -> Locale:
    """Return what CLDR knows of a language; `ValueError` or `UnknownLocaleError` if nothing."""
    return Locale.parse(tag, sep="-")
