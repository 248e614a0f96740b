"""What an operator asks for: the levers, and the forms that are read into a wish."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from waitroom.errors import InvalidInput, InvalidPolicy

_MOST_ADMITTED = 1_000_000
_NUMBER = re.compile(r"\d{1,12}(?:\.\d{1,3})?", re.ASCII)


class Lever(StrEnum):
    """What the page can do."""

    MODE = "mode"
    PACE = "pace"
    CAPACITY = "capacity"
    MESSAGE = "message"
    ADMIT = "admit"
    CALL = "call"
    KICK = "kick"


FIELDS = {
    Lever.MODE: ("mode",),
    Lever.PACE: ("batch", "every_s"),
    Lever.CAPACITY: ("capacity",),
    Lever.MESSAGE: ("message",),
}
"""The fields of the policy that a lever changes."""

DRAFTS = ("delay", "part_sold_out", "technical", "goes_on", "thanks")
"""Messages to begin with; the texts `draft_…` name them, and `draft_…_text` is what they say."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What the form asked for."""

    lever: Lever
    changes: dict[str, Any]
    count: int = 0
    force: bool = False
    ticket: str = ""
    ban: bool = False

    @property
    def inputs(self) -> dict[str, str]:
        """The same as fields of the form that confirms it."""
        shown = {name: "" if v is None else str(v) for name, v in self.changes.items()}
        if self.lever is Lever.ADMIT:
            shown["count"] = str(self.count)
        if self.ticket:
            shown["ticket"] = self.ticket
        return shown | ({"force": "1"} if self.force else {})


def read(form: Mapping[str, str]) -> Wish:
    """Read what was filled in; an empty field means no limit."""
    try:
        lever = Lever(form.get("do", ""))
    except ValueError:
        raise InvalidInput("do", f"must be one of {', '.join(Lever)}") from None
    force = form.get("force") == "1"
    if form.get("remove") == "1" and lever is Lever.MESSAGE:
        return Wish(lever, {"message": None})
    if lever in FIELDS:
        changes = {name: _value(name, form.get(name, "")) for name in FIELDS[lever]}
        if lever is Lever.MODE and "ends_at" in form:  # no mode holds after it, so it goes
            changes["ends_at"] = None
        return Wish(lever, changes)
    if lever is Lever.ADMIT:
        text = form.get("count", "").replace(",", "").strip()
        if not text.isascii() or not text.isdecimal() or not 1 <= int(text[:9]) <= _MOST_ADMITTED:
            raise InvalidInput("count", f"takes a whole number from 1 to {_MOST_ADMITTED:,}")
        return Wish(lever, {}, int(text[:9]), force)
    return Wish(lever, {}, 1, force, form.get("ticket", "")[:64], form.get("ban") == "1")


def _value(name: str, text: str) -> Any:
    if name == "message":  # a form sends its lines with CR LF
        return "\n".join(text.strip().splitlines()) or None
    text = text.strip().replace(",", "")
    if name == "mode":
        return text
    if not text:
        return None
    if not _NUMBER.fullmatch(text):
        raise InvalidPolicy(name, f"{text!r:.40} is not a number; leave it empty for no limit")
    number = float(text)
    return int(number) if number == int(number) else number
