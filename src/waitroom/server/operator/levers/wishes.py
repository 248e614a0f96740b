"""What an operator asks for: the levers, and how their forms are read into a wish."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any
from zoneinfo import ZoneInfo

from waitroom import moments
from waitroom.errors import InvalidInput, InvalidPolicy
from waitroom.models import BeforeOpen, Mode, Policy
from waitroom.operations.rooms import FOR_ADMINS

_MOST_ADMITTED = 1_000_000
_NUMBER = re.compile(r"\d{1,12}(?:\.\d{1,3})?", re.ASCII)


class Lever(StrEnum):
    """What the page can do."""

    MODE = "mode"
    PACE = "pace"
    CAPACITY = "capacity"
    LIMIT = "limit"
    QUEUE = "queue"
    MESSAGE = "message"
    TEXTS = "texts"
    END = "end"
    EVENTS = "events"
    ADMIT = "admit"
    CALL = "call"
    KICK = "kick"
    REINSTATE = "reinstate"


NUMBERS = {
    Lever.PACE: ("batch", "every_s"),
    Lever.CAPACITY: ("capacity",),
    Lever.LIMIT: ("max_entries", "per_s"),
    Lever.QUEUE: ("queue_limit",),
}
"""The fields of levers that take numbers; an empty one means no limit."""

TEXTS = ("title", "ready", "event_date", "event_place", "footer", "ended_text")
"""Texts of the page; a policy may have another one for each language."""

LONG_TEXTS = frozenset({"message", "footer", "ended_text"})
"""Those that may have several lines."""

LINKS = tuple(sorted(FOR_ADMINS))
DRAFTS = ("delay", "part_sold_out", "technical", "goes_on", "thanks")
"""Ready messages; the texts `draft_…` are their names, `draft_…_text` their content."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What a form asked for; `inputs` are its fields, for the confirmation form."""

    lever: Lever
    changes: dict[str, Any] = field(default_factory=dict)
    inputs: dict[str, str] = field(default_factory=dict)
    count: int = 0
    force: bool = False
    ticket: str = ""
    ban: bool = False
    lift_ban: bool = False
    person: bool = False
    """Whether it came from that person's page, to which the operator then returns."""


def languages(policy: Policy) -> tuple[str, ...]:
    """Return the languages for which a room has its own texts."""
    return tuple(policy.texts or ())


def local_time(policy: Policy, name: str) -> str:
    """Return a moment of a policy as a form shows it: in the room's zone, to the minute."""
    moment = getattr(policy, name)
    if moment is None:
        return ""
    return f"{moment.astimezone(ZoneInfo(policy.time_zone or 'UTC')):%Y-%m-%dT%H:%M}"


def read(form: Mapping[str, str], policy: Policy) -> Wish:
    """Read what was filled in; `policy` is what the room has."""
    try:
        lever = Lever(form.get("do", ""))
    except ValueError:
        raise InvalidInput("do", f"must be one of {', '.join(Lever)}") from None
    if lever in _READERS:
        changes = _READERS[lever](form, policy)
        return Wish(lever, changes, {name: form[name] for name in _fields(lever, form)})
    force, ticket = form.get("force") == "1", form.get("ticket", "")[:64]
    inputs = {"force": "1"} if force else {}
    if lever is Lever.ADMIT:
        count = _count(form.get("count", ""))
        return Wish(lever, {}, {"count": str(count)} | inputs, count, force)
    inputs |= {"ticket": ticket} | ({"person": "1"} if form.get("person") == "1" else {})
    ban, lift_ban, person = (form.get(name) == "1" for name in ("ban", "lift_ban", "person"))
    return Wish(lever, {}, inputs, 1, force, ticket, ban, lift_ban, person)


def _fields(lever: Lever, form: Mapping[str, str]) -> list[str]:
    """Return the fields of a form that belong to a lever, those of languages included."""
    known = {*NUMBERS.get(lever, ()), *_MORE_FIELDS.get(lever, ())}
    return [name for name in form if name.partition(".")[0] in known]


def _count(text: str) -> int:
    text = text.replace(",", "").strip()
    if not text.isascii() or not text.isdecimal() or not 1 <= int(text[:9]) <= _MOST_ADMITTED:
        raise InvalidInput("count", f"takes a whole number from 1 to {_MOST_ADMITTED:,}")
    return int(text[:9])


