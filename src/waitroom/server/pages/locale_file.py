"""One locale file: read, and checked against English, so that no page lacks a text it needs.

An error names the file, the key and the remedy: its reader may never have seen our code.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

from babel.core import UnknownLocaleError

from waitroom.errors import InvalidInput
from waitroom.server.pages.text import PLACEHOLDER, Words, cldr

SETTING = "locales"
_META = "_meta"
_FACTS = {"name": str, "reviewed": bool, "dir": str, "offered": bool}
_CASES: dict[int, Callable[[str], str]] = {2: str.upper, 4: str.title}
"""How regions and scripts are written in a tag, by their length."""

_NUMBERS = (*range(1_001), 1_000_000, 2_000_000)
"""Numbers that people may see on the page, enough to tell all plural rules apart."""


@dataclass(frozen=True, slots=True)
class LocaleFile:
    """The content of a file; `facts` are about the language itself."""

    tag: str
    words: Words
    facts: Mapping[str, Any] = field(default_factory=dict)


def read_file(path: Path) -> LocaleFile:
    """Read one of our own files, which tests have checked."""
    words = read_words(path)
    facts = words.pop(_META, {})
    return LocaleFile(path.stem, words, facts)


def checked_file(path: Path, english: Words) -> LocaleFile:
    """Read a file and check it: every text has the placeholders of English and all its plurals."""
    _check_name(path)
    file = read_file(path)
    _check_facts(path, file.facts)
    for key, entry in file.words.items():
        _check(path, file.tag, key, entry, english)
    return file


def read_words(path: Path) -> dict[str, Any]:
    """Read a file as it is."""
    try:
        words = json.loads(path.read_text("utf-8"))
    except OSError as error:
        _refuse(path, f"cannot be read: {error.strerror}")
    except ValueError as error:
        _refuse(path, f"is not JSON in UTF-8 ({error})")
    if not isinstance(words, dict):
        _refuse(path, 'must be an object of keys and texts, like {"rejoin": "Join again"}')
    return words


@cache
def plural_categories(tag: str) -> dict[str, bool]:
    """Return the plural categories of a language, and whether each means one number only."""
    rule = cldr(tag).plural_form
    chosen = [rule(number) for number in _NUMBERS]
    return {name: chosen.count(name) == 1 for name in (*rule.tags, "other")}


def placeholders(text: str) -> set[str]:
    """Return the placeholders of a text."""
    return set(PLACEHOLDER.findall(text))


def wanted_placeholders(words: str | Mapping[str, str]) -> set[str]:
    """Return the placeholders of an entry, from all of its forms."""
    return placeholders(words if isinstance(words, str) else " ".join(words.values()))


def _check_name(path: Path) -> None:
    language, *rest = path.stem.split("-")
    tag = "-".join((language.lower(), *(_CASES.get(len(part), str.lower)(part) for part in rest)))
    try:
        cldr(tag)
    except (ValueError, UnknownLocaleError):
        _refuse(path, "is not named by a language that CLDR knows; name it like pt-PT.json")
    if tag != path.stem:
        _refuse(path, f"must be named {tag}.json")


def _check_facts(path: Path, facts: Any) -> None:
    if not isinstance(facts, dict):
        _refuse(path, f'`{_META}` must be an object, like {{"name": "Deutsch"}}')
    for name, value in facts.items():
        if name not in _FACTS:
            _refuse(path, f"`{_META}` has no `{name}`; there are {', '.join(_FACTS)}")
        if not isinstance(value, _FACTS[name]):
            kind = "true or false" if _FACTS[name] is bool else "text"
            _refuse(path, f"`{_META}.{name}` must be {kind}")
    if facts.get("dir", "ltr") not in ("ltr", "rtl"):
        _refuse(path, f"`{_META}.dir` must be ltr or rtl")


def _check(path: Path, tag: str, key: str, words: Any, english: Words) -> None:
    if key not in english:
        close = difflib.get_close_matches(key, english, 1)
        hint = f"did you mean `{close[0]}`?" if close else "the keys are those of en.json"
        _refuse(path, f"the waiting page has no text `{key}`; {hint}")
    wanted = wanted_placeholders(english[key])
    if isinstance(words, str):
        _check_text(path, f"`{key}`", words, wanted, frozenset())
        return
    if not isinstance(words, dict) or not all(isinstance(form, str) for form in words.values()):
        _refuse(path, f"`{key}` must be a text, or an object of plural forms")
    if "n" not in wanted:
        _refuse(path, f"`{key}` has no number {{n}} to choose a form by; write one text")
    categories = plural_categories(tag)
    _check_forms(path, key, set(words), set(categories))
    for category, form in words.items():
        optional = {"n"} if categories[category] else set[str]()
        _check_text(path, f"`{key}.{category}`", form, wanted, optional)


def _check_forms(path: Path, key: str, given: set[str], wanted: set[str]) -> None:
    if missing := wanted - given:
        _refuse(path, f"`{key}` lacks the plural form {_names(missing)}; add it")
    if unknown := given - wanted:
        _refuse(path, f"`{key}` has a plural form that this language lacks: {_names(unknown)}")


def _check_text(
    path: Path, where: str, text: str, wanted: set[str], optional: set[str] | frozenset[str]
) -> None:
    if not text.strip():
        _refuse(path, f"{where} is empty; leave the key out to fall back")
    if {"{", "}"} & set(PLACEHOLDER.sub("", text)):
        _refuse(path, f"{where} has a brace that is not part of a placeholder like {{n}}")
    given = placeholders(text)
    if missing := wanted - given - optional:
        _refuse(path, f"{where} lacks {_fields(missing)}; the page fills it in")
    if unknown := given - wanted:
        allowed = f"; there is {_fields(wanted)}" if wanted else "; it takes none"
        _refuse(path, f"{where} has the unknown placeholder {_fields(unknown)}{allowed}")


def _fields(names: set[str]) -> str:
    return ", ".join(f"{{{name}}}" for name in sorted(names))


def _names(names: set[str]) -> str:
    return ", ".join(sorted(names))


def _refuse(path: Path, why: str) -> NoReturn:
    raise InvalidInput(SETTING, f"{path}: {why}")
