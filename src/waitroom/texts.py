"""Texts that a policy puts on the pages: what is safe to print, to show and to link to. Pure."""

from __future__ import annotations

import base64
import binascii
import json
import re
import unicodedata
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from waitroom.errors import InvalidPolicy

_UNSEEN = {"Cc", "Cs", "Zl", "Zp"}
"""Control characters, surrogates, and line separators that HTML does not know."""

# RFC 3986: no blanks, quotes, or the backslash, which browsers read as a slash.
_URL = re.compile(r"[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=%-]+", re.ASCII)
_IMAGE = re.compile(r"data:image/(?:png|svg\+xml|jpeg|webp|gif);base64,(.+)", re.ASCII)
_COLOUR = re.compile(r"#[0-9A-Fa-f]{6}", re.ASCII)
# It stands unquoted in a style sheet: no bracket, quote or semicolon.
_FONT = re.compile(r"/(?!/)[A-Za-z0-9._~/%@+-]+(?:\?[A-Za-z0-9._~%=-]*)?", re.ASCII)
_CONTACT = re.compile(r"mailto:[A-Za-z0-9._+-]+@[A-Za-z0-9.-]+|tel:\+?[0-9][0-9().-]*", re.ASCII)
_LONG_TEXTS = {"message", "footer", "ended_text"}
"""Texts that may have several lines."""


LOCAL_TEXTS = ("title", "message", "ready", "event_date", "event_place", "footer", "ended_text")
"""Texts that a policy may give per language."""

_TAG = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z]{4})?(?:-(?:[A-Za-z]{2}|[0-9]{3}))?", re.ASCII)


def checked_text(name: str, value: Any, most: int) -> str:
    """Return a text that is safe to print and to put on a page."""
    if not isinstance(value, str):
        raise InvalidPolicy(name, f"{value!r:.40} is not text")
    if not value.strip():
        raise InvalidPolicy(name, "is empty; use none to have no such text")
    if len(value) > most:
        raise InvalidPolicy(name, f"has {len(value)} characters; shorten it to {most}")
    for character in value:
        newline = character == "\n" and name in _LONG_TEXTS
        if not newline and unicodedata.category(character) in _UNSEEN:
            lines = " or write it in one line" if character == "\n" else ""
            raise InvalidPolicy(
                name, f"has the control character {character!a}; leave it out{lines}"
            )
    check = _SHAPES.get(name)
    return check(name, value) if check else value


def checked_texts(value: Any, longest: Mapping[str, int], most: int) -> dict[str, dict[str, str]]:
    """Return texts by language and name, checked as the default ones; `most` bounds all together.

    An error names `texts.<language>.<name>`.
    """
    if not isinstance(value, Mapping):
        raise InvalidPolicy("texts", f"{value!r:.40} is not a table of languages")
    texts: dict[str, dict[str, str]] = {}
    for word, given in value.items():
        tag = _checked_tag(word)
        if not isinstance(given, Mapping) or not given or tag in texts:
            raise InvalidPolicy(f"texts.{tag}", "must be one table of texts, and not empty")
        texts[tag] = {
            name: _checked_local(tag, name, text, longest) for name, text in given.items()
        }
    if not texts:
        raise InvalidPolicy("texts", "is empty; use none to have no such texts")
    size = len(json.dumps(texts, ensure_ascii=False, separators=(",", ":")))
    if size > most:
        raise InvalidPolicy("texts", f"has {size} characters in all; shorten it to {most}")
    return texts


def _checked_tag(word: Any) -> str:
    if not isinstance(word, str) or not _TAG.fullmatch(word):
        raise InvalidPolicy("texts", f"{word!r:.40} is not a language; use one like ko or zh-Hant")
    language, *others = word.split("-")
    return "-".join([language.lower(), *(_subtag(part) for part in others)])


def _subtag(part: str) -> str:
    return part.title() if len(part) == 4 else part.upper()  # a script, or a region


def _checked_local(tag: str, name: Any, text: Any, longest: Mapping[str, int]) -> str:
    if name not in longest:
        known = ", ".join(longest)
        raise InvalidPolicy(f"texts.{tag}", f"{name!r:.40} has no languages; there are {known}")
    try:
        return checked_text(name, text, longest[name])
    except InvalidPolicy as error:
        why = str(error).removeprefix(f"{name}: ")
        raise InvalidPolicy(f"texts.{tag}.{name}", why) from None


def _is_path(value: str) -> bool:
    return value.startswith("/") and not value.startswith("//") and bool(_URL.fullmatch(value))


def _checked_picture(name: str, value: str) -> str:
    if _is_path(value):
        return value
    try:
        # Pages load nothing from other hosts, so a picture is on this host or inside the page.
        if (match := _IMAGE.fullmatch(value)) and base64.b64decode(match[1], validate=True):
            return value
    except binascii.Error:
        pass
    raise InvalidPolicy(
        name,
        f"{value!r:.40} cannot be shown; use a path on the same host like /static/logo.svg, or "
        "data:image/png;base64,… (also svg+xml, jpeg, webp, gif)",
    )


def _checked_colour(name: str, value: str) -> str:
    if not _COLOUR.fullmatch(value):
        raise InvalidPolicy(name, f"{value!r:.40} is not a colour; write #rrggbb, like #0a5bd3")
    return value.lower()


def _checked_go_to(name: str, value: str) -> str:
    if _is_path(value):
        return value
    try:
        parts = urlsplit(value if _URL.fullmatch(value) else "")
        good = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:  # invalid brackets or port
        good = False
    if not good or "@" in parts.netloc:
        raise InvalidPolicy(
            name,
            f"{value!r:.40} is not an address to go to; use https://… without a user, or a path "
            "like /checkout, with other characters as %XX",
        )
    return value


def _checked_time_zone(name: str, value: str) -> str:
    try:
        return ZoneInfo(value).key
    except (OSError, ValueError, KeyError):  # a folder, a path elsewhere, or no such name
        raise InvalidPolicy(name, f"{value!r:.64} is not known; use one like Asia/Seoul") from None


def _checked_font(name: str, value: str) -> str:
    if not _FONT.fullmatch(value):
        raise InvalidPolicy(
            name,
            f"{value!r:.40} cannot be loaded; use a path on the same host like /static/event.woff2",
        )
    return value


def _checked_help(name: str, value: str) -> str:
    if _CONTACT.fullmatch(value):
        return value
    try:
        return _checked_go_to(name, value)
    except InvalidPolicy:
        raise InvalidPolicy(
            name,
            f"{value!r:.40} is not an address for help; use https://…, a path like /help, "
            "mailto:help@example.com or tel:+82-2-123-4567",
        ) from None


_SHAPES: dict[str, Callable[[str, str], str]] = {
    "logo": _checked_picture,
    "picture": _checked_picture,
    "colour": _checked_colour,
    "background": _checked_colour,
    "font": _checked_font,
    "go_to": _checked_go_to,
    "ended_picture": _checked_picture,
    "ended_link": _checked_go_to,
    "time_zone": _checked_time_zone,
    "help_link": _checked_help,
}
