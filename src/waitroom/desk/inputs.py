"""What guests, hosts and admins enter at the desk, checked before anything is written. Pure."""

from __future__ import annotations

import base64
import re
import unicodedata
import zoneinfo
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, TypeVar
from urllib.parse import urlsplit

from waitroom.desk.models import OnSite, Source, Store, StoreMode, WaitingType
from waitroom.desk.phones import is_country, read_phone
from waitroom.errors import InvalidInput, UnknownType

STORE_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,29}", re.ASCII)
TYPE_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,19}", re.ASCII)
OP_ID = re.compile(r"[A-Za-z0-9._:-]{1,64}", re.ASCII)
CLOSES_AT = re.compile(r"([01][0-9]|2[0-3]):[0-5][0-9]", re.ASCII)
TICKET = re.compile(r"[!-~]{1,64}", re.ASCII)
MOST_TYPES = 20
MOST_WAITING = 10_000
LARGEST_PARTY = 100
MOST_JOINS_PER_HOUR = 10_000
MOST_PLACES = 10
"""How many parties one defer may let go first."""

_LONGEST_URL = 500
_Word = TypeVar("_Word", OnSite, Source, StoreMode)
# Marks that change the direction of text: they would also reverse the lines of other parties.
_TURNING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What a guest asks for."""

    size: int
    name: str | None = field(default=None, repr=False)
    phone: str | None = field(default=None, repr=False)
    note: str | None = field(default=None, repr=False)
    source: Source = Source.ON_SITE


def checked_wish(store: Store, line_name: str, wish: Wish) -> Wish:
    """Check a wish; return it as it is stored: trimmed, its phone in E.164 form."""
    line = store.waiting_type(line_name)
    if line is None:
        raise UnknownType(store.id, line_name)
    check_number("size", wish.size, 1, line.largest_party)
    note = " ".join(wish.note.split()) if isinstance(wish.note, str) else wish.note
    return Wish(
        size=wish.size,
        name=optional_text("name", wish.name, 40),
        phone=read_phone(wish.phone, store.country) if wish.phone else None,
        note=optional_text("note", note, 200),
        source=_member("source", Source, wish.source),
    )


def checked_store(store: Store) -> Store:
    """Check a store; return it as it is stored."""
    if not isinstance(store.id, str) or not STORE_ID.fullmatch(store.id):
        raise InvalidInput("id", "takes 1 to 30 small letters, digits and dashes, like 'han-river'")
    _check_zone(store.time_zone)
    _check_closing(store.closes_at)
    _check_flag("remote", store.remote)
    check_number("max_defers", store.max_defers, 0, 20)
    check_number("keep_phones_days", store.keep_phones_days, 0, 365)
    if store.joins_per_hour is not None:
        check_number("joins_per_hour", store.joins_per_hour, 1, MOST_JOINS_PER_HOUR)
    kept = replace(
        store,
        title=needed_text("title", store.title, 80),
        country=_country(store.country),
        mode=_member("mode", StoreMode, store.mode),
        on_site=_member("on_site", OnSite, store.on_site),
        reason=optional_text("reason", store.reason, 200),
        webhook_url=_url(store.webhook_url),
        webhook_secret=_secret(store.webhook_secret),
        types=_types(store.types),
    )
    if kept.webhook_url and not kept.webhook_secret:
        raise InvalidInput(
            "webhook_secret",
            "is needed with a webhook; make one: `echo whsec_$(openssl rand -base64 32)`",
        )
    return kept


def checked_type(waiting_type: WaitingType) -> WaitingType:
    """Check a line; return it as it is stored."""
    if not isinstance(waiting_type.name, str) or not TYPE_NAME.fullmatch(waiting_type.name):
        raise InvalidInput("type", "takes 1 to 20 small letters, digits and dashes, like 'dine-in'")
    check_number("largest_party", waiting_type.largest_party, 1, LARGEST_PARTY)
    if waiting_type.queue_limit is not None:
        check_number("queue_limit", waiting_type.queue_limit, 0, MOST_WAITING)
    return replace(waiting_type, title=needed_text("title", waiting_type.title, 80))


def check_number(name: str, value: Any, least: int, most: int) -> None:
    """Refuse anything but a whole number from `least` to `most`."""
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise InvalidInput(name, f"{value!r:.40} is not allowed; it takes {least} to {most}")


def check_op_id(op_id: str | None) -> None:
    """Refuse a request id that has the wrong form."""
    if op_id is not None and (not isinstance(op_id, str) or not OP_ID.fullmatch(op_id)):
        raise InvalidInput("op_id", "takes 1 to 64 letters, digits, '-', '_', '.' or ':'")


def needed_text(name: str, value: Any, most: int) -> str:
    """Return a text without surrounding blanks; it must not be empty."""
    text = optional_text(name, value, most)
    if text is None:
        raise InvalidInput(name, f"takes 1 to {most} printable characters")
    return text


def optional_text(name: str, value: Any, most: int) -> str | None:
    """Return a text without surrounding blanks, or None if nothing is left."""
    if value is None:
        return None
    if not isinstance(value, str):
        raise InvalidInput(name, "must be text")
    text = unicodedata.normalize("NFC", value).strip()
    if len(text) > most or any(_unprintable(char) for char in text):
        raise InvalidInput(name, f"takes up to {most} printable characters")
    return text or None


def _unprintable(char: str) -> bool:
    # Control characters, lone surrogates and line breaks; emoji of several parts stay whole.
    return unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp") or char in _TURNING


def _member(name: str, words: type[_Word], value: Any) -> _Word:
    try:
        return words(value)
    except ValueError:
        allowed = ", ".join(words)
        raise InvalidInput(name, f"{value!r:.40} is not one of {allowed}") from None


def _types(types: Any) -> tuple[WaitingType, ...]:
    checked = tuple(checked_type(waiting_type) for waiting_type in types)
    if not 1 <= len(checked) <= MOST_TYPES:
        raise InvalidInput("types", f"a store has 1 to {MOST_TYPES} lines")
    if len({waiting_type.name for waiting_type in checked}) < len(checked):
        raise InvalidInput("types", "two lines have the same name")
    return checked


def _check_flag(name: str, value: Any) -> None:
    if not isinstance(value, bool):
        raise InvalidInput(name, "must be true or false")


@cache
def _zones() -> frozenset[str]:
    return frozenset(zoneinfo.available_timezones())


def _check_zone(name: Any) -> None:
    if name not in _zones():
        raise InvalidInput("time_zone", f"{name!r:.60} is not known; take one like 'Asia/Seoul'")


def _country(value: Any) -> str:
    code = value.upper() if isinstance(value, str) else ""
    if not is_country(code):
        raise InvalidInput("country", f"{value!r:.40} is not known; take two letters like 'KR'")
    return code


def _check_closing(value: Any) -> None:
    if value is not None and (not isinstance(value, str) or not CLOSES_AT.fullmatch(value)):
        raise InvalidInput("closes_at", "takes a time of the day like '22:00', or none")


def _url(value: Any) -> str | None:
    text = optional_text("webhook_url", value, _LONGEST_URL)
    if text is None:
        return None
    try:
        parts = urlsplit(text)
        fine = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        fine = False
    if not fine or " " in text or not text.isascii():
        raise InvalidInput("webhook_url", "takes an address like https://example.com/hook")
    return text


def _secret(value: Any) -> str | None:
    text = optional_text("webhook_secret", value, 200)
    if text is not None and len(text) < 16:
        raise InvalidInput("webhook_secret", "takes 16 to 200 characters")
    if text is not None and text.startswith("whsec_"):
        try:
            base64.b64decode(text.removeprefix("whsec_"), validate=True)
        except ValueError:
            raise InvalidInput("webhook_secret", "takes base64 after whsec_") from None
    return text