def _numbers(*names: str) -> Callable[[Mapping[str, str], Policy], dict[str, Any]]:
    return lambda form, _: {name: _number(name, form.get(name, "")) for name in names}


def _number(name: str, text: str) -> float | None:
    text = text.strip().replace(",", "")
    if not text:
        return None
    if not _NUMBER.fullmatch(text):
        raise InvalidPolicy(name, f"{text!r:.40} is not a number; leave it empty for no limit")
    number = float(text)
    return int(number) if number == int(number) else number


def _mode(form: Mapping[str, str], _: Policy) -> dict[str, Any]:
    changes: dict[str, Any] = {"mode": form.get("mode", "").strip()}
    if "ends_at" in form:  # after the end no mode applies, so the end is removed
        changes["ends_at"] = None
    return changes


def _message(form: Mapping[str, str], policy: Policy) -> dict[str, Any]:
    if form.get("remove") == "1":
        return {"message": None}
    changes: dict[str, Any] = {"message": _text("message", form.get("message", ""))}
    if any(f"message.{language}" in form for language in languages(policy)):
        changes["texts"] = _local(form, policy, ("message",))
    return changes


def _texts(form: Mapping[str, str], policy: Policy) -> dict[str, Any]:
    given = {name: _text(name, form[name]) for name in (*TEXTS, *LINKS) if name in form}
    changes: dict[str, Any] = {
        name: text for name, text in given.items() if text != getattr(policy, name)
    }
    local = _local(form, policy, TEXTS)
    return changes if local == policy.texts else changes | {"texts": local}


def _end(form: Mapping[str, str], policy: Policy) -> dict[str, Any]:
    changes: dict[str, Any] = {"mode": Mode.ENDED.value}
    if form.get("when") == "at":
        if not form.get("ends_at", "").strip():
            raise InvalidPolicy("ends_at", "give the time at which it ends")
        changes = {"ends_at": _moment("ends_at", form, policy)}
    if "ended_text" in form:
        text = _text("ended_text", form["ended_text"])
        changes |= {} if text == policy.ended_text else {"ended_text": text}
    return changes


def _events(form: Mapping[str, str], policy: Policy) -> dict[str, Any]:
    changes = {
        name: _moment(name, form, policy)
        for name in ("opens_at", "ends_at")
        if form.get(name, "").strip() != local_time(policy, name)
    }
    if changes.get("opens_at", "") is None and policy.before_open is not BeforeOpen.WAIT:
        changes["before_open"] = BeforeOpen.WAIT.value
    return changes


def _moment(name: str, form: Mapping[str, str], policy: Policy) -> str | None:
    """Read a moment in the room's zone; one that names its own zone keeps it."""
    text = form.get(name, "").strip()
    if not text:
        return None
    return moments.written(moments.read(name, text, policy.time_zone or "UTC"))


def _text(name: str, text: str) -> str | None:
    lines = text.strip().splitlines()  # a form sends them with CR LF
    return ("\n" if name in LONG_TEXTS else " ").join(lines) or None


def _local(
    form: Mapping[str, str], policy: Policy, names: tuple[str, ...]
) -> dict[str, dict[str, str]] | None:
    """Return the texts by language, with those of the form replaced."""
    texts: dict[str, dict[str, str]] = {}
    for language, old in (policy.texts or {}).items():
        given = {
            name: _text(name, form[f"{name}.{language}"])
            for name in names
            if f"{name}.{language}" in form
        }
        texts[language] = {name: text for name, text in (old | given).items() if text}
    return {language: local for language, local in texts.items() if local} or None


_READERS: dict[Lever, Callable[[Mapping[str, str], Policy], dict[str, Any]]] = {
    **{lever: _numbers(*names) for lever, names in NUMBERS.items()},
    Lever.MODE: _mode,
    Lever.MESSAGE: _message,
    Lever.TEXTS: _texts,
    Lever.END: _end,
    Lever.EVENTS: _events,
}
_MORE_FIELDS: dict[Lever, tuple[str, ...]] = {
    Lever.MODE: ("mode", "ends_at"),
    Lever.MESSAGE: ("message", "remove"),
    Lever.TEXTS: (*TEXTS, *LINKS),
    Lever.END: ("when", "ends_at", "ended_text"),
    Lever.EVENTS: ("opens_at", "ends_at"),
}
