"""The languages of the waiting page: one file each, and those that an operator adds.

A text that a file lacks comes from its base language (pt for pt-PT), then from English.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

from waitroom.errors import InvalidInput
from waitroom.server.pages.languages import DEFAULT, nearest
from waitroom.server.pages.locale_file import SETTING, LocaleFile, checked_file, read_file
from waitroom.server.pages.text import FOLDER, Text, cldr

Locales = Mapping[str, Text]
"""By tag, sorted by their own names, as a reader looks for them."""

SHIPPED = FOLDER / "waiting"


@cache
def load_locales(folder: Path | None) -> Locales:
    """Return every language of the waiting page; `folder` adds some, or changes single texts."""
    shipped = [read_file(path) for path in sorted(SHIPPED.glob("*.json"))]
    layers = {file.tag: [file] for file in shipped}
    english = layers[DEFAULT][0].words
    for path in _files_in(folder) if folder else ():
        file = checked_file(path, english)
        layers.setdefault(file.tag, []).append(file)
    base_tags = tuple(file.tag for file in shipped)
    texts = [_text(files, layers, base_tags) for files in layers.values() if _offered(files)]
    return MappingProxyType(
        {text.lang: text for text in sorted(texts, key=lambda text: text.name.casefold())}
    )


def _files_in(folder: Path) -> list[Path]:
    if not folder.is_dir():
        raise InvalidInput(SETTING, f"{folder} is not a folder; make it, with files like pt.json")
    return sorted(folder.glob("*.json"))


def _offered(files: list[LocaleFile]) -> bool:
    offered = _facts(files).get("offered", True)
    return bool(offered) or files[0].tag == DEFAULT  # English is always offered


def _facts(files: list[LocaleFile]) -> dict[str, object]:
    return {name: value for file in files for name, value in file.facts.items()}


def _text(
    files: list[LocaleFile], layers: Mapping[str, list[LocaleFile]], base_tags: tuple[str, ...]
) -> Text:
    """Merge the layers of a language: English, its base, what we ship, what was added."""
    tag, facts = files[0].tag, _facts(files)
    base = nearest(tag, base_tags) or DEFAULT
    below = [layers[name] for name in dict.fromkeys((DEFAULT, base)) if name != tag]
    words: dict[str, str | dict[str, str]] = {}
    for file in itertools.chain(*below, files):
        words |= file.words
    locale = cldr(tag)
    return Text(
        tag,
        MappingProxyType(words),
        name=str(facts.get("name") or locale.get_display_name() or tag),
        reviewed=bool(facts.get("reviewed", False)),
        rtl=facts.get("dir", locale.text_direction) == "rtl",
    )
